"""The course of a training run: one row a look at the held-out examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from compvqa import tables

HISTORY = tables.Schema(
    "history",
    pa.schema(
        [
            ("phase", pa.string()),  # of pretraining; "" where there is one alone
            ("step", pa.int64()),
            ("epoch", pa.float64()),
            ("learning_rate", pa.float64()),
            ("loss", pa.float64()),  # of train, the mean since the row before
            ("eval_loss", pa.float64()),  # null, as the next, where none is held out
            ("eval_accuracy", pa.float64()),
        ]
    ),
    key=("phase", "step"),
)


def write_history(path: Path, log: Iterable[Mapping]) -> None:
    """Write the ``log`` of a run to the table ``path``; no times, so that equal runs give equal bytes."""
    empty = {**dict.fromkeys(HISTORY.fields.names), "phase": ""}
    tables.write(path, HISTORY, ({**empty, **entry} for entry in log))


def gather_histories(path: Path, phases: Mapping[str, Path]) -> None:
    """Write the histories of several phases, by name, as one."""
    rows = [row | {"phase": phase} for phase, part in phases.items() for row in tables.read(part, HISTORY).to_pylist()]
    tables.write(path, HISTORY, rows)
