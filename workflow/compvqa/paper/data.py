"""What the tables and figures read: columns of our tables as pandas frames."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from compvqa import tables
from compvqa.errors import InputError

Inputs = Mapping[str, Sequence[Path]]


def plain(label: str) -> str:
    """A label without case and punctuation: ``HAS-COUNT & HAS-ATTR`` and ``has_count-has_attr`` are one."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def one(inputs: Inputs, name: str) -> Path:
    """The one path of the input ``name``."""
    paths = many(inputs, name)
    if len(paths) != 1:
        raise InputError(f"the input {name} takes one path and got {len(paths)}: give --input {name}=PATH once.")
    return paths[0]


def many(inputs: Inputs, name: str) -> list[Path]:
    """The paths of the input ``name``, in the given order; missing is an error."""
    if name not in inputs:
        raise InputError(f"the input {name} is missing: give --input {name}=PATH.")
    return list(inputs[name])


def frame(path: Path, columns: Sequence[str], part: str | None = None) -> pd.DataFrame:
    """Columns of a table, of one part only where ``part`` is given."""
    wanted = [*columns, *(["part"] if part and "part" not in columns else [])]
    table = tables.read(path, columns=wanted)
    for column in wanted:
        if column not in table.column_names:
            raise InputError(f"{path} lacks the column {column}: it is not the table that this needs.")
    if part:
        table = table.filter(pc.equal(table["part"], part))
    return table.select(list(columns)).to_pandas()


def templates_in_order(names: Sequence[str], order: Sequence[str]) -> list[str]:
    """The distinct ``names``: those in ``order`` (up to case and punctuation), then the others sorted."""
    rank = {plain(name): number for number, name in enumerate(order)}
    return sorted(set(names), key=lambda name: (rank.get(plain(name), len(rank)), name))


def statistic(inputs: Inputs, name: str, part: str) -> dict[str, float]:
    """The values of a statistic on a part of the dataset, by item."""
    rows = frame(one(inputs, "statistics"), ["stat", "item", "value"], part)
    rows = rows[rows["stat"] == name]
    return dict(zip(rows["item"], rows["value"], strict=True))
