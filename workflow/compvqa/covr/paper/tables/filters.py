"""Invalid questions by cause, with and without each filter."""

from __future__ import annotations

from compvqa.covr.judging.filters import INVALID, QUESTIONS, cause_of
from compvqa.covr.judging.validity import CAUSES
from compvqa.covr.paper.filters import Measures, arm_name
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a chain, first of all templates (their mean) and then of each; the causes are shares of what is judged."""
    found = Measures(one(inputs, "filters"))
    arms = found.arms(QUESTIONS)
    columns = ("Judged", "Invalid (%)", *(f"{cause.capitalize()} (%)" for cause in CAUSES), "Of no filter's (%)")
    blank = (Cell(form="none"),) * len(columns)
    rows: list[Row] = []
    for template in ("", *found.groups(QUESTIONS)):
        rows.append(Row(template or "mean of all templates", blank, rule_above=bool(rows)))
        before = found.interval(QUESTIONS, arms[0], template, INVALID) if arms else None
        for arm in arms:
            key = (QUESTIONS, arm, template)
            left = found.interval(*key, INVALID)
            share = 100 * left[0] / before[0] if left and before and before[0] else None
            cells = [Cell(found.n(*key, INVALID), form="count"), found.cell(*key, INVALID)]
            cells += [found.cell(*key, cause_of(INVALID, cause)) for cause in CAUSES]
            rows.append(Row(arm_name(arm), (*cells, Cell(share)), minor=True))
    return Table(
        reference.title, reference.citation, "Questions by template and filters", columns, tuple(rows), reference.notes
    )
