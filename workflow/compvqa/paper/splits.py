"""The splits of ours as tables and figures show them: their titles and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from compvqa import tables
from compvqa.files import read_yaml
from compvqa.paper.data import Inputs, many, plain
from compvqa.splits.setups import CHOOSE, FIT, TEST, iid
from compvqa.splits.splitters import KEPT

DEV, TESTED = iid.SETUP.of(CHOOSE), iid.SETUP.of(TEST)  # of the i.i.d. split


@dataclass(frozen=True)
class Part:
    """A part of a split that has questions, as the split's table tells it."""

    name: str
    role: str
    held_out: str
    questions: int


@dataclass(frozen=True)
class Split:
    """A split of ours: its name in tables, its title in the paper's words, its file and its parts that have questions
    (none where it was not made)."""

    name: str
    title: str
    file: Path | None
    parts: tuple[Part, ...]
    kept: int | None = None  # M, the questions with what is held out that train keeps, of a few-shot split

    @property
    def fitted(self) -> list[Part]:
        """What the split keeps to train on: parts that are told by what is held out; without such, all to fit on."""
        fitted = self.of(FIT)
        return [part for part in fitted if part.held_out] or (fitted if not self.holds_out else [])

    @property
    def tested(self) -> list[Part]:
        """The parts to test on."""
        return self.of(TEST)

    @property
    def holds_out(self) -> bool:
        """Whether any part is told by what is held out."""
        return any(part.held_out for part in self.parts)

    def of(self, role: str, *held_out: str) -> list[Part]:
        """The parts of a role, and of these values of ``held_out`` if any are named."""
        return [part for part in self.parts if part.role == role and (not held_out or part.held_out in held_out)]

    @property
    def empty(self) -> str:
        """Why there is nothing to train or test on; empty if there is."""
        if not self.file:
            return "it was not made"
        if not self.parts:
            return "no question of the data has its property"
        if not self.tested:
            return "no test question has its property"
        return "" if self.fitted else "no training question is left"


def read_splits(inputs: Inputs, setup: str) -> list[Split]:
    """The splits of the main chain that are defined for a setup (``few-shot``, ``zero-shot``), by name, with the parts
    of those made."""
    made: dict[str, tuple[Path, tuple[Part, ...], int | None]] = {}
    with duckdb.connect() as db:
        for path in many(inputs, "splits"):
            sql = "select split_name, part, role, held_out, count(*) from read_parquet(?) group by all order by all"
            parts = db.execute(sql, [str(path)]).fetchall()
            name = parts[0][0] if parts else path.stem
            kept = tables.metadata(path).get(KEPT)
            made[plain(name)] = (path, tuple(Part(*of) for _, *of in parts), int(kept) if kept else None)
    found = []
    for path in files_of(many(inputs, "definitions")):
        data = read_yaml(path)
        if data.get("setup") == setup and not data.get("chain"):
            name = data.get("name", path.stem)
            found.append(Split(name, data.get("title", name), *made.get(plain(name), (None, (), None))))
    return sorted(found, key=lambda split: split.name)


def setups_of(inputs: Inputs) -> set[str]:
    """The setups that splits are defined for."""
    found = (read_yaml(path).get("setup") for path in files_of(many(inputs, "definitions")))
    return {setup for setup in found if setup}


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The splits' files: those given, and those in the folders given."""
    return [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
