"""Models without training: they see train questions and answer others from these alone.

Such a model is a module of this package with ``COLUMNS``, the columns that it reads, and
``predict(train, test, seed) -> (answers, probabilities)``.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.tables import Schema

PREDICTIONS = Schema(
    "predictions",
    pa.schema(
        [
            ("run", pa.string()),
            ("question_id", pa.string()),
            ("answer", pa.string()),
            ("p", pa.float32()),  # probability that the model gives the answer
        ]
    ),
    key=("run", "question_id"),
)


def predict(
    model: str,
    run: str,
    dataset: Path,
    split: Path | None,
    train_parts: Sequence[str],
    parts: Sequence[str],
    out: Path,
    seed: int,
) -> dict[str, int]:
    """Write the predictions of ``model`` for the questions in ``parts``, from those in ``train_parts``.

    Parts are those of the split table ``split``, or the data set's own if it is None. Parts of questions to
    answer may be empty; without a train question there is nothing to predict from, and no prediction.
    """
    module = importlib.import_module(f"compvqa.models.{model}")
    train = _questions(dataset, split, train_parts, module.COLUMNS)
    test = _questions(dataset, split, parts, module.COLUMNS)
    if len(train) == 0:
        test = test.slice(0, 0)
    answers, p = module.predict(train, test, seed) if len(test) else ([], [])
    columns = [[run] * len(test), test["question_id"], answers, p]
    n = tables.write(out, PREDICTIONS, pa.table(columns, schema=PREDICTIONS.fields))
    return {"in": len(train), "out": n}


def _questions(dataset: Path, split: Path | None, parts: Sequence[str], columns: Sequence[str]) -> pa.Table:
    table = tables.read(dataset, columns=[*columns, "part"])
    wanted = pa.array(parts, pa.string())
    if split is None:
        return table.filter(pc.is_in(table["part"], wanted))
    rows = tables.read(split, columns=["part", "question_id"])
    chosen = rows.filter(pc.is_in(rows["part"], wanted))["question_id"]
    return table.filter(pc.is_in(table["question_id"], chosen.combine_chunks()))
