"""Two processes on the processor train what one trains, to within rounding; the first writes, and errors come back."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from compvqa import tables
from compvqa.errors import InputError
from compvqa.training import processes
from compvqa.training.history import HISTORY
from unit.models.asked import train

TOLERANCE = 1e-5  # of a weight: the sums of a batch's gradients are added in another order


def differ(one: Path, other: Path) -> float:
    """By how much the weights of two runs differ, at most."""
    first, second = (load_file(run / "model.safetensors") for run in (one, other))
    assert first.keys() == second.keys()
    return max(float((value - second[name]).abs().max()) for name, value in first.items())


def test_two_processes_give_the_weights_of_one_phase_by_phase(tmp_path):
    shared, model = tmp_path / "two", "lstm_program"
    counts = train(tmp_path, tmp_path / "one", model)
    with tables.recipe("ab" * 12):
        assert processes.share(2, train, tmp_path, shared, model) == counts
    train(tmp_path, tmp_path / "smaller", model, 8)
    assert (
        differ(tmp_path / "one", shared) < TOLERANCE < 100 * TOLERANCE < differ(tmp_path / "one", tmp_path / "smaller")
    )
    rows, others = (tables.read(run / "history.parquet", HISTORY).to_pylist() for run in (tmp_path / "one", shared))
    assert [row["phase"] for row in others] == ["answer"] * 3 + ["program"] * 3
    assert [(row["phase"], row["step"], row["eval_accuracy"]) for row in rows] == [
        (row["phase"], row["step"], row["eval_accuracy"]) for row in others
    ]
    assert tables.recipe_of(shared / "history.parquet") == "ab" * 12
    assert sorted(path.name for path in shared.iterdir()) == ["history.parquet", "model.json", "model.safetensors"]
    assert (shared / "model.json").read_text().endswith((tmp_path / "one/model.json").read_text()[2:])


def test_passes_that_end_in_a_part_of_a_batch_take_as_many_steps(tmp_path):
    counts = train(tmp_path, tmp_path / "one", "lstm", 18, 2, 0)
    assert counts["in"] % 18 and counts["in"] % 2
    assert processes.share(2, train, tmp_path, tmp_path / "two", "lstm", 18, 2, 0)["steps"] == counts["steps"]


def test_what_a_process_refuses_is_refused_in_its_sentence(tmp_path):
    with pytest.raises(InputError, match="batch_size 15 can't be shared by 2 processes: make it a multiple of 2"):
        processes.share(2, train, tmp_path, tmp_path / "two", "lstm", 15)


def test_one_process_is_this_one_and_too_few_gpus_are_told(monkeypatch):
    here = []
    assert processes.share(1, lambda: here.append(processes.count()) or {"in": 1}) == {"in": 1}
    assert here == [1] and processes.is_first()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(InputError, match="2 processes are to share the training, but only 1 GPUs are visible"):
        processes.share(2, dict)
