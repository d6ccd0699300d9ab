"""Shares of judged questions, with their intervals, as cells of a table."""

from __future__ import annotations

import pandas as pd

from compvqa.covr.filters.floors import share_of
from compvqa.paper.render import Cell, Printed

DOUBT = (
    "In brackets: our interval (Wilson's), for so many independent questions as tell as much as these, of which those "
    "that start from one scene are alike; and of how many questions, where no column says so."
)


def invalid_of(judged: pd.DataFrame, told: bool = False, paper: Printed = None) -> Cell:
    """The share of questions that are not ``valid`` in percent, with its interval, where those of one ``start_scene``
    are alike; their number too if it is not ``told`` elsewhere. Empty of no question.

    The paper's value is of other data, as nobody knows the truth of real pictures: no colour compares with it.
    """
    found = share_of(~judged["valid"].to_numpy(bool), judged["start_scene"].to_numpy())
    if found.value is None or found.low is None or found.high is None:
        return Cell(paper=paper)
    n = None if told else len(judged)
    between = (100 * found.low, 100 * found.high)
    return Cell(100 * found.value, paper=paper, interval=between, n=n, comparable=False)
