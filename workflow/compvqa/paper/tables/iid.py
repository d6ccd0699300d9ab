"""Table 6: accuracy on the i.i.d. split, on dev and test, generated and paraphrased."""

from __future__ import annotations

from compvqa.evaluation.answers import IID
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results

PARTS = ("dev", "test")


def make(inputs: Inputs, reference: Reference) -> Table:
    """The paper's rows; those that we have no run of keep a dash.

    The paraphrased columns have no values of ours: paraphrases are written by people.
    """
    results = Results.load(one(inputs, "scores"), reference.options.get("model"))
    rows, missing, seeds = [], [], 0
    for label in reference.rows:
        found = [results.score(label, IID, part) for part in PARTS]
        seeds = max([seeds, *(score.seeds for score in found if score)])
        if not any(found):
            missing.append(label)
        found += [None] * (len(reference.columns) - len(found))
        cells = tuple(
            Cell(score and score.mean, score and score.deviation, reference.value(label, column))
            for score, column in zip(found, reference.columns, strict=True)
        )
        rows.append(Row(label, cells, rule_above=label in ("VBEasyDistractors", "Humans")))
    notes = ["Accuracy in percent." + (f" Ours: mean ± deviation over {seeds} seeds." if seeds > 1 else "")]
    notes += [f"Not run here: {', '.join(missing)}."] if missing else []
    columns, notes = reference.columns, (*notes, *reference.notes)
    return Table(reference.title, reference.citation, "Model", columns, tuple(rows), notes)
