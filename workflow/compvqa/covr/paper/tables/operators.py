"""Table 11: the program operators, their types, and how many questions have them."""

from __future__ import annotations

from compvqa.covr.language import COMPARISONS, OPERATORS
from compvqa.paper.data import Inputs, statistic
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.programs.language import SIZE, Operator

COLUMNS = ("Input", "Output", "Meaning", "Questions", "% of all")


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row an operator: the paper's in its order, then those that only ours have."""
    counts = statistic(inputs, "operator", "all")
    whole = statistic(inputs, "questions", "all").get("", 0)
    rows: list[Row] = []
    for name in dict.fromkeys([*reference.rows, *OPERATORS]):
        operator, paper = OPERATORS.get(name), reference.value(name, "Input")
        first_of_ours = name not in reference.rows and bool(rows) and rows[-1].label in reference.rows
        if operator is None:
            cells = (Cell(paper=paper, form="text"), *(Cell(form="none") for _ in COLUMNS[1:]))
            rows.append(Row(name, cells, note="not here"))
            continue
        share = 100 * counts.get(name, 0) / whole if whole else None
        cells = (
            Cell(takes(operator), paper=paper, form="text"),
            Cell(operator.output, form="text"),
            Cell(operator.meaning, form="text"),
            Cell(counts.get(name, 0), form="count"),
            Cell(share),
        )
        rows.append(Row(name, cells, rule_above=first_of_ours))
    notes = (
        f"Not in the paper's table: {_listed(name for name in OPERATORS if name not in reference.rows)}.",
        f"Only in the paper's table: {_listed(name for name in reference.rows if name not in OPERATORS)}.",
        *reference.notes,
    )
    return Table(reference.title, reference.citation, "Operator", COLUMNS, tuple(rows), notes, stacked=True)


def takes(operator: Operator) -> str:
    """What an operator takes: the values of other rows, then what is written in its own."""
    parts = [" or ".join(types) for types in operator.inputs]
    if operator.name in COMPARISONS:
        parts[-1] += f" (or a {SIZE})"
    parts += operator.arguments
    text = " ".join(f"({number}) {part}" for number, part in enumerate(parts, 1))
    return f"{text}, and {operator.rest} for each {operator.rest_argument}" if operator.rest else text or "nothing"


def _listed(names) -> str:
    return ", ".join(names) or "none"
