"""Table 1: the question templates, each with an example."""

from __future__ import annotations

from compvqa.covr.paper import examples
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template, the paper's in its order; the example's slots are underlined where they can be told apart."""
    (column,) = reference.columns
    rows = []
    for name, template, question in examples.of_templates(inputs, ["template", "text"], reference.rows):
        text = question["text"] if question else None
        marks = examples.slots(template, text) if template and text else ()
        rows.append(Row(name, (Cell(text, paper=reference.value(name, column), form="text", marks=marks),)))
    notes = ("Underlined: what fills a template's slots, neighbouring slots as one.", *reference.notes)
    return Table(reference.title, reference.citation, "Template", reference.columns, tuple(rows), notes)
