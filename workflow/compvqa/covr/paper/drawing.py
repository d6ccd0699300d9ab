"""Subgraphs and scenes as drawings in a figure (Figures 2 and 3 of COVR)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from PIL import Image

from compvqa.covr.questions.references import matches
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.paper import style
from compvqa.paper.explorer.pictures import facts
from compvqa.paper.labels import Box, leader, settle
from compvqa.paper.scenery import framed, show
from compvqa.scenes.graph import SceneGraph

KINDS = {
    "ROOT": style.INK,
    "object": style.BLUE,
    "attribute": style.GREEN,
    "relation": style.ORANGE,
    "rel-mod": style.PURPLE,
}
RADIUS, ACROSS, DOWN = 0.36, 1.55, 1.25  # of a node, and between neighbours
NAME, MARGIN = 0.42, 0.15  # the height of a name, and what is left free around a drawing
PAD = 1.0  # points of colour around a name
MOST_FACTS, FACT = 9, 34  # lines of what is said of a scene without boxes, and characters of a line


@dataclass(frozen=True)
class Node:
    """A node of a drawn subgraph, placed: columns to the right, rows down."""

    kind: str
    name: str
    x: float
    y: float
    children: tuple[Node, ...]


def layout(g: Subgraph) -> Node:
    """The subgraph with its ROOT as placed nodes: each leaf in a row of its own, each parent level with the middle."""
    rows = iter(range(1000))

    def place(kind: str, name: str, depth: int, below: list) -> Node:
        children = tuple(place(kind, name, depth + 1, more) for kind, name, more in below)
        y = (children[0].y + children[-1].y) / 2 if children else DOWN * next(rows)
        return Node(kind, name, ACROSS * depth, y, children)

    return place("ROOT", "", 0, [_object(g)])


def _object(g: Subgraph) -> tuple[str, str, list]:
    below: list = [("attribute", g.attribute, [])] if g.attribute else []
    for edge in g.edges:
        modifiers: list = [("rel-mod", m.name, [("object", m.noun, [])]) for m in edge.modifiers]
        below.append(("relation", edge.name, [_object(edge.target), *modifiers]))
    return "object", g.name, below


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in node.children:
        yield from walk(child)


def extent(node: Node) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a drawing with its names, in its own units."""
    right, bottom = max(n.x for n in walk(node)), max(n.y for n in walk(node))
    around = RADIUS + MARGIN
    return -around, right + around, -around - NAME, bottom + around


def draw_subgraph(ax: Axes, node: Node, size: float = 9.0) -> None:
    """Draw a placed subgraph: kinds inside the circles, names above them; ``size``: of the names, in points."""
    for parent in walk(node):
        for child in parent.children:
            ax.plot([parent.x, child.x], [parent.y, child.y], color=style.SOFT, lw=1.1, zorder=1)
        color = KINDS[parent.kind]
        ax.add_patch(Circle((parent.x, parent.y), RADIUS, facecolor=color, edgecolor="white", lw=1.5, zorder=2))
        inside = parent.kind.replace("rel-mod", "rel-\nmod").replace("attribute", "attri-\nbute")
        look: dict[str, Any] = {
            "ha": "center",
            "color": "white",
            "fontsize": 0.76 * size,
            "linespacing": 0.95,
            "zorder": 3,
        }
        ax.text(parent.x, parent.y, inside, va="center", **look)
        if parent.name:
            above: dict[str, Any] = {
                "ha": "center",
                "va": "bottom",
                "fontsize": size,
                "zorder": 4,
                "fontweight": "bold",
            }
            back = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
            text = f"“{style.shortened(parent.name, 18)}”"
            ax.text(parent.x, parent.y - RADIUS - 0.06, text, color=color, bbox=back, **above)
    left, right, top, bottom = extent(node)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    ax.set_aspect("equal")
    ax.set_axis_off()


def draw_scene(
    ax: Axes,
    graph: SceneGraph,
    frame: Mapping[str, Any],
    path: Path | None,
    bound: frozenset[str],
    color: str,
) -> None:
    """Draw a scene's image with the ``bound`` objects boxed and named; without an image all annotated boxes,
    without boxes the annotations as text. ``frame``: the scene's row of the scenes table; ``path``: of its image."""
    boxed = [(thing, thing.box) for thing in graph.objects.values() if thing.box is not None]
    framed(ax)
    if path is None and not boxed:
        lines = [part for line in facts(graph) for part in textwrap.wrap(style.plain(line), FACT)]
        told = "\n".join([*lines[:MOST_FACTS], *["…"] * (len(lines) > MOST_FACTS)])
        look: dict[str, Any] = {"va": "top", "fontsize": 8, "color": style.SOFT, "linespacing": 1.4}
        ax.text(0.04, 0.95, told, transform=ax.transAxes, **look)
        return
    width, height = _extent(frame, path, [box for _, box in boxed])
    show(ax, path, width, height)
    ax.set_aspect("equal")
    ax.set_anchor("NW")
    named = [(thing, box) for thing, box in boxed if thing.object_id in bound]
    if path is None:
        for _, box in boxed:
            _box(ax, box, style.LINE, 0.7)
    for _, box in named:
        _box(ax, box, color, 1.6)
    _name(ax, [(thing.name, box) for thing, box in named], [box for _, box in boxed], (0, 0, width, height), color)


def _extent(frame: Mapping[str, Any], path: Path | None, boxes: Sequence[Box]) -> tuple[float, float]:
    """The size of a scene's image: as the scene says, else as its picture has it, else up to where its boxes reach."""
    if frame["width"] and frame["height"]:
        return float(frame["width"]), float(frame["height"])
    if path is not None and not boxes:
        with Image.open(path) as picture:
            return picture.size
    return max(x + w for x, _, w, _ in boxes), max(y + h for _, y, _, h in boxes)


def _name(ax: Axes, named: Sequence[tuple[str, Box]], things: Sequence[Box], scene: Box, color: str) -> None:
    """Write the names of boxes beside them, over none of the ``things`` of the scene where there is room."""
    back = {"facecolor": color, "edgecolor": "none", "pad": PAD}
    look: dict[str, Any] = {"fontsize": 6.5, "color": "white", "bbox": back, "zorder": 4}
    texts = [ax.text(0, 0, style.shortened(name, 16), **look) for name, _ in named]
    found = settle(ax, texts, [box for _, box in named], things, scene, PAD)
    for label, (_, box) in zip(found, named, strict=True):
        ax.plot(*zip(*leader(label, box), strict=True), color=color, lw=0.8, zorder=3)


def _box(ax: Axes, box: Box, color: str, width: float) -> None:
    x, y, w, h = box
    ax.add_patch(Rectangle((x, y), w, h, fill=False, edgecolor=color, lw=width))


def bound(scene: SceneGraph, g: Subgraph) -> frozenset[str]:
    """The ids of the objects of one place where the scene holds ``g``; empty where it does not."""
    roots = matches(scene, g)
    return frozenset(_bound(scene, g, roots[0])) if roots else frozenset()


def _bound(scene: SceneGraph, g: Subgraph, root: str) -> Iterator[str]:
    yield root
    for edge in g.edges:
        targets = matches(scene, edge.target)
        wanted = {(m.name, m.noun) for m in edge.modifiers}
        for relation in scene.outgoing.get(root, ()):
            held = {(name, scene.objects[other].name): other for name, other in relation.modifiers}
            if relation.name == edge.name and relation.object_id in targets and wanted <= held.keys():
                yield from _bound(scene, edge.target, relation.object_id)
                yield from (held[key] for key in sorted(wanted))
                break
