"""How well each filter tells false distractors from good ones, by the kind of the differing node."""

from __future__ import annotations

from compvqa.covr.judging.distractors import CAUSES, KINDS, NO_FILTERS
from compvqa.covr.judging.filters import (
    BOTH,
    DROPPED,
    FALSE,
    IMAGES,
    LACKS,
    LOST,
    PRECISION,
    RECALL,
    cause_of,
    filters_of,
)
from compvqa.covr.paper.filters import Measures, arm_name
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

MEASURES = {
    "False (%)": FALSE,
    "Dropped (%)": DROPPED,
    "Precision (%)": PRECISION,
    "Recall (%)": RECALL,
    **{f"Recall of {cause} (%)": cause_of(RECALL, cause) for cause in CAUSES},
    "Kept ones that lack it (%)": LACKS,
    "Good ones lost (%)": LOST,
}


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a chain, and one for its image filter alone after its word filter; below each one a kind of node."""
    found = Measures(one(inputs, "filters"))
    aim = reference.facts["aim"]
    rows: list[Row] = []
    for arm in found.arms(BOTH) or [NO_FILTERS]:
        after_words = [(IMAGES, f"{arm_name(arm)}: images, of what words left")] if len(filters_of(arm)) > 1 else []
        for of, label in (*after_words, (BOTH, arm_name(arm))):
            for kind in ("", *KINDS):
                key = (of, arm, kind)
                cells = [Cell(found.n(*key, FALSE), form="count")]
                for measure in MEASURES.values():
                    of_paper = measure == LACKS and not kind and (of == IMAGES or filters_of(arm) == [IMAGES])
                    cells.append(found.cell(*key, measure, paper=aim.value if of_paper else None))
                rows.append(Row(kind or label, tuple(cells), rule_above=not kind and bool(rows), minor=bool(kind)))
    notes = (f"{aim.text}.", *reference.notes)
    columns = ("Judged", *MEASURES)
    return Table(reference.title, reference.citation, "Filters and differing node", columns, tuple(rows), notes)
