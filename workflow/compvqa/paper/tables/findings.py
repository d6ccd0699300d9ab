"""What the paper concludes from its numbers, and whether the same follows from ours."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from compvqa.errors import InputError
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.settings import Settings
from compvqa.sheets import meant

Place = tuple[str, str, str]
Lines = Mapping[tuple[str, str], Mapping[str, str]]  # of made tables, by table and row
VERDICTS = ("holds", "points that way", "points the other way", "does not hold")
MISSING = "not measured"


class Claim(Settings):
    """A number, or by how much it exceeds another one, is said to lie between two bounds."""

    of: Place = Field(description="table, row and column of the number")
    less: Place | None = Field(None, description="that of the other one; none: the number alone is meant")
    at_least: float = Field(float("-inf"), description="the lower bound, in the tables' unit")
    at_most: float = Field(float("inf"), description="the upper bound")
    form: Literal["percent", "score"] = Field("percent", description="how its numbers are written: 50.8 or 0.18")

    def verdict(self, value: float, low: float, high: float) -> str:
        """Whether ``value`` fits, and whether all from ``low`` to ``high`` does as well, or as little."""
        fits = self.at_least <= value <= self.at_most
        if fits:
            return VERDICTS[0] if self.at_least <= low and high <= self.at_most else VERDICTS[1]
        return VERDICTS[3] if high < self.at_least or low > self.at_most else VERDICTS[2]


@dataclass(frozen=True)
class Number:
    """A number of a made table: ours with its interval, and the paper's."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    paper: str | None = None
    asked: int = 0  # as of a cell

    @property
    def ours(self) -> tuple[float, float, float] | None:
        """Value, low and high; None where any is missing."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return self.value, self.low, self.high


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a claim of ``options.claims``, which are named like the facts that quote the paper.

    Its inputs are other tables of the paper as they were made (CSV), by name; one that is not shown may be missing.
    Of two numbers the interval of their difference is as wide as their intervals allow.
    """
    lines = _read(path for name in reference.inputs for path in inputs.get(name, ()))
    rows = []
    for name, fact in reference.facts.items():
        claim = _claim(reference, name)
        first = number(lines, claim.of)
        second = number(lines, claim.less) if claim.less else Number(0.0, 0.0, 0.0)
        numbers = [_cell(first, claim), _cell(second, claim) if claim.less else Cell(form="none")]
        words = [Cell(text, form="text") for text in (judged(claim, first, second), fact.quote)]
        rows.append(Row(fact.text, (*numbers, *words)))
    found = Counter(row.cells[2].value for row in rows)
    counts = ", ".join(f"{word}: {found[word]}" for word in (*VERDICTS, MISSING))
    notes = (f"Of {len(rows)} claims, {counts}.", *reference.notes)
    columns = ("First", "Second", "Here", "The paper's words")
    return Table(reference.title, reference.citation, "What is said", columns, tuple(rows), notes)


def _claim(reference: Reference, name: str) -> Claim:
    try:
        return Claim.model_validate(reference.options.get("claims", {}).get(name))
    except ValidationError as error:
        raise InputError(
            f"{reference.title}: options.claims has no right claim {name!r}: {error.errors()[0]['msg']}."
        ) from None


def judged(claim: Claim, first: Number, second: Number) -> str:
    """What our numbers say of a claim."""
    if first.ours is None or second.ours is None:
        return MISSING
    (a, a_low, a_high), (b, b_low, b_high) = first.ours, second.ours
    return claim.verdict(a - b, a_low - b_high, a_high - b_low)


def number(lines: Lines, place: Place) -> Number:
    """What stands in a place of the made tables; nothing where there is no such place."""
    table, row, column = place
    line = lines.get((table, row), {})
    ends = (line.get(name) for name in (column, f"{column} low", f"{column} high"))
    value, low, high = (float(end) if end else None for end in ends)
    asked = int(line.get(f"{column} asked before") or 0)
    return Number(value, low, high, line.get(f"{column} (paper)") or None, asked)


def _read(paths: Iterable[Path]) -> Lines:
    lines = {}
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                told = {meant(name): meant(cell) for name, cell in line.items()}
                lines[path.stem, next(iter(told.values()))] = told
    return lines


def _cell(found: Number, claim: Claim) -> Cell:
    return Cell(found.value, paper=found.paper, form=claim.form, asked=found.asked)
