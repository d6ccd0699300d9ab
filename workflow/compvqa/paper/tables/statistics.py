"""Table 3: statistics of the dataset."""

from __future__ import annotations

from compvqa.paper.data import Inputs, statistic
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

PARTS = {"Train": "train", "Dev.+Test": "dev+test", "All": "all"}
NEW_BLOCK = ("# True/False (T/F) questions", "avg. # question words")


def make(inputs: Inputs, reference: Reference) -> Table:
    """The paper's rows; ``options.stats`` names the statistic of each.

    Two of the paper's numbers are from its text: of the programs in all parts together, and in a last row the share
    of questions that appear with two answers.
    """
    facts = reference.facts
    in_text = {("unique_anonymized_programs", "All"): facts["programs"].value}
    rows = []
    for label, stat in reference.options["stats"].items():
        form = "mean" if label.startswith("avg.") else "count"
        cells = [
            Cell(
                _value(inputs, stat, part), paper=in_text.get((stat, column), reference.value(label, column)), form=form
            )
            for column, part in PARTS.items()
        ]
        rows.append(Row(label, tuple(cells), rule_above=label in NEW_BLOCK))
    shares = {column: _value(inputs, "two_answers", part) for column, part in PARTS.items()}
    papers = {"Train": facts["two_answers"].value}
    cells = [Cell(None if s is None else 100 * s, paper=papers.get(column)) for column, s in shares.items()]
    rows.append(Row(facts["two_answers"].text, tuple(cells)))
    return Table(reference.title, reference.citation, "Measurement", tuple(PARTS), tuple(rows), reference.notes)


def _value(inputs: Inputs, stat: str, part: str) -> float | None:
    return statistic(inputs, stat, part).get("")
