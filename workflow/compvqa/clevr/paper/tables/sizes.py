"""Figure 3, top: how large the parts are, how many questions are unique, and how many train has too."""

from __future__ import annotations

from compvqa.clevr.paper import counts
from compvqa.clevr.paper.counts import ALL, PARTS
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

COLUMNS = ("Images", "Questions", "Unique questions", "Questions that train has too", "% of its questions")


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a part, train first, then all of them.

    Beside ours stand the release's sizes (``options.released``: images and questions by label), and what the paper says
    of all parts together.
    """
    dataset = one(inputs, "dataset")
    found = counts.sizes(dataset)
    rows = []
    for part in [*counts.parts(dataset), ALL]:
        size = found[part]
        label = PARTS.get(part, part) if part else "All"
        images, questions = reference.options["released"].get(label, (None, None))
        unique = reference.facts["unique"].value if part == ALL else None
        share = 100 * size.in_train / size.questions if size.in_train is not None and size.questions else None
        cells = (
            Cell(size.images, paper=images, form="count"),
            Cell(size.questions, paper=questions, form="count"),
            Cell(size.texts, paper=unique, form="count"),
            Cell(size.in_train, form="count" if size.in_train is not None else "none"),
            Cell(share, form="percent" if share is not None else "none"),
        )
        rows.append(Row(label, cells, rule_above=part == ALL))
    return Table(reference.title, reference.citation, "Part", COLUMNS, tuple(rows), reference.notes)
