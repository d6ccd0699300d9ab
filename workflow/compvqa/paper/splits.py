"""The splits of ours as tables and figures show them: their titles and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from compvqa.files import read_yaml
from compvqa.paper.data import Inputs, many, plain

PART = "test_comp"


@dataclass(frozen=True)
class Split:
    """A split of ours: its name in tables, its title in the paper's words, its file and the sizes of its parts (none
    where it was not made)."""

    name: str
    title: str
    file: Path | None
    sizes: Mapping[str, int]

    @property
    def empty(self) -> str:
        """Why there is nothing to train or test on; empty if there is."""
        if not self.file:
            return "it was not made"
        if not self.sizes:
            return "no question of the data has its property"
        if not self.sizes.get(PART):
            return "no test question has its property"
        return "" if self.sizes.get("train") else "no training question is left"


def read_splits(inputs: Inputs, setup: str) -> list[Split]:
    """The splits defined for a setup (``few-shot``, ``zero-shot``), by name, with the sizes of those made."""
    made: dict[str, tuple[Path, dict[str, int]]] = {}
    with duckdb.connect() as db:
        for path in many(inputs, "splits"):
            sql = "select split_name, part, count(*) from read_parquet(?) group by all"
            parts = db.execute(sql, [str(path)]).fetchall()
            name = parts[0][0] if parts else path.stem
            made[plain(name)] = (path, {part: count for _, part, count in parts})
    found = []
    for path in _definitions(many(inputs, "definitions")):
        data = read_yaml(path)
        if data.get("setup") == setup:
            name = data.get("name", path.stem)
            found.append(Split(name, data.get("title", name), *made.get(plain(name), (None, {}))))
    return sorted(found, key=lambda split: split.name)


def _definitions(paths: Iterable[Path]) -> list[Path]:
    """The splits' files: those given, and those in the folders given."""
    return [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
