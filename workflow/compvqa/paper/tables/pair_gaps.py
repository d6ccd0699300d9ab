"""A row a model and split that holds out a pair: the pair's diversity in train, and the model's systematicity gap."""

from __future__ import annotations

from compvqa.paper.data import Inputs
from compvqa.paper.diversity import Difference, gaps, trends
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

COLUMNS = ("Pair", "Kinds", "Diversity", "Bits", "With it (%)", "Without (%)", "Gap", "Against matched")
NOTES = (
    "Diversity: combinations of values of the two kinds around the pair in train's scenes, the pair counted. Bits: "
    "what one value tells of the other there without the pair, a rival of diversity.",
    "Gap: points by which accuracy with the pair exceeds that without it; matched questions say another pair of its "
    "kinds of one object.",
)
DOUBT = (
    "In brackets: the interval, by a bootstrap of the questions, or images, of both parts; then how many with the pair "
    "there are."
)


def make(inputs: Inputs, reference: Reference) -> Table:
    """The table, of this test-bed and of those beside it: worlds in their order, then the most diverse pairs first."""
    found = gaps(inputs)
    rows: list[Row] = []
    worlds = list(dict.fromkeys(gap.world for gap in found))
    for gap in sorted(found, key=lambda gap: (worlds.index(gap.world), gap.model, -gap.held.diversity, gap.split)):
        with_it, without = gap.gap.accuracies
        label = f"{gap.model} on {gap.split}"
        cells = (
            Cell(gap.drawn, form="none"),
            Cell(" + ".join(gap.held.kinds), form="none"),
            Cell(gap.held.diversity, form="count"),
            Cell(f"{gap.held.bits:.2f}", form="none"),
            Cell(with_it),
            Cell(without),
            _points(gap.gap),
            _points(gap.matched),
        )
        new = bool(rows) and not rows[-1].label.startswith(f"{gap.world}: {gap.model} ")
        rows.append(Row(f"{gap.world}: {label}", cells, rule_above=new))
    notes = [*trends(found), *NOTES, *reference.notes]
    if not rows:
        notes.insert(0, "No model was trained on a split that holds out a pair.")
    title, citation = reference.title, reference.citation
    return Table(title, citation, "Model and split", COLUMNS, tuple(rows), tuple(notes), doubt=DOUBT)


def _points(found: Difference | None) -> Cell:
    return Cell(found.value, interval=found.interval, n=found.n, form="points") if found else Cell(form="points")
