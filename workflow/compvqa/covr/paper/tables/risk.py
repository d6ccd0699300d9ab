"""What the risk of questions is worth: expected and true shares of invalid ones, and what is left of the surest."""

from __future__ import annotations

import pandas as pd

from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

SHARES = (80, 60, 40, 20)  # per cent
TEST = "test"


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template, and two for all: the mean over templates and the worst of them.

    Of the generated questions that were judged; the last two columns are of the balanced dataset, all of it and its
    test part.
    """
    generated = frame(one(inputs, "generated"), ["question_id", "template", "valid"])
    judged = generated.merge(frame(one(inputs, "risks"), ["question_id", "risk"]), on="question_id")
    dataset = frame(one(inputs, "validity"), ["template", "part", "valid"])
    found = {
        str(template): [*_generated(of), *_balanced(dataset[dataset["template"] == template])]
        for template, of in judged.groupby("template")
    }
    told = pd.DataFrame.from_dict(found, orient="index")
    rows = [_row(template, int((judged["template"] == template).sum()), of) for template, of in told.iterrows()]
    rows.append(_row("mean of all templates", len(judged), told.mean(), rule_above=True))
    rows.append(_row("worst template", None, told.max().where(told.columns != _AUC)))
    shares = (f"Invalid of the surest {share} % (%)" for share in SHARES)
    columns = (
        "Judged",
        "Invalid (%)",
        "Expected (%)",
        "AUC",
        *shares,
        "Invalid in the dataset (%)",
        "In its test part (%)",
    )
    return Table(reference.title, reference.citation, "Template", columns, tuple(rows), reference.notes)


_AUC = 2  # its place among the numbers of a template


def _row(label: object, n: int | None, numbers: pd.Series, rule_above: bool = False) -> Row:
    cells = [Cell(n, form="count")]
    for place, value in enumerate(numbers):
        cells.append(Cell(None if pd.isna(value) else float(value), form="score" if place == _AUC else "percent"))
    return Row(str(label), tuple(cells), rule_above=rule_above)


def _generated(of: pd.DataFrame) -> list[float]:
    """Of a template's questions the share that is invalid and that is expected to be, the AUC of the risk, and the
    shares that are invalid of those with the least risk; per cent, but for the AUC."""
    ordered = of.sort_values(["risk", "question_id"])
    invalid = ~ordered["valid"]
    surest = [100 * invalid.iloc[: max(round(len(of) * share / 100), 1)].mean() for share in SHARES]
    return [100 * invalid.mean(), 100 * of["risk"].mean(), _auc(ordered["risk"], invalid), *surest]


def _balanced(of: pd.DataFrame) -> list[float]:
    return [100 * float((~part["valid"]).mean()) for part in (of, of[of["part"] == TEST])]


def _auc(risk: pd.Series, invalid: pd.Series) -> float:
    """How often an invalid question has the larger risk of a pair; equal risks count half."""
    n, others = int(invalid.sum()), int((~invalid).sum())
    ranks = risk.rank()[invalid].sum()
    return float((ranks - n * (n + 1) / 2) / (n * others)) if n and others else float("nan")
