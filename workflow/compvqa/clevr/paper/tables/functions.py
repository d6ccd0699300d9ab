"""Figure 2, right: the functions that programs are made of, and how many questions have them."""

from __future__ import annotations

from compvqa.clevr.language import LANGUAGE
from compvqa.clevr.paper import counts
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.programs.language import Operator

COLUMNS = ("Takes", "Gives", "Meaning", "Questions", "% of all")


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a function, in the language's order."""
    dataset = one(inputs, "dataset")
    found = counts.functions(dataset)
    whole = sum(kind.questions for kind in counts.types(dataset).values())
    rows, before = [], ""
    for operator in LANGUAGE.all_operators:
        questions = found.get(operator.name, 0)
        cells = (
            *(Cell(text, form="text") for text in (takes(operator), operator.output, operator.meaning)),
            Cell(questions, form="count"),
            Cell(100 * questions / whole if whole else None),
        )
        verb = operator.name.partition("_")[0]
        rows.append(Row(operator.name, cells, rule_above=bool(before) and verb != before))
        before = verb
    notes = (f"n = {whole:,} questions of all parts whose programs are known.", *reference.notes)
    return Table(reference.title, reference.citation, "Function", COLUMNS, tuple(rows), notes)


def takes(operator: Operator) -> str:
    """What a function takes: values of other functions, then what is written in it."""
    return ", ".join([" or ".join(kinds) for kinds in operator.inputs] + list(operator.arguments)) or "nothing"
