"""Questions whose answer lies in the order of their words, with programs, and no picture of anything."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.models import lstm, lstm_program
from compvqa.models.baseline import PREDICTIONS
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.tables import SCENES
from compvqa.seeds import stable_hash
from compvqa.settings import Settings
from compvqa.training import loop
from compvqa.training.prediction import predict

NAMES = ("red", "green", "blue", "small", "large", "round", "flat", "wooden", "old", "new", "thin", "wet")
STEPS = {"epochs": 999, "most_steps": 240, "batch_size": 16, "evaluations": 2, "patience": 0, "weight_decay": 0}


class Asked:
    """A folder with the tables of all questions "is x before y ?", answered by whether x is first by alphabet."""

    def __init__(self, folder: Path):
        self.folder = folder
        if (folder / "scenes.parquet").exists():
            return
        rows = [self._row(*pair) for pair in permutations(NAMES, 2)]
        tables.write(folder / "questions.parquet", DATASET, rows)
        scene = dict.fromkeys(SCENES.fields.names) | {"scene_id": "s:1", "image": "s:1"}
        pq.write_table(pa.Table.from_pylist([scene], schema=SCENES.fields), folder / "scenes.parquet")

    @staticmethod
    def _row(one: str, other: str) -> dict:
        """A question; its program has one operator where the answer is yes, and two others where it is no."""
        first = one < other
        rows = [Row("Find", (one, other))] if first else [Row("Filter", (one, other)), Row("Exists", (), (0,))]
        held_out = stable_hash("dev", one, other) % 4 == 0
        return dict.fromkeys(DATASET.fields.names) | {
            "question_id": f"{one} {other}",
            "text": f"is {one} before {other} ?",
            "answer": "yes" if first else "no",
            "scene_ids": ["s:1"],
            "part": "dev" if held_out else "train",
            "program": to_json(rows),
        }

    def train(self, model: str, size: Settings, out: Path, seed: int = 1, **steps: object) -> dict[str, int]:
        """Train a model that reads no regions: there are none."""
        files = [
            self.folder / "questions.parquet",
            None,
            ["train"],
            ["dev"],
            self.folder / "scenes.parquet",
            None,
            None,
        ]
        return loop.train(model, *files, None, out, size, loop.TrainingSettings(optimisation=STEPS | steps), seed)

    def answers(self, run: Path, **given: object) -> dict[str, str]:
        """What a trained model answers to the dev questions."""
        files = [self.folder / "questions.parquet", None, ["dev"], self.folder / "scenes.parquet", None, None]
        predict(run, "a.b.c.1", *files, run / "predictions.parquet", **given)
        table = tables.read(run / "predictions.parquet", PREDICTIONS)
        return dict(zip(table["question_id"].to_pylist(), table["answer"].to_pylist(), strict=True))


def right(answers: dict[str, str]) -> float:
    """The share of questions, by the names that they ask about, whose answer is right: half, for a constant answer or
    one that does not depend on the order of the words."""
    wanted = {name: "yes" if name == " ".join(sorted(name.split())) else "no" for name in answers}
    return sum(answers[name] == wanted[name] for name in answers) / len(answers)


def files_of(run: Path) -> dict[str, bytes]:
    """The bytes of what training leaves."""
    return {name: (run / name).read_bytes() for name in ("model.safetensors", "model.json", "history.parquet")}


def train(
    folder: Path, out: Path, model: str, batch_size: int = 16, epochs: int = 999, most_steps: int = 6
) -> dict[str, int]:
    """Train a very small model in ``folder``, where a process of its own can call it."""
    size = {"lstm": lstm, "lstm_program": lstm_program}[model].ModelSettings(
        word_size=8, hidden_size=8, layers=1, classifier=(8,)
    )
    steps = {"batch_size": batch_size, "epochs": epochs, "most_steps": most_steps, "learning_rate": 1e-2}
    return Asked(folder).train(model, size, out, **steps)
