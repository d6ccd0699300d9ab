"""CLEVR's world in a figure: a picture with the names of its objects, the directions of relations, the attributes."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.patches import Circle

from compvqa import tables
from compvqa.clevr.language import GROUPS
from compvqa.clevr.paper.drawing import middle
from compvqa.clevr.paper.examples import Scenery
from compvqa.clevr.trace import called
from compvqa.paper import style
from compvqa.paper.labels import Box, settle
from compvqa.paper.page import EDGE, Page
from compvqa.paper.scenery import framed, show
from compvqa.scenes.graph import SceneGraph, Space
from compvqa.scenes.tables import ATTRIBUTES, OBJECTS
from compvqa.scenes.worlds.clevr.settings import Look
from compvqa.seeds import stable_hash

TITLE = {"fontweight": "bold", "fontsize": 10.5}
SMALL = {"fontsize": 8}
PICTURE = (3.3, 2.2)  # inches
BELOW = EDGE + 0.3 + PICTURE[1] + 1.17  # where the attributes begin
CROWD = 4, 6  # objects of a picture in which names have room
SWATCH = 0.075  # inches
PAD, AROUND = 1.0, 6  # points of background around a name; pixels of a box around a centre, to each side


def draw_world(page: Page, scenery: Scenery, scene_id: str, found: dict[str, dict[str, int]]) -> None:
    """Draw at the page's left edge the picture of a scene (none where its id is "") with its objects' names, the
    directions of relations, and how many objects have each attribute (:func:`attributes`)."""
    page.write(EDGE, EDGE, "Objects, attributes and relations", **TITLE)
    if scene_id:
        ax = page.axes(EDGE, EDGE + 0.3, *PICTURE)
        graph, size = scenery.graph(scene_id), scenery.size(scene_id)
        space = graph.space or Space({}, {}, {})
        framed(ax)
        show(ax, scenery.picture(scene_id), *size)
        _names(ax, graph, size)
        _compass(page, EDGE + 0.3 + PICTURE[1] + 0.12, space)
    y = BELOW
    n = sum(found["shape"].values())
    page.write(
        EDGE,
        y,
        f"Attributes of the {n:,} objects in {scenery.store.scenes.num_rows:,} scenes",
        **SMALL,
        color=style.SOFT,
    )
    y += 0.24
    for group in GROUPS:
        y = _values(page, y, group, found[group])


def height(found: dict[str, dict[str, int]]) -> float:
    """How high the page must be, in inches."""
    return BELOW + 0.24 + sum(_high(of) for of in found.values()) + EDGE


def _high(found: dict[str, int]) -> float:
    """The height of a group's attributes, of which two are in a row."""
    return 0.2 * -(-len(found) // 2) + 0.1


def shown_scene(scenery: Scenery) -> str:
    """The id of a scene with a picture, as far as there is one, and with few objects far from each other; "" without
    scenes."""
    ids = scenery.store.scenes["scene_id"].to_pylist()
    tried = sorted(ids, key=lambda scene_id: stable_hash("guide", scene_id))[:300]

    def cost(scene_id: str) -> tuple:
        graph = scenery.graph(scene_id)
        away = max(CROWD[0] - len(graph.objects), len(graph.objects) - CROWD[1], 0)
        rows = sorted(_top(graph, object_id) for object_id in graph.objects) if graph.space else []
        least = min((after - before for before, after in pairwise(rows)), default=0)
        return scenery.picture(scene_id) is None, away, -least

    return min(tried, key=cost, default="")


def _top(graph: SceneGraph, object_id: str) -> float:
    """The row of pixels in which an object begins, or else that of its middle."""
    box, space = graph.objects[object_id].box, graph.space or Space({}, {}, {})
    return box[1] if box else middle(box, space.centres[object_id])[1]


def _names(ax: Axes, graph: SceneGraph, size: tuple[int, int]) -> None:
    """Write each object's words beside it, over no object where there is room."""
    words = {object_id: name.rpartition(" ")[0] for object_id, name in called(graph).items()}
    boxes = [graph.objects[object_id].box or _around(graph, object_id) for object_id in words]
    back = {"facecolor": "white", "edgecolor": "none", "alpha": 0.82, "pad": PAD}
    texts = [ax.text(0, 0, told, fontsize=5.6, bbox=back) for told in words.values()]
    settle(ax, texts, boxes, boxes, (0, 0, *size), PAD)


def _around(graph: SceneGraph, object_id: str) -> Box:
    """A small box around the centre of an object whose own is not known."""
    x, y = (graph.space or Space({}, {}, {})).centres[object_id]
    return x - AROUND, y - AROUND, 2 * AROUND, 2 * AROUND


def _compass(page: Page, y: float, space: Space) -> None:
    """The directions of the relations as they lie in the picture; nothing where its objects don't tell."""
    directions = {name: vector[:2] for name, vector in space.directions.items() if any(vector[:2])}
    if (to_pixels := ground_to_pixels(space)) is None:
        return
    ax = page.axes(EDGE, y, 1.5, 0.9)
    ax.set_xlim(-1.5, 1.5)
    ax.set_ylim(0.9, -0.9)
    ax.set_axis_off()
    for name, vector in directions.items():
        arrow = vector[0] * to_pixels[0] + vector[1] * to_pixels[1]
        x, down = arrow / (np.abs(arrow).max() or 1) * (0.8, 0.5)
        ax.annotate("", (x, down), (0, 0), arrowprops={"arrowstyle": "-|>", "color": style.INK, "lw": 1.1})
        along, across = _side(down, "bottom", "top"), _side(x, "right", "left")
        ax.text(1.12 * x, 1.12 * down, name, fontsize=7.5, va=along, ha=across)
    told = "A thing stands in a relation to another if it lies further along the relation's direction on the ground."
    page.write(
        EDGE + 1.62, y + 0.12, "\n".join(textwrap.wrap(told, 30)), fontsize=7.5, color=style.SOFT, linespacing=1.3
    )


def ground_to_pixels(space: Space) -> np.ndarray | None:
    """How many pixels right and down a step along each axis of the ground goes [2, 2], by the affine map that takes the
    objects' places to their centres; None of fewer than three objects, or of objects in a row, which tell of no map."""
    keys = sorted(space.places)
    ground = np.array([[*space.places[key][:2], 1.0] for key in keys]).reshape(-1, 3)
    if np.linalg.matrix_rank(ground, tol=1e-6) < 3:
        return None
    pixels = np.array([space.centres[key] for key in keys])
    steps: np.ndarray = np.linalg.lstsq(ground, pixels, rcond=None)[0][:2].round(6)  # last bits depend on the processor
    return steps


def _side(along: float, before: str, after: str) -> str:
    """How a text beside an arrow's head is aligned, by how far the arrow goes."""
    return before if along < -0.2 else after if along > 0.2 else "center"


def attributes(folder: Path) -> dict[str, dict[str, int]]:
    """By group the attributes of the objects in a folder of scene tables, with how many have each."""
    found: dict[str, dict[str, int]] = {group: {} for group in GROUPS}
    shapes = tables.read(folder / "objects.parquet", OBJECTS, ["name"])
    others = tables.read(folder / "attributes.parquet", ATTRIBUTES, ["group", "name"])
    told = [*_counted(shapes.append_column("group", pa.repeat("shape", len(shapes)))), *_counted(others)]
    for group, name, n in told:
        if group in found:
            found[group][name] = n
    return found


def _counted(table: pa.Table) -> list[tuple[str, str, int]]:
    counts = table.group_by(["group", "name"]).aggregate([([], "count_all")])
    return [(row["group"], row["name"], row["count_all"]) for row in counts.to_pylist()]


def _values(page: Page, y: float, group: str, found: dict[str, int]) -> float:
    """Write a group's attributes with their numbers, colours with what they look like; gives where the next begins."""
    page.write(EDGE, y, f"{group}", fontsize=8.5, fontweight="bold")
    names = sorted(found, key=lambda name: (-found[name], name))
    for number, name in enumerate(names):
        x, down = EDGE + 0.75 + 1.3 * (number % 2), y + 0.2 * (number // 2)
        if group == "color":
            _swatch(page, x, down, name)
        page.write(x + 0.2 * (group == "color"), down, name, **SMALL)
        page.write(
            x + 0.2 * (group == "color") + 0.078 * len(name) + 0.06,
            down + 0.012,
            f"{found[name]:,}",
            fontsize=6.8,
            color=style.PAPER,
        )
    return y + _high(found)


def _swatch(page: Page, x: float, y: float, name: str) -> None:
    ax = page.axes(x, y - 0.01, 2 * SWATCH, 2 * SWATCH)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(-1.1, 1.1)
    ax.set_ylim(-1.1, 1.1)
    ax.add_patch(Circle((0, 0), 1, facecolor=_seen(name), edgecolor=style.SOFT, lw=0.5))


def _seen(name: str) -> object:
    """What a colour looks like: as it is drawn by default, else what the word means; white where nobody knows it."""
    known = Look().colors.get(name)
    return [byte / 255 for byte in known] if known else name if is_color_like(name) else "white"
