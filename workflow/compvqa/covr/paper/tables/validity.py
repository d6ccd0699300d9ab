"""How many questions are invalid when judged against the complete truth, and why."""

from __future__ import annotations

import pandas as pd

from compvqa.covr.judging.validity import CAUSES
from compvqa.covr.paper.shares import DOUBT, invalid_of
from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template and a last one for all, which the paper's numbers stand beside.

    The causes are shares of the invalid questions, as the paper gives them of its rejected examples.
    """
    judged = frame(one(inputs, "validity"), ["template", "valid", "cause", "start_scene"])
    rows = [_row(str(template), of, reference) for template, of in judged.groupby("template")]
    rows.append(_row("all", judged, reference))
    columns = ("Judged", "Invalid (%)", *(f"{cause.capitalize()} (% of invalid)" for cause in CAUSES))
    facts = reference.facts
    notes = (
        f"{facts['rejected'].text}; {facts['missing'].text} {facts['missing'].value} % had missing and "
        f"{facts['wrong'].value} % wrong annotations.",
        "Overlapping names: the annotations are right, but two names are true of one thing. Other instances: what is "
        "annotated is right, but its image holds more of the kind; the paper does not tell these from missing ones.",
        *reference.notes,
    )
    return Table(reference.title, reference.citation, "Template", columns, tuple(rows), notes, doubt=DOUBT)


def _row(label: str, judged: pd.DataFrame, reference: Reference) -> Row:
    whole = label == "all"
    papers = {name: fact.value for name, fact in reference.facts.items()} if whole else {}
    invalid = judged[~judged["valid"]]
    cells = [Cell(len(judged), form="count"), invalid_of(judged, told=True, paper=papers.get("rejected"))]
    for cause in CAUSES:
        of = 100 * float((invalid["cause"] == cause).mean()) if len(invalid) else None
        cells.append(Cell(of, paper=papers.get(cause)))
    return Row(label, tuple(cells), rule_above=whole)
