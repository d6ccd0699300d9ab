"""Table 3: statistics of the dataset."""

from __future__ import annotations

from compvqa.paper.data import Inputs, statistic
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

PARTS = {"Train": "train", "Dev.+Test": "dev+test"}
NEW_BLOCK = ("# True/False (T/F) questions", "avg. # question words")


def make(inputs: Inputs, reference: Reference) -> Table:
    """The paper's rows; ``options.stats`` names the statistic of each.

    A last row has what the paper says in its text: the share of questions that appear with two answers.
    """
    rows = []
    for label, stat in reference.options["stats"].items():
        form = "mean" if label.startswith("avg.") else "count"
        cells = [
            Cell(_value(inputs, stat, part), paper=reference.value(label, column), form=form)
            for column, part in PARTS.items()
        ]
        rows.append(Row(label, tuple(cells), rule_above=label in NEW_BLOCK))
    fact = reference.facts["two_answers"]
    shares = [_value(inputs, "two_answers", part) for part in PARTS.values()]
    papers = [fact.value, None]
    cells = [Cell(None if s is None else 100 * s, paper=p) for s, p in zip(shares, papers, strict=True)]
    rows.append(Row(fact.text, tuple(cells)))
    return Table(reference.title, reference.citation, "Measurement", tuple(PARTS), tuple(rows), reference.notes)


def _value(inputs: Inputs, stat: str, part: str) -> float | None:
    return statistic(inputs, stat, part).get("")
