"""A scene as something to put on a page: its image, small and embedded, or a sketch of its annotations."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from compvqa.scenes.graph import Box as GraphBox
from compvqa.scenes.graph import Object, SceneGraph

MOST_LABELS = 14


@dataclass(frozen=True)
class Box:
    """An object of a sketch or picture: pixels of the scene, and whether the question names it."""

    object_id: str
    name: str
    x: float
    y: float
    w: float
    h: float
    named: bool
    label: bool


@dataclass(frozen=True)
class Picture:
    """What stands for a scene: ``uri`` (its image as a data URI), or ``boxes`` in a frame of ``width`` by
    ``height`` pixels, or, where there are no boxes either, ``facts`` (its annotations as text). An image may have
    boxes over it, which are seen where one points at it."""

    scene_id: str
    uri: str = ""
    width: float = 0
    height: float = 0
    boxes: tuple[Box, ...] = ()
    facts: tuple[str, ...] = ()


def embed(path: Path, max_side: int) -> str:
    """The image as a JPEG data URI, no side longer than ``max_side`` pixels."""
    with Image.open(path) as image:
        small = image.convert("RGB")
    small.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=88, subsampling=0, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def sketch(graph: SceneGraph, width: float | None, height: float | None, names: frozenset[str]) -> Picture:
    """The annotated boxes and names of a scene, those in ``names`` marked; text if it has no boxes."""
    boxed = _boxed(graph)
    if not boxed:
        return Picture(graph.scene_id, facts=facts(graph))
    width, height = _frame(boxed, width, height)
    order = sorted(boxed, key=lambda b: (b[0].name in names, -b[1][2] * b[1][3], b[0].object_id))
    labelled = sorted(order, key=lambda b: (b[0].name not in names, -b[1][2] * b[1][3], b[0].object_id))[:MOST_LABELS]
    keep = {thing.object_id for thing, _ in labelled}
    boxes = tuple(Box(b.object_id, b.name, *box, b.name in names, b.object_id in keep) for b, box in order)
    return Picture(graph.scene_id, width=width, height=height, boxes=boxes)


def over(uri: str, graph: SceneGraph, width: float | None, height: float | None, called: Mapping[str, str]) -> Picture:
    """A scene's image with the boxes of its objects over it, the small ones on top; ``called``: their labels by id."""
    boxed = _boxed(graph)
    if not boxed:
        return Picture(graph.scene_id, uri)
    order = sorted(boxed, key=lambda b: (-b[1][2] * b[1][3], b[0].object_id))
    boxes = tuple(Box(b.object_id, called.get(b.object_id, b.name), *box, False, True) for b, box in order)
    return Picture(graph.scene_id, uri, *_frame(boxed, width, height), boxes)


def _boxed(graph: SceneGraph) -> list[tuple[Object, GraphBox]]:
    """The objects that have boxes, with them."""
    return [(thing, thing.box) for thing in graph.objects.values() if thing.box is not None]


def _frame(boxed: Sequence[tuple[Object, GraphBox]], width: float | None, height: float | None) -> tuple[float, float]:
    """The width and height of a picture, or else of what holds all boxes."""
    return width or max(x + w for _, (x, _, w, _) in boxed), height or max(y + h for _, (_, y, _, h) in boxed)


def facts(graph: SceneGraph) -> tuple[str, ...]:
    """A scene's annotations as lines of text: its relations with their modifiers, then what else is there."""

    def called(object_id: str) -> str:
        thing = graph.objects[object_id]
        return " ".join([*sorted(thing.attributes), thing.name])

    lines, used = [], set()
    for relation in graph.relations:
        line = f"{called(relation.subject_id)} · {relation.name} · {called(relation.object_id)}"
        line += "".join(f" · {name} · {called(other)}" for name, other in relation.modifiers)
        lines.append(line)
        used |= {relation.subject_id, relation.object_id, *(other for _, other in relation.modifiers)}
    return (*lines, *(called(object_id) for object_id in sorted(graph.objects) if object_id not in used))
