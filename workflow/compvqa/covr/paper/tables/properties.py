"""Table 5: the properties that questions may have, with the number of ours that have them and an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from compvqa.covr.paper.examples import rank
from compvqa.covr.properties import COLUMNS as ASKED
from compvqa.covr.properties import PROPERTIES, Property, Question, named
from compvqa.covr.properties import questions as questions_of
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

COLUMNS = ("True of a question if …", "Questions", "Example")
NAMES = "LEXICAL"  # shown with the name that most questions have
_BATCH = 16_384


@dataclass
class Found:
    """The questions that have a property: how many, and of the best example its rank and text."""

    count: int = 0
    rank: tuple[int, int] | None = None
    text: str | None = None

    def add(self, rank: tuple[int, int], text: str) -> None:
        self.count += 1
        if self.rank is None or rank < self.rank:
            self.rank, self.text = rank, text


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a kind of property and below it one a value: all there are, or those that ``options.values`` names."""
    values = {kind.name: _values(kind, reference.options["values"]) for kind in PROPERTIES}
    wanted = [name for kind in PROPERTIES for name in ([kind.name] * kind.bare + values[kind.name])]
    found = count(one(inputs, "dataset"), wanted)
    lexical = [name for name in found if name.startswith(f"{NAMES}-")]
    values[NAMES] = sorted(lexical, key=lambda name: (-found[name].count, name))[:1]
    rows: list[Row] = []
    for kind in PROPERTIES:
        own = _counted(found[kind.name]) if kind.bare else (Cell(form="none"), Cell("", form="text"))
        label = kind.name if isinstance(kind.values, tuple) else kind.form()
        rows.append(Row(label, (_meaning(kind.meaning, kind.name, reference), *own), rule_above=bool(rows)))
        for name in values[kind.name]:
            rows.append(Row(name, (_meaning("", name, reference), *_counted(found[name])), minor=True))
    notes = ("All parts of the dataset are counted together.", *reference.notes)
    return Table(reference.title, reference.citation, "Property", COLUMNS, tuple(rows), notes, stacked=True)


def _values(kind: Property, shown: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of a property with its values."""
    values = kind.values if isinstance(kind.values, tuple) else shown.get(kind.name, ())
    return [f"{kind.name}-{value}" for value in values]


def _meaning(ours: str, name: str, reference: Reference) -> Cell:
    return Cell(ours, paper=reference.value(name, COLUMNS[0]), form="text")


def _counted(found: Found) -> tuple[Cell, Cell]:
    return Cell(found.count, form="count"), Cell(found.text, form="text")


def count(dataset: Path, names: Sequence[str]) -> dict[str, Found]:
    """The questions that have each of the named properties, and each name in them as ``LEXICAL-<name>``."""
    found = {name: Found() for name in names}
    predicates = {name: named(name) for name in names}
    for question_id, text, question in _questions(dataset):
        place = rank(text, question_id, "property")
        for name, holds in predicates.items():
            if holds(question):
                found[name].add(place, text)
        for name in question.names():
            found.setdefault(f"{NAMES}-{name}", Found()).add(place, text)
    return found


def _questions(dataset: Path) -> Iterator[tuple[str, str, Question]]:
    with pq.ParquetFile(dataset) as file:
        for batch in file.iter_batches(_BATCH, columns=["question_id", "text", *ASKED]):
            ids, texts = (batch[column].to_pylist() for column in ("question_id", "text"))
            yield from zip(ids, texts, questions_of(batch), strict=True)
