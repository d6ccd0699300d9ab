"""Figure 2: a field guide: a picture with its objects and relations, two questions with programs, and the functions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from compvqa.clevr.language import GROUPS, LANGUAGE
from compvqa.clevr.paper.drawing import draw_program, extent
from compvqa.clevr.paper.examples import Question, Scenery, of_shape
from compvqa.clevr.paper.tables.functions import takes
from compvqa.clevr.paper.world import SMALL, TITLE, attributes, draw_world, height, shown_scene
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.page import EDGE, Page
from compvqa.paper.reference import Reference
from compvqa.programs.rows import Program, from_json

MIDDLE, RIGHT = 3.75, 8.9  # where the second and third part begin, in inches
CHAIN, TREE = (7, 10), (9, 13)  # functions of the two programs
CATALOG = 5.9  # height of the list of functions
OVER = 1.75  # inches above a program: its question and answer
CHARACTERS = 26, 46  # of a line of the question over a program of one, or two, branches


def make(inputs: Inputs, reference: Reference) -> Figure:
    """The left part is of the scenes, the middle of the dataset, the right of the language."""
    scenery, dataset = Scenery.of(inputs), one(inputs, "dataset")
    scene_id = shown_scene(scenery)
    asked = [of_shape(dataset, True, CHAIN, scene_id), of_shape(dataset, False, TREE, scene_id)]
    shown = [(question, from_json(question.program)) for question in asked if question]
    found = attributes(one(inputs, "scenes"))
    page = Page.new(max([height(found), CATALOG, *(OVER + extent(program)[1] + EDGE for _, program in shown)]))
    draw_world(page, scenery, scene_id, found)
    _questions(page, shown, scene_id)
    _catalog(page)
    return page.figure


def _questions(page: Page, shown: Sequence[tuple[Question, Program]], scene_id: str) -> None:
    """Each question with its answer above its program, and whether it is about another picture than the scene's."""
    x = MIDDLE
    page.write(x, EDGE, "Questions and their programs", **TITLE)
    if not shown:
        page.write(x, EDGE + 0.35, "The dataset has no question with a program.", **SMALL, color=style.SOFT)
    for question, program in shown:
        branches = extent(program)[0] > 2
        lines = textwrap.wrap(question.text, CHARACTERS[branches])
        told = f"a {'tree' if branches else 'chain'} of {len(program)} functions"
        told += ", about another picture" * (question.scene_id != scene_id)
        page.write(x, EDGE + 0.3, told, fontsize=8, color=style.SOFT)
        page.write(x, EDGE + 0.5, "\n".join(lines), fontsize=8.5, linespacing=1.3)
        answer = {"fontsize": 8.5, "fontweight": "bold", "color": style.BLUE}
        page.write(x, EDGE + 0.54 + 0.165 * len(lines), question.answer, **answer)
        draw_program(page, x, OVER, program)
        x += extent(program)[0] + 0.25
    if len(shown) == 1:  # the place of the other
        kind = "chain" if extent(shown[0][1])[0] > 2 else "tree"
        page.write(x, EDGE + 0.3, f"No question of this dataset is a {kind}.", fontsize=8, color=style.SOFT)


def _catalog(page: Page) -> None:
    """The functions with what they take and give; those of each attribute together."""
    x, y = RIGHT, EDGE
    page.write(x, y, "Functions", **TITLE)
    y += 0.33
    for name, signature in _functions():
        page.write(x, y, name, fontsize=7.5, family="DejaVu Sans Mono")
        page.write(x, y + 0.14, signature, fontsize=7, color=style.SOFT)
        y += 0.335


def _functions() -> Iterator[tuple[str, str]]:
    """The functions by name, four of one verb as one."""
    done = set()
    for operator in LANGUAGE.all_operators:
        verb, _, group = operator.name.partition("_")
        name, signature = operator.name, f"{takes(operator)} → {operator.output}"
        if group in GROUPS:
            name = f"{verb}_<attribute>"
            signature = signature.replace(f"an object's {group}", "attribute")
        if name not in done:
            done.add(name)
            yield name, signature
