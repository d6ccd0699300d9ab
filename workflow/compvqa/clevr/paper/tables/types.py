"""The types of questions: how many there are, and how even their answers are."""

from __future__ import annotations

from compvqa.clevr import analysis
from compvqa.clevr.paper import counts
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.programs.rows import Row as ProgramRow

COLUMNS = ("Questions", "% of all", "Templates", "Answers", "Most frequent answer", "Its share (%)")


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a type, which is the last function of the program.

    The share of a type's most frequent answer is what the baseline Q-type mode gets right; beside it stand the
    accuracies of this baseline that the paper tells in words (facts, by type).
    """
    found = counts.types(one(inputs, "dataset"))
    whole = sum(of.questions for of in found.values())
    rows, before = [], ""
    for name, of in found.items():
        fact = reference.facts.get(name)
        cells = (
            Cell(of.questions, form="count"),
            Cell(100 * of.questions / whole),
            Cell(of.templates, form="count"),
            Cell(of.answers, form="count"),
            Cell(of.most or None, form="text"),
            Cell(100 * of.most_questions / of.questions, paper=fact.value if fact else None),
        )
        sort = analysis.kind([ProgramRow(name)])
        rows.append(Row(name, cells, rule_above=bool(before) and sort != before))
        before = sort
    notes = (f"n = {whole:,} questions of all parts whose programs are known.", *reference.notes)
    return Table(reference.title, reference.citation, "Type", COLUMNS, tuple(rows), notes)
