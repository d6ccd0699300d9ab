"""Figure 1: a compositional split: train questions that have parts of what only a test question has together."""

from __future__ import annotations

import textwrap

from matplotlib.figure import Figure

from compvqa.covr.paper.composition import composition, question_of
from compvqa.covr.paper.page import Scenery
from compvqa.covr.properties import held
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.paper import style
from compvqa.paper.data import Inputs, plain
from compvqa.paper.page import EDGE, GAP, WIDTH, Page
from compvqa.paper.reference import Reference
from compvqa.paper.splits import read_splits

ACROSS, SHAPE = 5, 0.75  # pictures in a row, height to width of each
WORDS, BELOW = 0.58, 0.3  # height of what is said above a row of pictures, and what is free below it
TITLE, CHARACTERS = 0.45, 96  # height of the title; of a line of a question
TRAIN, TEST = style.BLUE, style.ORANGE


def make(inputs: Inputs, reference: Reference) -> Figure:
    """The example of the first of ``options.splits`` that has one: a row of pictures a question."""
    splits = {plain(split.name): split for split in read_splits(inputs, "zero-shot")}
    for name in reference.options["splits"]:
        split = splits.get(plain(name))
        found = composition(inputs, split) if split else None
        if split and found:
            return draw(split.title, found.train, found.test, Scenery.of(inputs))
    figure, (ax,) = style.new(6, 2)
    style.nothing_to_show(ax, "none of the splits that may be shown has test questions")
    return figure


def draw(title: str, train: tuple[dict, ...], test: dict, scenery: Scenery) -> Figure:
    """Train questions above, the test question below."""
    width = (WIDTH - 2 * EDGE - (ACROSS - 1) * GAP) / ACROSS
    height = WORDS + SHAPE * width + BELOW
    page = Page.new(TITLE + height * (len(train) + 1))
    page.write(EDGE, 0.1, f"The split {title}", fontweight="bold", fontsize=11.5)
    asked = set(held(question_of(test)))
    for number, row in enumerate([*train, test]):
        top = TITLE + number * height
        side, color = ("Test", TEST) if row is test else ("Train", TRAIN)
        page.write(EDGE, top, side, color=color, fontsize=11, fontweight="bold")
        text = textwrap.shorten(row["text"], CHARACTERS, placeholder=" …")
        page.write(EDGE + 0.6, top, f"Q: {text}   A: {row['answer']}", fontsize=11)
        has = [name for name in held(question_of(row)) if name in asked]
        page.write(EDGE + 0.6, top + 0.28, ", ".join(has), color=style.SOFT, fontsize=9)
        g = parse(row["tree"])
        for place, scene_id in enumerate(row["scene_ids"]):
            x = EDGE + place * (width + GAP)
            told = g if scenery.plainness(scene_id) else None  # a picture needs no boxes
            scenery.draw(page.axes(x, top + WORDS, width, SHAPE * width), scene_id, told, color)
    return page.figure
