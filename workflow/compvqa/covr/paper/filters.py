"""What the filters are worth, as tables and figures read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compvqa.covr.judging.filters import filters_of
from compvqa.paper.data import frame
from compvqa.paper.reference import Printed
from compvqa.paper.render import Cell

COLUMNS = ("of", "arm", "group", "measure", "n", "value", "low", "high")


def arm_name(arm: str) -> str:
    """A chain as a reader knows it, by its filters and their methods: "words (learned) and images (learned)"."""
    methods = dict(zip(("words", "images"), arm.split("-"), strict=True))
    return " and ".join(f"{of} ({methods[of]})" for of in filters_of(arm)) or "no filter"


def in_order(arms: set[str]) -> list[str]:
    """Chains by the number of their filters."""
    return sorted(arms, key=lambda arm: (len(filters_of(arm)), arm))


class Measures:
    """The table of measures; values are in percent."""

    def __init__(self, path: Path):
        rows = frame(path, COLUMNS).itertuples(index=False)
        self._rows: dict[tuple[str, ...], Any] = {(row.of, row.arm, row.group, row.measure): row for row in rows}

    def arms(self, of: str) -> list[str]:
        """The chains that have measures of something, by the number of their filters."""
        return in_order({key[1] for key in self._rows if key[0] == of})

    def groups(self, of: str) -> list[str]:
        """The templates or kinds that have measures; all of them together are not among these."""
        return sorted({key[2] for key in self._rows if key[0] == of and key[2]})

    def n(self, *key: str) -> int:
        """Of how many a measure (of, arm, group, measure) is a share; 0 where it is not known."""
        return int(self._rows[key].n) if key in self._rows else 0

    def interval(self, *key: str) -> tuple[float, float, float] | None:
        """A measure and the ends of its interval; None where it is not known."""
        if not self.n(*key):
            return None
        row = self._rows[key]
        return 100 * row.value, 100 * row.low, 100 * row.high

    def cell(self, *key: str, paper: Printed = None) -> Cell:
        """A measure with the distance of the farther end of its interval, which at 0 and 100 % is all on one side."""
        if (found := self.interval(*key)) is None:
            return Cell(paper=paper)
        value, low, high = found
        return Cell(value, max(value - low, high - value), paper=paper)
