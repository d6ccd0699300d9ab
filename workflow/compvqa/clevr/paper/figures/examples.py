"""The supplement's examples: pictures, each with questions, their answers, types and sizes."""

from __future__ import annotations

import textwrap

from matplotlib.figure import Figure

from compvqa.clevr.paper.examples import Question, Scenery, of_many_types
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.page import EDGE, WIDTH, Page
from compvqa.paper.reference import Reference
from compvqa.paper.scenery import framed, show

ACROSS, SCENES, EACH = 3, 6, 3
APART = 0.3  # inches between pictures
PICTURE = ((WIDTH - 2 * EDGE - (ACROSS - 1) * APART) / ACROSS, (WIDTH - 2 * EDGE - (ACROSS - 1) * APART) / ACROSS / 1.5)
CHARACTERS = 50  # of a line
LINE, BELOW = 0.175, 0.13  # heights of a line, and what is free after a question


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Some pictures in rows, each above its questions."""
    scenery = Scenery.of(inputs)
    found = of_many_types(one(inputs, "dataset"), scenery, SCENES, EACH)
    if not found:
        figure, (ax,) = style.new(6, 2)
        style.nothing_to_show(ax, "the dataset has no question with a program and an answer")
        return figure
    scenes = list(found)
    rows = [scenes[start : start + ACROSS] for start in range(0, len(scenes), ACROSS)]
    heights = [PICTURE[1] + 0.12 + max(sum(map(_height, found[scene])) for scene in row) for row in rows]
    page, y = Page.new(sum(heights) + APART * (len(rows) - 1) + 2 * EDGE), EDGE
    for row, height in zip(rows, heights, strict=True):
        for number, scene in enumerate(row):
            _draw(page, EDGE + number * (PICTURE[0] + APART), y, scene, found[scene], scenery)
        y += height + APART
    return page.figure


def _lines(question: Question) -> list[str]:
    return textwrap.wrap(question.text, CHARACTERS)


def _height(question: Question) -> float:
    return LINE * (len(_lines(question)) + 1) + BELOW


def _draw(page: Page, x: float, y: float, scene: str, questions: list[Question], scenery: Scenery) -> None:
    """Draw a picture, and below it its questions."""
    ax = page.axes(x, y, *PICTURE)
    framed(ax)
    show(ax, scenery.picture(scene), *scenery.size(scene))
    y += PICTURE[1] + 0.12
    for question in questions:
        lines = _lines(question)
        page.write(x, y, "\n".join(lines), fontsize=8.5, linespacing=1.25)
        below = y + LINE * len(lines)
        page.write(x, below, question.answer, fontsize=8.5, fontweight="bold", color=style.BLUE)
        page.write(x + 0.85, below, f"{question.type}, size {len(question.rows)}", fontsize=8, color=style.SOFT)
        y += _height(question)
