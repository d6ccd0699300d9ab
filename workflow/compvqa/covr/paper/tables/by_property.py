"""Accuracy by property of the questions, on a part of the i.i.d. split."""

from __future__ import annotations

from compvqa.covr.properties import LISTED, PROPERTIES
from compvqa.evaluation.answers import IID
from compvqa.evaluation.facets import PROPERTY
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results, beside
from compvqa.paper.splits import TESTED


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a property, in Table 5's order, and below it one a value; numbers and groups are those of the questions.

    One that no question has, or that no run was asked about, says so.
    """
    part = reference.options.get("part", TESTED)
    results = Results.load(one(inputs, "scores"), reference.options)
    found = {column: results.by(PROPERTY, reference.shown(column), part) for column in reference.columns}
    asked = _asked(results, part)
    rows: list[Row] = []
    for kind in PROPERTIES:
        values = [name for name in LISTED if name.startswith(f"{kind.name}-")]
        values += sorted(name for name in asked if name.startswith(f"{kind.name}-") and name not in LISTED)
        for place, name in enumerate([kind.name] * (kind.name in LISTED) + values):
            scores = [of.get(name) for of in found.values()]
            cells = [Cell(asked.get(name, 0), form="count")]
            cells += [beside(score, None, reference) for score in scores]
            note = "" if any(scores) else ("not trained" if name in asked else "no questions")
            minor = kind.bare and name != kind.name
            rows.append(Row(name, tuple(cells), note, 1, rule_above=bool(rows) and not place, minor=minor))
    columns = (f"Questions ({part})", *reference.columns)
    notes = (f"Accuracy in percent on {part}; ours: mean ± deviation over seeds.", *reference.notes)
    return Table(reference.title, reference.citation, "Property", columns, tuple(rows), notes)


def _asked(results: Results, part: str) -> dict[str, int]:
    """How many questions of a part have each property, as far as any run was asked about them."""
    rows = results.rows[(results.rows["split"] == IID) & (results.rows["part"] == part)]
    rows = rows[(rows["text"] == GENERATED) & (rows["facet"] == PROPERTY)]
    return {str(name): int(n) for name, n in rows.groupby("value")["n"].max().items()}
