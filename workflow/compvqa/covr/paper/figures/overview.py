"""Figure 2: how one question was made: its scene and subgraph, related images, distractors, program, answer."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from matplotlib.figure import Figure

from compvqa.covr.english import describe
from compvqa.covr.paper.drawing import draw_subgraph, extent, layout
from compvqa.covr.paper.examples import Related, by_id, differences, readable, related
from compvqa.covr.paper.page import Scenery
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.paper import style
from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.page import EDGE, GAP, WIDTH, Page
from compvqa.paper.reference import Reference
from compvqa.programs.printed import show
from compvqa.programs.rows import from_json

_READ = ["template", "text", "answer", "program", "tree", "seed", "start_scene", "scene_ids"]
SCENE, LINE = (3.3, 2.4), 0.175  # width and height of the start scene; height of a line of the program
SHAPE, CAPTION = 0.75, 0.8  # height to width of the other scenes; height of what is said above them
CHARACTERS = 46, 34  # of a line of the question, and above a scene
TITLE = {"fontweight": "bold", "fontsize": 10.5}
POSITIVE, DISTRACTOR = "#2d8a5f", "#c0622a"


def make(inputs: Inputs, reference: Reference) -> Figure:
    """The example is a readable question with many images that differ in several ways from its subgraph."""
    scenery = Scenery.of(inputs)
    question, near = example(inputs, scenery)
    if question is None:
        figure, (ax,) = style.new(6, 2)
        style.nothing_to_show(ax, "the dataset has no question")
        return figure
    return draw(question, near, scenery)


def example(inputs: Inputs, scenery: Scenery) -> tuple[dict | None, dict[str, Related]]:
    """The question to show and the scenes that were found for its seed."""
    dataset = one(inputs, "dataset")
    asked = frame(dataset, ["question_id", "text", "scene_ids"])
    most = asked["scene_ids"].map(len).max()
    best = readable(asked[asked["scene_ids"].map(len) == most].to_dict("records"), "overview")
    rows = by_id(dataset, _READ, [question["question_id"] for question in best])
    near = related(inputs, {row["seed"] for row in rows.values()})
    ordered = sorted(
        (rows[question["question_id"]] for question in best), key=lambda row: _cost(row, near[row["seed"]], scenery)
    )
    return (ordered[0], near[ordered[0]["seed"]]) if ordered else (None, {})


def _cost(row: dict, near: Mapping[str, Related], scenery: Scenery) -> tuple[int, ...]:
    """What speaks against an example: no relation, no other positive, distractors of one kind; no pictures."""
    shown = [near[scene_id] for scene_id in row["scene_ids"] if scene_id in near]
    plain = sum(scenery.plainness(scene_id) for scene_id in {row["start_scene"], *row["scene_ids"]})
    positives = sum(scene.contains for scene in shown)
    kinds = len({scene.key for scene in shown if not scene.contains})
    size = parse(row["tree"]).size
    return (size == 1) + (positives < 2) + (kinds < 2), plain, -min(kinds, 3), -min(size, 5)


def draw(question: dict, near: Mapping[str, Related], scenery: Scenery) -> Figure:
    """The parts of the figure: (a) above, (b) and (c) in one row, (d) below."""
    g, start = parse(question["tree"]), question["start_scene"]
    others = [scene_id for scene_id in question["scene_ids"] if scene_id != start]
    others.sort(key=lambda scene_id: not (scene_id in near and near[scene_id].contains))
    across = max(len(others), 4)
    width = (WIDTH - 2 * EDGE - (across - 1) * GAP) / across
    program = show(from_json(question["program"])).splitlines()
    top = 0.55 + SCENE[1]
    middle = top + CAPTION + SHAPE * width
    page = Page.new(middle + 0.6 + max(LINE * len(program), 1.2))
    whose = "A scene" if start in question["scene_ids"] else "A scene (not an image of the question)"
    page.write(EDGE, 0.1, f"(a) {whose}, and a part of its graph: “{describe(g)}”", **TITLE)
    scenery.draw(page.axes(EDGE, 0.45, *SCENE), start, g, style.BLUE)
    _draw_graph(page, g)
    for number, scene_id in enumerate(others):
        x = EDGE + number * (width + GAP)
        found, color, told = _told(g, near.get(scene_id))
        page.write(x, top + 0.18, told, color=color, fontsize=9, fontweight="bold", linespacing=1.25)
        scenery.draw(page.axes(x, top + CAPTION, width, SHAPE * width), scene_id, found, color)
    _write_question(page, middle + 0.15, question, program)
    return page.figure


def _write_question(page: Page, y: float, question: dict, program: list[str]) -> None:
    """The question and its answer to the left, its program to the right."""
    asked, right = textwrap.wrap(question["text"], CHARACTERS[0]), 0.46 * WIDTH
    page.write(EDGE, y, "(d) A question", **TITLE)
    page.write(EDGE, y + 0.3, "\n".join(asked), fontsize=11, linespacing=1.3)
    answer = {"fontsize": 11, "fontweight": "bold", "color": style.BLUE}
    page.write(EDGE, y + 0.45 + 0.21 * len(asked), f"answer: {question['answer']}", **answer)
    page.write(right, y, f"its program ({question['template']})", **TITLE)
    page.write(right, y + 0.3, "\n".join(program), family="DejaVu Sans Mono", fontsize=7.6, linespacing=1.38)


def _draw_graph(page: Page, g: Subgraph) -> None:
    """The subgraph to the right of the start scene, as large as there is room, at most as in Figure 3."""
    node = layout(g)
    left, right, top, bottom = extent(node)
    x = EDGE + SCENE[0] + 0.4
    inch = min((WIDTH - x - EDGE) / (right - left), SCENE[1] / (bottom - top), 0.92)
    w, h = inch * (right - left), inch * (bottom - top)
    draw_subgraph(page.axes(x, 0.45 + (SCENE[1] - h) / 2, w, h), node, size=10 * inch)


def _told(g: Subgraph, scene: Related | None) -> tuple[Subgraph | None, str, str]:
    """What of ``g`` a scene holds, its colour, and what is said above it."""
    if scene is None:
        return None, style.SOFT, "another image"
    if scene.contains:
        return g, POSITIVE, "(b) an image that holds it too"
    what = ", ".join(differences(g, scene)) or "only one of them"
    lines = textwrap.wrap(what, CHARACTERS[1], max_lines=2, placeholder=" …")
    return scene.subgraph(g), DISTRACTOR, "\n".join(["(c) a distractor:", *lines])
