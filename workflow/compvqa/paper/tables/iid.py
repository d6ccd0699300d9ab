"""Table 6: accuracy on the i.i.d. split, on dev and test, generated and paraphrased."""

from __future__ import annotations

from compvqa.evaluation.answers import IID
from compvqa.models.baseline import GENERATED, PARAPHRASED
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Row, Table
from compvqa.paper.scores import Results, beside
from compvqa.paper.splits import TESTED


def make(inputs: Inputs, reference: Reference) -> Table:
    """The paper's rows; those that we have no run of keep a dash."""
    results = Results.load(one(inputs, "scores"), reference.options)
    rows, missing, seeds = [], [], 0
    for label in reference.rows:
        asked = {column: reference.shown(column, label) for column in reference.columns}
        found = {
            column: results.score(shown, IID, shown.part or TESTED, shown.text or GENERATED)
            for column, shown in asked.items()
        }
        seeds = max([seeds, *(score.seeds for score in found.values() if score)])
        if not any(found.values()):
            missing.append(label)
        cells = tuple(beside(score, reference.value(label, column), reference) for column, score in found.items())
        rows.append(Row(label, cells, rule_above=reference.shown(label).ruled))
    notes = ["Accuracy in percent." + (f" Ours: mean ± deviation over {seeds} seeds." if seeds > 1 else "")]
    notes += [f"Not run here: {', '.join(missing)}."] if missing else []
    notes += [why for text in (GENERATED, PARAPHRASED) if (why := results.missing(text)[1])][:1]
    notes += reference.notes
    return Table(reference.title, reference.citation, "Model", reference.columns, tuple(rows), tuple(notes))
