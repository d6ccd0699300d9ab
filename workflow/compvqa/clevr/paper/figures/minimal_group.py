"""CLEVR-HOPE's Figure 7: a group of a minimal test, one question about four pictures of one thing."""

from __future__ import annotations

from matplotlib.figure import Figure

from compvqa.clevr.paper.examples import Scenery
from compvqa.clevr.paper.pair_questions import GROUP, group_of, pair_of
from compvqa.clevr.trace import called
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.page import EDGE, GAP, WIDTH, Page
from compvqa.paper.reference import Reference
from compvqa.paper.scenery import framed, show

WIDE = (WIDTH - 2 * EDGE - (GROUP - 1) * GAP) / GROUP
HIGH = WIDE / 1.5  # of a picture


def make(inputs: Inputs, reference: Reference) -> Figure:
    """The question above its pictures, below each the answer and what is in it."""
    dataset, scenery = one(inputs, "dataset"), Scenery.of(inputs)
    group = group_of(dataset, scenery)
    if not group:
        figure, (ax,) = style.new(6, 2)
        style.nothing_to_show(ax, "the dataset has no minimal test")
        return figure
    page = Page.new(EDGE + 0.65 + HIGH + 0.65)
    page.write(EDGE, EDGE, group[0].text, fontsize=12, fontweight="bold")
    page.write(EDGE, EDGE + 0.28, f"held out: {pair_of(dataset)}", fontsize=8.5, color=style.SOFT)
    for number, asked in enumerate(group):
        x, y = EDGE + number * (WIDE + GAP), EDGE + 0.55
        ax, picture = page.axes(x, y, WIDE, HIGH), scenery.picture(asked.scene_id)
        framed(ax)
        show(ax, picture, *scenery.size(asked.scene_id))
        if picture is None:
            style.nothing_to_show(ax, "no picture")
        color = style.ORANGE if asked.answer == "yes" else style.BLUE
        page.write(x, y + HIGH + 0.08, asked.answer, fontsize=11, fontweight="bold", color=color)
        things = (name.rpartition(" ")[0] for name in called(scenery.graph(asked.scene_id)).values())
        page.write(x + 0.45, y + HIGH + 0.11, ", ".join(things), fontsize=8.5, color=style.SOFT)
    return page.figure
