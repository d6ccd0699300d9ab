"""The numbers of Figure 13: accuracy by M, and how much of it is gained where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results, Score, beside

Steps = Sequence[tuple[int, int | None]]


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row for each of ``options.splits``, a column for each M of its runs, and one for each of ``options.gains``.

    A gain is by how many points accuracy rises over the steps that it lists, pairs of two M; the second one may be
    null, for the largest that there is. The interval of a gain is as wide as those of its numbers allow.
    """
    results = Results.load(one(inputs, "scores"), reference.options)
    curves = {name: results.by_m(name, reference.options["part"]) for name in reference.options["splits"]}
    seen = sorted({m for curve in curves.values() for m in curve})
    gains: Mapping[str, Steps] = reference.options["gains"]
    rows = []
    for name, curve in curves.items():
        by_m = (beside(curve.get(m), None, reference) for m in seen)
        rows.append(Row(name, (*by_m, *(_gain(curve, steps, max(seen, default=0)) for steps in gains.values()))))
    columns = (*map(column_of, seen), *gains)
    return Table(reference.title, reference.citation, "Tested on", columns, tuple(rows), reference.notes)


def column_of(m: int) -> str:
    """What the column of the runs that saw M questions is called."""
    return f"M = {m:,}"


def _gain(curve: Mapping[int, Score], steps: Steps, largest: int) -> Cell:
    """What is gained over all steps; nothing where one of their ends was not run, or a step has no length."""
    ends = [(start, largest if end is None else end) for start, end in steps]
    if any(start >= end or start not in curve or end not in curve for start, end in ends):
        return Cell(form="points")
    before, after = ([curve[m] for m in side] for side in zip(*ends, strict=True))
    value = sum(score.mean for score in after) - sum(score.mean for score in before)
    low = sum(score.interval[0] for score in after) - sum(score.interval[1] for score in before)
    high = sum(score.interval[1] for score in after) - sum(score.interval[0] for score in before)
    both = [*before, *after]
    asked = max(score.asked for score in both)
    return Cell(value, form="points", interval=(low, high), n=min(score.questions for score in both), asked=asked)
