"""Accuracy by the values of facets, a column a model: the analyses of CLEVR's paper, or of any other."""

from __future__ import annotations

from compvqa.paper.data import Inputs
from compvqa.paper.panels import TREND, Point, Told, above_of, columns_of, panels, points, trend
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import beside


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a value, panel by panel; of numbers, a last one of how much accuracy changes from each to the next."""
    told, shown = Told.of(inputs, reference), columns_of(reference)
    rows: list[Row] = []
    for panel in panels(reference):
        found = list(points(panel, reference, told))
        made = [_row(point, told) for point in found]
        if panel.number_after is not None:
            cells = (_trend(found, column) for column in shown)
            made.append(Row(panel.place(TREND), (Cell(form="none"), *cells)))
        rows += [Row(row.label, row.cells, rule_above=bool(rows) and number == 0) for number, row in enumerate(made)]
    there = [any(row.cells[number].value is not None for row in rows) for number in range(1, len(shown) + 1)]
    lost = [column for column, has in zip(shown, there, strict=True) if not has]
    notes = ["Accuracy in percent, with more seeds than one mean ± deviation."]
    if above := above_of(reference):
        notes = [
            f"Points by which accuracy is above that of {above} on the same questions; intervals draw both at once."
        ]
    notes += [f"Not run here: {', '.join(lost)}."] if lost else []
    notes += [fact.text for fact in reference.facts.values() if not fact.of]
    columns = ("Questions", *shown)
    return Table(reference.title, reference.citation, "Of", columns, tuple(rows), (*notes, *reference.notes))


def _row(point: Point, told: Told) -> Row:
    cells = [beside(score, told.paper(point.place, column), told.reference) for column, score in point.scores.items()]
    return Row(point.place, (Cell(point.questions, form="count"), *cells))


def _trend(found: list[Point], column: str) -> Cell:
    told = [(point.number, score) for point in found if point.number is not None and (score := point.scores[column])]
    slope = trend(told)
    return Cell() if slope is None else Cell(slope[0], interval=slope[1])
