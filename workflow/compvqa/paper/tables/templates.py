"""Tables 12 and 13: accuracy by template on the test part of the i.i.d. split, generated and paraphrased."""

from __future__ import annotations

from compvqa.evaluation.facets import TEMPLATE
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import Inputs, frame, one, plain
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results, beside
from compvqa.paper.splits import TESTED


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template, the paper's in its order, then any others.

    One without questions, or that no trained model answered, says so.
    """
    part, text = reference.options.get("part", TESTED), reference.options.get("text", GENERATED)
    results = Results.load(one(inputs, "scores"), reference.options)
    asked = frame(one(inputs, "dataset"), ["template"], part)["template"].value_counts()
    names = {plain(name): name for name in asked.index}
    labels = [
        *reference.rows,
        *sorted(name for name in asked.index if reference.label(name) not in reference.rows),
    ]
    why, reason = results.missing(text)
    found = {column: results.by(TEMPLATE, reference.shown(column), part, text) for column in reference.columns}
    rows = []
    for label in labels:
        name = names.get(plain(label), label)
        scores = [found[column].get(name) for column in reference.columns]
        cells = [Cell(int(asked.get(name, 0)), form="count")]
        cells += [
            beside(score, reference.value(label, column), reference)
            for score, column in zip(scores, reference.columns, strict=True)
        ]
        note = "" if any(scores) else (why or "not trained" if name in asked.index else "no questions")
        rows.append(Row(label, tuple(cells), note=note, note_from=1))
    columns = (f"Questions ({part})", *reference.columns)
    notes = (f"Accuracy in percent on {part}; ours: mean ± deviation over seeds.", reason, *reference.notes)
    return Table(reference.title, reference.citation, "Template", columns, tuple(rows), tuple(filter(None, notes)))
