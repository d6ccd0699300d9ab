"""Figure 1: a picture and questions about it that test different things."""

from __future__ import annotations

import textwrap

from matplotlib.figure import Figure

from compvqa.clevr.paper.examples import Question, Scenery, sorts_of_one_scene
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.page import EDGE, Page
from compvqa.paper.reference import Reference
from compvqa.paper.scenery import framed, show

PICTURE = (5.4, 3.6)  # inches
LINE, SORT, APART = 0.205, 0.21, 0.17  # heights of a line of a question, of what it tests, and between two
CHARACTERS = 56  # of a line
COLORS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.TEAL)


def make(inputs: Inputs, reference: Reference) -> Figure:
    """The picture to the left, and to the right a question of each sort that its scene has, with the answer."""
    scenery = Scenery.of(inputs)
    questions = sorts_of_one_scene(one(inputs, "dataset"), scenery)
    if not questions:
        figure, (ax,) = style.new(6, 2)
        style.nothing_to_show(ax, "the dataset has no question with a program and an answer")
        return figure
    texts = {sort: textwrap.wrap(question.text, CHARACTERS) for sort, question in questions.items()}
    needed = sum(SORT + LINE * (len(lines) + 1) + APART for lines in texts.values()) - APART
    page = Page.new(max(PICTURE[1], needed) + 2 * EDGE)
    scene_id = next(iter(questions.values())).scene_id
    ax = page.axes(EDGE, EDGE, *PICTURE)
    picture = scenery.picture(scene_id)
    framed(ax)
    show(ax, picture, *scenery.size(scene_id))
    if picture is None:
        style.nothing_to_show(ax, f"there is no picture of {scene_id}")
    y = EDGE + max(PICTURE[1] - needed, 0) / 2
    for (sort, question), color in zip(questions.items(), COLORS, strict=False):
        y = _write(page, y, sort, question, texts[sort], color)
    return page.figure


def _write(page: Page, y: float, sort: str, question: Question, lines: list[str], color: str) -> float:
    """Write a question; gives where the next one begins."""
    x = EDGE + PICTURE[0] + 0.35
    page.write(x, y, sort, color=color, fontsize=8.5, fontweight="bold")
    for number, line in enumerate(lines):
        page.write(x, y + SORT + LINE * number, line, fontsize=10.5)
    below = y + SORT + LINE * len(lines)
    page.write(x, below, question.answer, fontsize=10.5, fontweight="bold", color=color)
    return below + LINE + APART
