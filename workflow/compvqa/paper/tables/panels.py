"""Accuracy by the values of facets, a column a model: the analyses of CLEVR's paper, or of any other."""

from __future__ import annotations

from collections.abc import Mapping

from compvqa.paper.data import Inputs, one
from compvqa.paper.panels import TREND, Point, panels, points, trend
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results, beside


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a value, panel by panel; of numbers, a last one of how much accuracy changes from each to the next."""
    results = Results.load(one(inputs, "scores"), reference.options)
    rows: list[Row] = []
    for panel in panels(reference):
        found = list(points(panel, reference, results))
        made = [_row(point, reference) for point in found]
        if panel.number_after is not None:
            cells = (_trend(found, column) for column in reference.columns)
            made.append(Row(panel.place(TREND), (Cell(form="none"), *cells)))
        rows += [Row(row.label, row.cells, rule_above=bool(rows) and number == 0) for number, row in enumerate(made)]
    lost = [column for column in reference.columns if not any(_has(row, reference, column) for row in rows)]
    notes = ["Accuracy in percent, with more seeds than one mean ± deviation."]
    notes += [f"Not run here: {', '.join(lost)}."] if lost else []
    notes += [fact.text for fact in reference.facts.values() if not fact.of]
    columns = ("Questions", *reference.columns)
    return Table(reference.title, reference.citation, "Of", columns, tuple(rows), (*notes, *reference.notes))


def _row(point: Point, reference: Reference) -> Row:
    cells = [beside(score, reference.value(point.place, column), reference) for column, score in point.scores.items()]
    return Row(point.place, (Cell(point.questions, form="count"), *cells))


def _trend(found: list[Point], column: str) -> Cell:
    told = [(point.number, score) for point in found if point.number is not None and (score := point.scores[column])]
    slope = trend(told)
    return Cell() if slope is None else Cell(slope[0], interval=slope[1])


def _has(row: Row, reference: Reference, column: str) -> bool:
    cells: Mapping[str, Cell] = dict(zip(reference.columns, row.cells[1:], strict=True))
    return cells[column].value is not None
