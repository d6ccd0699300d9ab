"""The LSTM in two phases: it is taught programs, then answers from those that it reads in questions."""

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.models import lstm_program
from compvqa.models.lstm_program import END, ModelSettings
from compvqa.models.task import Task
from compvqa.training.data import word_tokenizer
from fixtures.trainings import stopped, watched
from unit.models.asked import Asked, files_of, right

SIZE = ModelSettings(word_size=16, hidden_size=32, layers=1, classifier=(32,))


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return Asked(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="module")
def learnt(asked, tmp_path_factory):
    """The folder of a run that learnt, and its counts."""
    folder = tmp_path_factory.mktemp("learnt")
    return folder, asked.train("lstm_program", SIZE, folder, learning_rate=1e-2, most_steps=400)


def history(folder):
    return pq.read_table(folder / "history.parquet").to_pylist()


def test_programs_are_learnt_first_and_then_answers(asked, learnt):
    folder, counts = learnt
    rows = history(folder)
    assert [(row["phase"], row["step"]) for row in rows] == [
        ("answer", 100), ("answer", 200), ("program", 100), ("program", 200),
    ]  # fmt: skip
    assert rows[-1]["eval_accuracy"] > 0.8 and counts["held-out accuracy, per mille"] > 800
    answers = asked.answers(folder)
    assert right(answers) > 0.8
    assert sorted(path.name for path in folder.iterdir()) == [
        "history.parquet", "model.json", "model.safetensors", "predictions.parquet",
    ]  # fmt: skip


def test_no_program_is_read_to_answer(asked, learnt, tmp_path):
    folder, _ = learnt
    whole = asked.answers(folder)
    rows = tables.read(asked.folder / "questions.parquet").to_pylist()
    bare = Asked(tmp_path)
    tables.write(tmp_path / "questions.parquet", DATASET, [row | {"program": "[]"} for row in rows])
    assert bare.answers(folder) == whole


def test_a_run_stopped_in_its_second_phase_goes_on_there_to_the_same_bytes(asked, tmp_path):
    asked.train("lstm_program", SIZE, tmp_path / "whole", most_steps=20)
    with stopped(7, phase=2) as begun:
        asked.train("lstm_program", SIZE, tmp_path / "cut", most_steps=20)
    with watched() as left:
        asked.train("lstm_program", SIZE, tmp_path / "cut", most_steps=20)
    assert begun == [lstm_program.Taught, lstm_program.LstmProgram] and left == [lstm_program.LstmProgram]
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")


def test_answers_come_from_the_program_that_is_read(learnt):
    """With other weights in the generator, and the same ones elsewhere, scores differ."""
    torch.manual_seed(0)
    task = Task(word_tokenizer(["is it red ?"]), ["no", "yes"], survey={"operators": ["Find", "Is"]})
    net = lstm_program.build(SIZE, task).eval()
    ids = torch.tensor([[2, 7, 8, 3], [2, 8, 3, 0]])
    mask = (ids > 0).long()
    before = net(ids, mask)["logits"]
    told = net.generator.told(ids, mask)
    with torch.no_grad():
        net.generator.next.bias.zero_()
        net.generator.next.weight.zero_()
        net.generator.next.bias[3 if told[0, 0] == 2 else 2] = 1.0
    assert not torch.allclose(net(ids, mask)["logits"], before)
    assert net.generator.told(ids, mask).shape == (2, SIZE.longest_program)  # it never ends
    with torch.no_grad():
        net.generator.next.bias[END] = 2.0
    assert net.generator.told(ids, mask).tolist() == [[END], [END]] and net(ids, mask)["logits"].isfinite().all()


def test_the_generator_drops_nothing_out_while_answers_are_learnt():
    task = Task(word_tokenizer(["is it red ?"]), ["no", "yes"], survey={"operators": ["Find"]})
    net = lstm_program.build(SIZE.model_copy(update={"dropout": 0.5}), task).train()
    assert net.classifier.training and not net.generator.training
    assert lstm_program.Taught(net.generator).train().generator.training


def test_a_program_is_right_as_a_whole_and_padding_does_not_count():
    wanted = np.array([[2, 3, 0], [2, 0, -100], [2, 3, 0]])
    told = np.array([[2, 3, 0], [2, 0, 5], [2, 2, 0]])
    assert lstm_program.right(told, wanted).tolist() == [True, True, False]
