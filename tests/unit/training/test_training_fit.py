"""Training: learns, gives equal bytes again, and goes on where it was stopped."""

import os
import random
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
import torch

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.store import ImageRegions, RegionStore, write
from compvqa.models import cnn_lstm_sa
from compvqa.models.multi_image import MultiImageModel
from compvqa.models.visualbert import Backbone, ModelSettings
from compvqa.training import fit as fitting
from compvqa.training import randomness
from compvqa.training.data import collate, examples, word_tokenizer
from compvqa.training.device import set_deterministic
from compvqa.training.fit import OptimisationSettings, fit, prepare
from compvqa.training.history import HISTORY
from fixtures.trainings import stopped

MODEL = ModelSettings(hidden_size=16, layers=1, heads=2, image_layers=1)
SETTINGS = OptimisationSettings(most_steps=12, batch_size=8, evaluations=3, patience=0)


@pytest.fixture
def data(tmp_path):
    draw = np.random.default_rng(0)
    images = [
        ImageRegions(f"s:{n}", np.ones((2, 4), np.float32), (9.0, 9.0), draw.normal(size=(2, 4))) for n in range(9)
    ]
    write(tmp_path / "r.parquet", tmp_path / "f.safetensors", images, 4, 18)
    texts = ["is it red ?" if n % 2 else "is it blue ?" for n in range(32)]
    store = RegionStore(tmp_path / "r.parquet", tmp_path / "f.safetensors")
    shown = [[f"s:{n % 9}", f"s:{(n + 1) % 9}"] for n in range(32)]
    tokenizer = word_tokenizer(texts)
    return examples(texts, shown, [n % 2 for n in range(32)], tokenizer, store, 64), tokenizer.get_vocab_size()


def run(data, out, settings=SETTINGS):
    asked, words = data
    seed = prepare(settings, 0, "test")
    made = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2)
    done = fit(made, asked, asked, out, settings, seed, "test", ["test"], collate=collate)
    return done, (out / "model.safetensors").read_bytes(), (out / "history.parquet").read_bytes()


def test_equal_runs_give_equal_bytes(data, tmp_path):
    assert run(data, tmp_path / "a")[1:] == run(data, tmp_path / "b")[1:]


def test_words_alone_are_learnt(data, tmp_path):
    done = run(
        data, tmp_path / "a", SETTINGS.model_copy(update={"most_steps": 200, "epochs": 60, "learning_rate": 3e-3})
    )
    assert done[0]["accuracy"] == 1.0


@pytest.mark.parametrize(("steps", "step", "kept"), [(12, 9, 8), (10, 10, 9)])  # at the end of a pass, and within one
def test_a_stopped_run_goes_on_to_the_same_bytes(data, tmp_path, steps, step, kept):
    settings = SETTINGS.model_copy(update={"most_steps": steps})
    whole = run(data, tmp_path / "whole", settings)
    with stopped(step):
        run(data, tmp_path / "cut", settings)
    (folder,) = (tmp_path / "cut").glob("checkpoints-*")
    assert torch.load(folder / "last.pt")["state"]["step"] == kept
    assert run(data, tmp_path / "cut", settings)[1:] == whole[1:]
    assert not folder.exists()


def test_what_was_drawn_at_random_goes_on_as_well():
    randomness.seed(3)
    drawn = [(random.random(), np.random.rand(), float(torch.rand(1))) for _ in range(2)]
    randomness.seed(3)
    assert (random.random(), np.random.rand(), float(torch.rand(1))) == drawn[0]
    state = randomness.state()
    random.random(), np.random.rand(), torch.rand(1), random.gauss(0, 1), np.random.randn()
    randomness.restore(state)
    assert (random.random(), np.random.rand(), float(torch.rand(1))) == drawn[1]


def test_a_checkpoint_that_was_cut_off_is_told_and_the_run_begins_anew(data, tmp_path, capsys):
    whole = run(data, tmp_path / "whole")
    with stopped(9):
        run(data, tmp_path / "cut")
    (kept,) = (tmp_path / "cut").glob("checkpoints-*/last.pt")
    kept.write_bytes(kept.read_bytes()[:1000])
    assert run(data, tmp_path / "cut")[1:] == whole[1:]
    assert f"{kept} can't be read" in capsys.readouterr().err


def test_where_no_example_is_held_out_the_last_weights_are_kept(data, tmp_path):
    asked, words = data
    weights = []
    for keep in ("best", "last"):
        settings = SETTINGS.model_copy(update={"keep": keep, "patience": 1})
        seed = prepare(settings, 0, "test")
        made = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2)
        none = torch.utils.data.Subset(asked, [])
        done = fit(made, asked, none, tmp_path / keep, settings, seed, "test", ["test"], collate=collate)
        assert done["steps"] == SETTINGS.most_steps
        weights.append((tmp_path / keep / "model.safetensors").read_bytes())
        history = tables.read(tmp_path / keep / "history.parquet", HISTORY).to_pylist()
        assert [row["eval_accuracy"] for row in history] == [None] * 3 and all(row["loss"] > 0 for row in history)
    assert weights[0] == weights[1]


def test_threads_come_from_the_settings():
    prepare(SETTINGS.model_copy(update={"threads": 2}), 0, "test")
    assert torch.get_num_threads() == 2
    prepare(SETTINGS, 0, "test")
    assert torch.get_num_threads() == 1


def test_pretrained_layers_have_a_rate_of_their_own(data):
    _, words = data
    made = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2)
    settings = SETTINGS.model_copy(update={"learning_rate": 1e-2, "pretrained_rate": 0.1})
    known, new = fitting._optimizer(made, settings, ("classifier.",)).param_groups
    assert {value.data_ptr() for value in new["params"]} == {p.data_ptr() for p in made.classifier.parameters()}
    assert len(known["params"]) + len(new["params"]) == len(list(made.parameters()))
    assert (known["lr"], new["lr"]) == (pytest.approx(1e-3), pytest.approx(1e-2))
    assert not fitting._optimizer(made, settings, ("",)).param_groups[0]["params"]


def test_what_is_named_does_not_decay(data):
    _, words = data
    made = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2)
    named = {"undecayed": ("bias", "LayerNorm.weight"), "weight_decay": 0.1, "learning_rate": 0.5, "epsilon": 1e-6}
    optimizer = fitting._optimizer(made, SETTINGS.model_copy(update=named), ("classifier.",))
    assert len(optimizer.param_groups) == 4 and {group["eps"] for group in optimizer.param_groups} == {1e-6}
    before = {name: value.detach().clone() for name, value in made.named_parameters()}
    for value in made.parameters():
        value.grad = torch.zeros_like(value)
    optimizer.step()
    for name, value in made.named_parameters():
        spared = name.endswith("bias") or "LayerNorm" in name
        assert torch.allclose(value, before[name] * (1 if spared else 0.95)), name
    assert {"cls", "over_images.layer.0.output.LayerNorm.weight"} <= before.keys()


def test_each_number_of_a_gradient_is_cut_while_a_run_lasts(data, tmp_path):
    weight = torch.nn.Linear(3, 1)
    hooks = fitting._clipped(weight, 0.5)
    weight(torch.tensor([0.1, -2.0, 7.0])).backward()
    assert weight.weight.grad.tolist() == [[pytest.approx(0.1), -0.5, 0.5]] and weight.bias.grad.tolist() == [0.5]
    assert len(hooks) == 2 and not fitting._clipped(weight, 0)
    cut = SETTINGS.model_copy(update={"clip": 0.0, "clip_each": 1e-12, "epsilon": 1.0})  # nothing is left to learn
    free = cut.model_copy(update={"clip_each": 0.0})
    first, tight, loose = (run(data, tmp_path / name, of)[1] for name, of in zip("abc", (cut, cut, free), strict=True))
    assert first == tight != loose


def test_examples_are_drawn_anew_for_each_pass_or_kept_in_their_order(data, tmp_path):
    asked, words = data
    for order, alike in (("kept", True), ("drawn", False)):
        settings = OptimisationSettings(epochs=2, batch_size=8, evaluations=1, patience=0, order=order)
        seed = prepare(settings, 0, "test")
        made, seen = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2), []

        def watched(items, made=made, seen=seen):
            if made.training:
                seen.extend(item["label"] for item in items)
            return collate(items)

        fit(made, asked, asked, tmp_path / order, settings, seed, "test", ["test"], collate=watched)
        assert len(seen) == 2 * len(asked) and (seen == 2 * list(asked.labels)) is alike


@pytest.mark.parametrize("cut", [False, True])
def test_questions_that_share_pictures_learn_as_many_and_go_on_to_the_same_bytes(data, tmp_path, cut):
    asked, words = data
    single = replace(asked, images=[[f"s:{n % 5}"] for n in range(len(asked))])
    settings = SETTINGS.model_copy(update={"order": "pictures", "evaluations": 4})  # the second in the middle of a pass
    size, seen = cnn_lstm_sa.ModelSettings(word_size=4, hidden_size=6, attention_size=5), []

    def watched(items):
        seen.extend(item["picture"] for item in items)
        return collate(items)

    def run(out):
        seed, made = prepare(settings, 0, "test"), cnn_lstm_sa.CnnLstmSa(size, words, 4, 2)
        fit(made, single, torch.utils.data.Subset(single, []), out, settings, seed, "test", ["test"], collate=watched)
        return (out / "model.safetensors").read_bytes()

    whole = run(tmp_path / "whole")
    passes = [[picture for picture, _ in groupby(seen[start : start + 32])] for start in range(0, 12 * 8, 32)]
    assert len(seen) == 12 * 8 and all(sorted(pictures) == list(range(5)) for pictures in passes)
    assert len(set(map(tuple, passes))) > 1  # drawn anew
    if cut:
        with stopped(8):
            run(tmp_path / "cut")
    assert run(tmp_path / "cut") == whole
    with pytest.raises(InputError, match="forward takes picture_of"):
        several = MultiImageModel(Backbone(MODEL, words, 4), MODEL, 2)
        fit(several, asked, asked, tmp_path / "c", settings, 1, "test", ["test"], collate=collate)


@pytest.mark.parametrize("deterministic", [True, False])
def test_determinism_is_a_setting_for_gpus_alone_and_never_blocks_launches(data, tmp_path, monkeypatch, deterministic):
    for name in ("CUDA_LAUNCH_BLOCKING", "CUBLAS_WORKSPACE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    settings = SETTINGS.model_copy(update={"deterministic": deterministic})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    run(data, tmp_path / "cpu", settings)
    assert torch.are_deterministic_algorithms_enabled() and "CUDA_LAUNCH_BLOCKING" not in os.environ
    assert (tmp_path / "cpu/model.safetensors").read_bytes() == run(data, tmp_path / "usual")[1]
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    try:
        set_deterministic(deterministic)
        assert torch.are_deterministic_algorithms_enabled() == deterministic == torch.backends.cudnn.deterministic
        assert ("CUBLAS_WORKSPACE_CONFIG" in os.environ) == deterministic
    finally:
        set_deterministic()


class Mine(torch.nn.Module):
    """A net of the user's own that gives ``gives`` of each batch."""

    def __init__(self, gives):
        super().__init__()
        self.gives, self.weight = gives, torch.nn.Parameter(torch.zeros(2))

    def forward(self, labels, **_):
        """Scores, and the loss, unless it was forgotten."""
        scores = self.weight.expand(len(labels), 2)
        return self.gives(scores, labels)


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        (
            lambda scores, labels: {"logits": scores},
            "gave a dictionary of logits: have it give a dictionary with loss and",
        ),
        (lambda scores, labels: {"loss": scores.sum()}, "gave a dictionary of loss: have it give"),
        (lambda scores, labels: scores, "gave a Tensor: have it give a dictionary with loss and logits"),
    ],
)
def test_a_net_that_gives_no_loss_or_no_scores_is_named(data, tmp_path, gives, told):
    asked, _ = data
    with pytest.raises(InputError, match=rf"forward of .*test_training_fit\.Mine {told}"):
        fit(Mine(gives), asked, asked, tmp_path, SETTINGS, 1, "test", ["test"], collate=collate)


def test_an_error_of_a_net_of_the_user_stays_as_it_is(data, tmp_path):
    def wrong(scores, labels):
        raise ValueError("mine")

    asked, _ = data
    with pytest.raises(ValueError, match="^mine$"):
        fit(Mine(wrong), asked, asked, tmp_path, SETTINGS, 1, "test", ["test"], collate=collate)
