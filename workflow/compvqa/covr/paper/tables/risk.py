"""What the risk of questions is worth: expected and true shares of invalid ones, and what is left of the surest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

import pandas as pd

from compvqa.covr.filters.floors import Measured, area
from compvqa.covr.paper.shares import DOUBT, invalid_of
from compvqa.paper.data import Inputs, frame, many, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

SHARES = (80, 60, 40, 20)  # per cent
TEST = "test"
AREA = "AUC"
COLUMNS = (
    *("Judged", "Invalid (%)", "Expected (%)", AREA),
    *(f"Invalid of the surest {share} % (%)" for share in SHARES),
    *("Invalid in the dataset (%)", "In its test part (%)"),
)


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template, with intervals, and two for all: the mean over templates and the worst of them.

    Of the generated questions that were judged; the last two columns are of the balanced dataset, all of it and its
    test part.
    """
    generated = frame(one(inputs, "generated"), ["question_id", "template", "valid", "start_scene"])
    kept = frame(one(inputs, "questions"), ["question_id", "seed"])
    risks = pd.concat(frame(path, ["question_id", "seed", "risk"]) for path in many(inputs, "risks"))
    judged = generated.merge(kept.merge(risks), on="question_id")
    dataset = frame(one(inputs, "validity"), ["template", "part", "valid", "start_scene"])
    rows = [
        Row(str(template), (*_generated(of), *_balanced(dataset[dataset["template"] == template])))
        for template, of in judged.groupby("template")
    ]
    columns = [[row.cells[place] for row in rows] for place in range(1, len(COLUMNS))]
    whole = Cell(len(judged), form="count"), *(_over(cells, fmean) for cells in columns)
    worst = (_over(cells, max) if name != AREA else Cell() for cells, name in zip(columns, COLUMNS[1:], strict=True))
    rows.append(Row("mean of all templates", whole, rule_above=True))
    rows.append(Row("worst template", (Cell(form="count"), *worst)))
    return Table(reference.title, reference.citation, "Template", COLUMNS, tuple(rows), reference.notes, doubt=DOUBT)


def _generated(of: pd.DataFrame) -> list[Cell]:
    """Of a template's questions how many there are, the share that is invalid and that is expected to be, the AUC of
    the risk, and the shares that are invalid of those with the least risk."""
    ordered = of.sort_values(["risk", "question_id"])
    invalid = (~ordered["valid"]).to_numpy(bool)
    surest = (ordered[: max(round(len(of) * part / 100), 1)] for part in SHARES)
    return [
        Cell(len(of), form="count"),
        invalid_of(of, told=True),
        Cell(100 * float(of["risk"].mean())),
        _area(area(ordered["risk"].to_numpy(), invalid, images=ordered["start_scene"].to_numpy())),
        *map(invalid_of, surest),
    ]


def _balanced(of: pd.DataFrame) -> list[Cell]:
    return [invalid_of(part) for part in (of, of[of["part"] == TEST])]


def _area(found: Measured) -> Cell:
    if found.value is None or found.low is None or found.high is None:
        return Cell(form="score")
    return Cell(found.value, form="score", interval=(found.low, found.high))


def _over(cells: Sequence[Cell], of: Callable[[Iterable[float]], float]) -> Cell:
    """The mean, or another number, of a column's cells, of those that have a value."""
    values = [float(cell.value) for cell in cells if cell.value is not None]
    return Cell(float(of(values)), form=cells[0].form) if values else Cell()
