"""Figures 7 and 10: a question that is answered by less than it asks, with its program and its effective program."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from matplotlib.figure import Figure

from compvqa.clevr.effective import effective, set_values
from compvqa.clevr.executor import values
from compvqa.clevr.paper.drawing import BOX, draw_program, extent
from compvqa.clevr.paper.examples import Question, Scenery, queries_with_relation
from compvqa.clevr.scene import of_graph
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.page import EDGE, Page
from compvqa.paper.reference import Reference
from compvqa.paper.scenery import framed, show
from compvqa.programs.rows import Program

PICTURE = (4.5, 3.0)  # inches
LEFT, APART = EDGE + PICTURE[0] + 0.4, 0.45  # where the first program begins, and between two
OVER = 0.62  # inches above a program
SAVED = 3, 6  # functions that an effective program to show has less


@dataclass(frozen=True)
class Pruned:
    """A question with its program and the smallest that gives the same answer."""

    question: Question
    program: Program
    smaller: Program


def make(inputs: Inputs, reference: Reference) -> Figure:
    """The picture and the question to the left, the two programs to the right of it."""
    scenery = Scenery.of(inputs)
    found = min(_pruned(inputs, scenery), key=lambda pruned: _cost(pruned, scenery), default=None)
    if found is None:
        figure, (ax,) = style.new(6, 2)
        style.nothing_to_show(ax, "no question of the dataset is answered by a smaller program")
        return figure
    both = (("its program", found.program), ("the effective program", found.smaller))
    tallest = max(extent(program)[1] for _, program in both)
    lines = textwrap.wrap(found.question.text, 52)
    page = Page.new(max(OVER + tallest, PICTURE[1] + 0.4 + 0.2 * len(lines)) + 2 * EDGE)
    ax = page.axes(EDGE, EDGE, *PICTURE)
    framed(ax)
    show(ax, scenery.picture(found.question.scene_id), *scenery.size(found.question.scene_id))
    y = EDGE + PICTURE[1] + 0.15
    page.write(EDGE, y, "\n".join(lines), fontsize=10, linespacing=1.35)
    answer = {"fontsize": 10, "fontweight": "bold", "color": style.BLUE}
    page.write(EDGE, y + 0.2 * len(lines) + 0.05, found.question.answer, **answer)
    x = LEFT
    for name, program in both:
        page.write(x, EDGE, name, fontsize=10, fontweight="bold")
        page.write(x, EDGE + 0.24, f"{len(program)} functions", fontsize=8.5, color=style.SOFT)
        draw_program(page, x, EDGE + OVER, program)
        x += max(extent(program)[0], BOX[0]) + APART
    _told(page, x, found, scenery)
    return page.figure


def _told(page: Page, x: float, found: Pruned, scenery: Scenery) -> None:
    """Say what the smaller program finds."""
    scene = of_graph(scenery.graph(found.question.scene_id))
    objects = set_values(found.smaller, scene)[found.smaller[-1].dependencies[0]]
    n = objects.bit_count() if isinstance(objects, int) else len(objects)
    which = "one object, and gives" if n == 1 else f"{n} objects, which all give"
    told = f"The effective program finds {which} the same answer: {found.question.answer}."
    page.write(x, EDGE + OVER, "\n".join(textwrap.wrap(told, 26)), fontsize=8.5, color=style.SOFT, linespacing=1.4)


def _pruned(inputs: Inputs, scenery: Scenery) -> Iterator[Pruned]:
    """Chains that query an attribute by a relation and are answered by less."""
    asked = queries_with_relation(one(inputs, "dataset"))
    for scene_id, questions in groupby(asked, key=lambda question: question.scene_id):
        scene = of_graph(scenery.graph(scene_id))
        for question in questions:
            program = question.rows
            smaller = effective(program, scene, values(program, scene)[-1])
            if len(smaller) < len(program):
                yield Pruned(question, program, smaller)


def _cost(pruned: Pruned, scenery: Scenery) -> tuple:
    saved = len(pruned.program) - len(pruned.smaller)
    away = max(SAVED[0] - saved, saved - SAVED[1], 0)
    unseen = scenery.picture(pruned.question.scene_id) is None
    bare = all(row.operation.split("_")[0] != "filter" for row in pruned.smaller)
    return unseen, bare, away, len(pruned.question.text.split()), pruned.question.question_id
