"""Shares with their intervals as cells of a table."""

from __future__ import annotations

from compvqa.covr.filters.floors import Measured
from compvqa.paper.render import Cell, Printed


def percent(told: Measured, n: int | None = None, paper: Printed = None) -> Cell:
    """A share in percent, with its interval, of ``n`` where the table does not say so elsewhere; empty where there is
    none."""
    if told.value is None or told.low is None or told.high is None:
        return Cell(paper=paper)
    return Cell(100 * told.value, paper=paper, interval=(100 * told.low, 100 * told.high), n=n)
