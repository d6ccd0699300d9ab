"""CLEVR-HOPE's Figure 1: for a held-out pair a question of train and one of each test, with their pictures."""

from __future__ import annotations

import textwrap

from matplotlib.figure import Figure

from compvqa.clevr.paper.examples import Scenery
from compvqa.clevr.paper.pair_questions import Asked, example_of, pair_of
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.page import EDGE, GAP, WIDTH, Page
from compvqa.paper.reference import Reference
from compvqa.paper.scenery import framed, show

SHOWN = {
    "train": ("train", "without the pair"),
    "complex_iid": ("complex-IID", "without the pair"),
    "minimal_iid": ("minimal-IID", "without the pair"),
    "minimal_ood": ("minimal-OOD", "asks for the pair"),
    "complex_ood": ("complex-OOD", "has the pair"),
}
WIDE = (WIDTH - 2 * EDGE - (len(SHOWN) - 1) * GAP) / len(SHOWN)
HIGH = WIDE / 1.5  # of a picture
LINE, CHARACTERS = 0.17, 29


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Five pictures side by side, below each a question and its answer."""
    dataset, scenery = one(inputs, "dataset"), Scenery.of(inputs)
    found = {part: example_of(dataset, part, scenery) for part in SHOWN}
    asked = {part: question for part, question in found.items() if question}
    if not asked:
        figure, (ax,) = style.new(6, 2)
        style.nothing_to_show(ax, "the dataset has no questions")
        return figure
    texts = {part: textwrap.wrap(question.text, CHARACTERS) for part, question in asked.items()}
    page = Page.new(EDGE + 0.85 + HIGH + 0.1 + LINE * (max(map(len, texts.values())) + 1) + EDGE)
    page.write(EDGE, EDGE, f"Held out: {pair_of(dataset)}", fontsize=11, fontweight="bold")
    for number, (part, question) in enumerate(asked.items()):
        _draw(page, EDGE + number * (WIDE + GAP), part, question, texts[part], scenery)
    return page.figure


def _draw(page: Page, x: float, part: str, question: Asked, lines: list[str], scenery: Scenery) -> None:
    title, what = SHOWN[part]
    color = style.ORANGE if part.endswith("ood") else style.BLUE
    page.write(x, EDGE + 0.36, title, fontsize=9.5, fontweight="bold", color=color)
    page.write(x, EDGE + 0.58, what, fontsize=7.5, color=style.SOFT)
    ax, picture = page.axes(x, EDGE + 0.8, WIDE, HIGH), scenery.picture(question.scene_id)
    framed(ax)
    show(ax, picture, *scenery.size(question.scene_id))
    if picture is None:
        style.nothing_to_show(ax, "no picture")
    y = EDGE + 0.8 + HIGH + 0.1
    for number, line in enumerate(lines):
        page.write(x, y + LINE * number, line, fontsize=8.5)
    page.write(x, y + LINE * len(lines), question.answer, fontsize=8.5, fontweight="bold", color=color)
