"""Figure 1: a compositional split: train questions that have parts of what only a test question has together.

What a train question has of the test question, words and properties, has its colour in both.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

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
COLORS, TEST = (style.BLUE, style.PURPLE), style.ORANGE  # of the train questions, and of the test question
# Words that say nothing of what is asked, so that they are nobody's.
LITTLE = {"", "a", "an", "the", "that", "is", "are", "of", "with", "in", "on", "to", "it", "there", "image", "images"}


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
    owner = owners(train, test)
    for number, row in enumerate([*train, test]):
        top = TITLE + number * height
        side, color = ("Test", TEST) if row is test else ("Train", COLORS[number % len(COLORS)])
        page.write(EDGE, top, side, color=color, fontsize=11, fontweight="bold")
        text = textwrap.shorten(row["text"], CHARACTERS, placeholder=" …")
        said = [("Q: ", style.INK), *colored(text, owner), (f"   A: {row['answer']}", style.INK)]
        page.write_pieces(EDGE + 0.6, top, said, 11)
        has = [name for name in held(question_of(row)) if name in held(question_of(test))]
        listed = [(f"{name}   ", owner.get(name, style.SOFT)) for name in has]
        page.write_pieces(EDGE + 0.6, top + 0.28, listed, 9)
        g = parse(row["tree"])
        for place, scene_id in enumerate(row["scene_ids"]):
            x = EDGE + place * (width + GAP)
            told = g if scenery.plainness(scene_id) else None  # a picture needs no boxes
            scenery.draw(page.axes(x, top + WORDS, width, SHAPE * width), scene_id, told, color)
    return page.figure


def owners(train: Sequence[dict], test: dict) -> dict[str, str]:
    """The colours of the words (their stems) and properties that the test question shares with train questions: of the
    first of these that has them."""
    asked = {*stems(test["text"]), *held(question_of(test))}
    colors: dict[str, str] = {}
    for number, row in enumerate(train):
        for name in {*stems(row["text"]), *held(question_of(row))} & asked:
            colors.setdefault(name, COLORS[number % len(COLORS)])
    return colors


def stems(text: str) -> set[str]:
    """The words of a text that say something, as :func:`stem` has them."""
    return {stem(word) for word in text.split()} - LITTLE


def stem(word: str) -> str:
    """A word without case, punctuation and the ending of a regular plural."""
    bare = re.sub(r"\W", "", word.lower())
    return bare if bare in LITTLE else re.sub(r"(?<=[xh])es$|(?<![su])s$", "", bare)


def colored(text: str, owner: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """A text in pieces with their colours, spaces with the word before."""
    words = [(word, owner.get(stem(word), style.INK)) for word in re.findall(r"\S+\s*", text)]
    for color, of in groupby(words, key=lambda one: one[1]):
        yield "".join(word for word, _ in of), color
