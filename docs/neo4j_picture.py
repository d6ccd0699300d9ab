"""One question's graph as a picture, drawn from what a Neo4j server holds (docs/neo4j_page.py)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path as Curve
from PIL import Image

from compvqa.covr.subgraphs.search.neo4j.bolt import Server
from compvqa.paper import style
from compvqa.scenes.images import find_image

_QUESTION = """
MATCH (q:Question {dataset: $dataset, question_id: $question})
RETURN q.text AS text, q.answer AS answer, q.template AS template
"""
_SCENES = """
MATCH (q:Question {dataset: $dataset, question_id: $question})-[a:ABOUT]->(s:Scene)-[:CONTAINS]->(o:Object)
RETURN s.scene_id AS scene_id, s.image AS image, a.place AS place, a.contains AS contains, o.object_id AS object_id,
    o.name AS name, o.attributes AS attributes, EXISTS { (q)-[:FOCUS]->(o) } AS focus ORDER BY place, object_id
"""
_BETWEEN = """
MATCH (:Question {dataset: $dataset, question_id: $question})-[:ABOUT]->(s:Scene)-[:CONTAINS]->(a:Object)
MATCH (a)-[r:RELATION]->(b:Object)
RETURN s.scene_id AS scene_id, a.object_id AS subject, r.name AS name, b.object_id AS object
ORDER BY scene_id, subject, object, name
"""
# In inches
WIDTH, ROW, TOP = 12.6, 2.55, 0.35
CARD = 0.2, 2.75  # left edge and width of the question
SHOT = 4.1, 2.0, 1.5  # left edge, width and height of an image
PANEL = 6.55, 5.85, 2.05  # left edge, width and height of what a scene contains
RADIUS = 0.17


def draw(server: Server, dataset: str, question: str, images: Mapping[str, Path], out: Path) -> None:
    """Draw the question's graph into the PNG ``out``; ``images``: folder of image files by image space."""
    at = {"dataset": dataset, "question": question}
    [asked] = server.read(_QUESTION, **at)
    things, between = server.read(_SCENES, **at), server.read(_BETWEEN, **at)
    scenes = {row["scene_id"]: row for row in things}
    height = TOP + ROW * len(scenes) + 0.35
    with style.applied():
        figure = Figure(figsize=(WIDTH, height), layout="none")
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        ax.set_axis_off()
        middle = 0.35 + ROW * len(scenes) / 2
        _card(ax, asked, middle)
        for number, scene in enumerate(scenes.values()):
            y = height - TOP - ROW * (number + 0.5)
            mine = [row for row in things if row["scene_id"] == scene["scene_id"]]
            inside = [row for row in between if row["scene_id"] == scene["scene_id"]]
            _scene(ax, scene, find_image(scene["image"], images), y, middle + (y - middle) * 0.2)
            _objects(ax, mine, inside, y, middle + (y - middle) * 0.2)
        figure.savefig(out, dpi=150, facecolor="white")


def _card(ax: Axes, asked: dict, y: float) -> None:
    """The question, to the left of all of its scenes."""
    lines = textwrap.wrap(asked["text"], 30)
    tall = 1.05 + 0.22 * len(lines)
    _box(ax, CARD[0], y - tall / 2, CARD[1], tall, style.INK, "white")
    x, top = CARD[0] + 0.18, y + tall / 2
    ax.text(x, top - 0.2, f"Question · {asked['template']}", va="top", fontsize=8.5, color="#aeb6c4")
    ax.text(x, top - 0.45, "\n".join(lines), va="top", fontsize=11, color="white", linespacing=1.35)
    ax.text(x, top - tall + 0.2, f"answer: {asked['answer']}", fontsize=10.5, color="#8fc1ff", fontweight="bold")


def _scene(ax: Axes, scene: dict, path: Path | None, y: float, start: float) -> None:
    """A scene's image and the relationships ABOUT and CONTAINS."""
    x, w, h = SHOT
    y -= 0.12
    color = {True: style.GREEN, False: style.ORANGE}.get(scene["contains"], style.SOFT)
    told = {True: "contains: true", False: "contains: false, a distractor"}.get(scene["contains"], "")
    right = CARD[0] + CARD[1]
    line = {"arrowstyle": "-|>", "mutation_scale": 12, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    bend = "arc3,rad=0" if abs(y - start) < 0.1 else f"arc3,rad={0.12 if y < start else -0.12}"
    ax.add_patch(FancyArrowPatch((right, start), (x, y), color=color, connectionstyle=bend, **line))
    label = {"ha": "center", "va": "center", "fontsize": 7.6, "color": color, "zorder": 5}
    back = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    ax.text((right + x) / 2, (start + y) / 2, f"ABOUT\nplace {scene['place']}", bbox=back, linespacing=1.25, **label)
    ax.add_patch(Rectangle((x, y - h / 2), w, h, facecolor="#f5f7fa", edgecolor=color, lw=2.4, zorder=3))
    if path is not None:
        with Image.open(path) as image:
            ax.imshow(image.convert("RGB"), extent=(x, x + w, y - h / 2, y + h / 2), aspect="auto", zorder=2.5)
        ax.patches[-1].set_facecolor("none")
    ax.text(x, y - h / 2 - 0.09, f"Scene {scene['scene_id']}", va="top", fontsize=7.6, color=style.SOFT)
    ax.text(x, y + h / 2 + 0.08, told, fontsize=7.6, color=color, fontweight="bold")
    ax.add_patch(FancyArrowPatch((x + w, y), (PANEL[0], y), color=style.PAPER, **line))


def _objects(ax: Axes, things: list[dict], between: list[dict], y: float, start: float) -> None:
    """A scene's objects and relations in a panel, and FOCUS from the question to some of them."""
    left, wide, tall = PANEL
    _box(ax, left, y - 0.12 - tall / 2, wide, tall, "#f5f7fa", style.LINE)
    ax.text(
        left + wide - 0.12, y - 0.12 + tall / 2 - 0.1, "CONTAINS", va="top", ha="right", fontsize=7.2, color=style.PAPER
    )
    places = _placed(things, between, left, wide, y - 0.12, tall)
    for pair in sorted({(row["subject"], row["object"]) for row in between}):
        names = [row["name"] for row in between if (row["subject"], row["object"]) == pair]
        _relation(ax, places[pair[0]], places[pair[1]], names)
    for thing in things:
        x, at = places[thing["object_id"]]
        color = style.BLUE if thing["focus"] else "#aab4c2"
        ax.add_patch(Circle((x, at), RADIUS, facecolor=color, edgecolor="white", lw=1.5, zorder=4))
        look = {"ha": "center", "va": "top", "zorder": 6, "linespacing": 1.15}
        words = "\n".join(textwrap.wrap(", ".join(thing["attributes"] or []), 18))
        ax.text(x, at - RADIUS - 0.03, thing["name"], fontsize=8.6, fontweight="bold", **look)
        ax.text(x, at - RADIUS - 0.18, words, fontsize=6.8, color=style.SOFT, **look)
        if thing["focus"]:
            above = y + 0.5 * SHOT[2] + 0.28
            back = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            ax.text(SHOT[0] + SHOT[1], above, "FOCUS", fontsize=7.2, color=style.BLUE, bbox=back, zorder=5, va="center")
            _focus(ax, (CARD[0] + CARD[1], start + 0.12), above - 0.1, (x, at))


def _placed(things: list[dict], between: list[dict], left: float, wide: float, y: float, tall: float) -> dict:
    """Where the objects stand: those that are related near each other, spread over the panel."""
    graph = nx.Graph()
    graph.add_nodes_from(thing["object_id"] for thing in things)
    graph.add_edges_from((row["subject"], row["object"]) for row in between)
    found = nx.kamada_kawai_layout(graph) if len(things) > 1 else {things[0]["object_id"]: (0, 0)}
    ids = [thing["object_id"] for thing in things]
    xy = np.array([found[one] for one in ids])
    pairs = [(ids.index(row["subject"]), ids.index(row["object"])) for row in between]
    corner = np.array([left + 0.65, y - tall / 2 + 0.62])
    spins = [_spread(xy, angle, np.array([wide - 1.3, tall - 1.05])) for angle in np.linspace(0, np.pi, 90)]
    best = max(spins, key=lambda spun: _apart(spun, pairs))
    return {one: tuple(corner + at) for one, at in zip(ids, best, strict=True)}


def _spread(xy: np.ndarray, angle: float, room: np.ndarray) -> np.ndarray:
    """The places turned by ``angle``, and spread over the room."""
    turned = xy @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    span = np.ptp(turned, axis=0)
    return np.where(span < 1e-6, room / 2, (turned - turned.min(axis=0)) / np.maximum(span, 1e-6) * room)


def _apart(xy: np.ndarray, pairs: list[tuple[int, int]]) -> float:
    """The least distance between two of: objects, their names below them, and the middles of relations."""
    middles = [(xy[a] + xy[b]) / 2 for a, b in {tuple(sorted(pair)) for pair in pairs}]
    points = np.array([*xy, *(xy - (0, 0.35)), *middles])
    near = np.linalg.norm((points[:, None] - points[None]) / (1.6, 1), axis=-1)
    own = np.arange(len(xy))
    near[own, own + len(xy)] = near[own + len(xy), own] = np.inf
    np.fill_diagonal(near, np.inf)
    return float(near.min())


def _relation(ax: Axes, start: tuple, end: tuple, names: list[str]) -> None:
    line = {"arrowstyle": "-|>", "mutation_scale": 9, "lw": 1.1, "shrinkA": 13, "shrinkB": 13}
    ax.add_patch(FancyArrowPatch(start, end, color=style.ORANGE, zorder=3, **line))
    back = {"facecolor": "#f5f7fa", "edgecolor": "none", "pad": 0.8, "alpha": 0.9}
    look = {"ha": "center", "va": "center", "fontsize": 7.2, "color": "#a8621d", "bbox": back, "zorder": 3.5}
    ax.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, "\n".join(names), **look)


def _focus(ax: Axes, start: tuple, above: float, end: tuple) -> None:
    """A dashed line over the image to an object."""
    bend = [start, (SHOT[0] - 0.2, above + 0.1), (SHOT[0] + 0.6, above + 0.1), (SHOT[0] + SHOT[1] * 0.7, above + 0.1)]
    bend += [(SHOT[0] + SHOT[1] + 0.9, above + 0.1), (end[0] - 0.6, end[1] + 0.55), (end[0] - 0.09, end[1] + 0.15)]
    path = Curve(bend, [Curve.MOVETO, *[Curve.CURVE4] * 6])
    ax.add_patch(PathPatch(path, facecolor="none", edgecolor=style.BLUE, lw=1.3, ls=(0, (4, 2)), zorder=3.8))


def _box(ax: Axes, x: float, y: float, w: float, h: float, color: str, edge: str) -> None:
    rounded = "round,pad=0,rounding_size=0.12"
    ax.add_patch(FancyBboxPatch((x, y), w, h, boxstyle=rounded, facecolor=color, edgecolor=edge, lw=1.0, zorder=1))
