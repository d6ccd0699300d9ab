"""The question-only LSTM: learns what the order of words says, without an image; blind to padding; equal bytes."""

import pytest
import torch

from compvqa import tables
from compvqa.files import read_yaml
from compvqa.models import lstm
from compvqa.models.task import Task
from compvqa.training.data import word_tokenizer
from compvqa.training.history import HISTORY
from compvqa.training.settings import OptimisationSettings
from unit.models.asked import Asked, files_of, right

SIZE = lstm.ModelSettings(word_size=16, hidden_size=32, layers=1, classifier=(32,))


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return Asked(tmp_path_factory.mktemp("lstm"))


def net(**more):
    torch.manual_seed(0)
    settings = lstm.ModelSettings(**{"word_size": 8, "hidden_size": 8, **more})
    return lstm.build(settings, Task(word_tokenizer(["is it red ?"]), ["no", "yes", "1"])).eval()


def test_what_words_say_in_their_order_is_learnt_and_answered_without_regions(asked, tmp_path):
    counts = asked.train("lstm", SIZE, tmp_path, learning_rate=1e-2)
    answers = asked.answers(tmp_path)
    assert right(answers) > 0.8 and counts["held-out accuracy, per mille"] > 800


def test_equal_runs_give_equal_bytes_and_other_seeds_others(asked, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        asked.train("lstm", SIZE, tmp_path / name, seed, most_steps=4)
    a, b, c = (files_of(tmp_path / name) for name in "abc")
    assert a == b and a["model.safetensors"] != c["model.safetensors"]


@pytest.mark.parametrize("layers", [1, 2])
def test_padding_changes_nothing_and_the_order_of_words_does(layers):
    made = net(layers=layers)
    ids = torch.tensor([[2, 7, 8, 9, 3], [2, 9, 3, 0, 0]])
    whole = made(ids, (ids > 0).long())["logits"]
    assert whole.shape == (2, 3)
    assert torch.allclose(made(ids[1:, :3], torch.ones(1, 3).long())["logits"], whole[1:], atol=1e-6)
    turned = made(ids[:1, [0, 3, 2, 1, 4]], torch.ones(1, 5).long())["logits"]
    assert not torch.allclose(turned, whole[:1], atol=1e-4)


def test_it_brings_the_paper_s_adam_and_its_perceptron():
    made = net(classifier=(5, 6))
    found = lstm.optimizer(made, OptimisationSettings(learning_rate=5e-4, weight_decay=0.1))
    assert type(found) is torch.optim.Adam
    assert [group["lr"] for group in found.param_groups] == [5e-4] and found.param_groups[0]["weight_decay"] == 0.1
    assert len(found.param_groups[0]["params"]) == len(list(made.parameters()))
    shapes = [tuple(part.weight.shape) for part in made.classifier if isinstance(part, torch.nn.Linear)]
    assert shapes == [(5, 8), (6, 5), (3, 6)]


def test_a_rate_that_never_changes_can_be_had_as_the_file_of_the_paper_s_sizes_says(asked, tmp_path, root):
    rate = read_yaml(root / "config/models/lstm.yaml")["training"]["optimisation"]
    asked.train("lstm", SIZE, tmp_path, **rate | {"most_steps": 4, "evaluations": 2})
    rows = tables.read(tmp_path / "history.parquet", HISTORY).to_pylist()
    assert [row["learning_rate"] for row in rows] == [5e-4, 5e-4]
