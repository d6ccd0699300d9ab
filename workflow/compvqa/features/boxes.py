"""Which annotated object a region is of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from compvqa import tables
from compvqa.scenes.tables import OBJECTS, SCENES

MATCH = 0.5  # least intersection over union of a region and an annotated box that it is of


def annotated_boxes(folder: Path) -> dict[str, list[tuple[dict, tuple]]]:
    """The objects that have a box, and the box, by scene."""
    result = defaultdict(list)
    for row in tables.read(folder / "objects.parquet", OBJECTS).to_pylist():
        if row["x"] is not None:
            result[row["scene_id"]].append((row, (row["x"], row["y"], row["w"], row["h"])))
    return result


def true_boxes(folder: Path) -> Iterator[tuple[str, tuple[np.ndarray, tuple[float, float]]]]:
    """Each image with the boxes [k, 4] of its objects and its size (0 where it is not known), by the scene tables of a
    folder."""
    scenes = tables.read(folder / "scenes.parquet", SCENES, ["scene_id", "image", "width", "height"]).to_pylist()
    boxes = annotated_boxes(folder)
    for row in scenes:
        found = np.array([box for _, box in boxes[row["scene_id"]]], np.float32).reshape(-1, 4)
        yield row["image"], (found, (float(row["width"] or 0), float(row["height"] or 0)))


def match(boxes: np.ndarray, objects: Sequence[tuple[dict, tuple]]) -> list[dict | None]:
    """For each of ``boxes`` the annotated object that it is of: the one it overlaps most, None below ``MATCH``."""
    if not objects:
        return [None] * len(boxes)
    overlaps = intersection_over_union(boxes, np.array([box for _, box in objects], np.float32))
    best = overlaps.argmax(axis=1)
    return [objects[b][0] if overlaps[n, b] >= MATCH else None for n, b in enumerate(best.tolist())]


def covered(boxes: np.ndarray, others: np.ndarray, overlap: float, share: float) -> np.ndarray:
    """Which of ``boxes`` [n, 4] show one of ``others`` [m, 4]: their intersection over union is at least ``overlap``,
    or so large a ``share`` of the box lies in the other; bool [n]."""
    if not len(boxes) or not len(others):
        return np.zeros(len(boxes), bool)
    inside = _shared(boxes, others) / np.maximum(boxes[:, None, 2:].prod(axis=2), 1e-9)
    return ((intersection_over_union(boxes, others) >= overlap) | (inside >= share)).any(axis=1)


def intersection_over_union(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The overlap of each box of ``left`` [n, 4] with each of ``right`` [m, 4] (x, y, w, h): [n, m], 0 to 1."""
    shared = _shared(left, right)
    either = left[:, None, 2:].prod(axis=2) + right[None, :, 2:].prod(axis=2) - shared
    return shared / np.maximum(either, 1e-9)


def _shared(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The area that each box of ``left`` [n, 4] shares with each of ``right`` [m, 4]: [n, m]."""
    start = np.maximum(left[:, None, :2], right[None, :, :2])
    end = np.minimum((left[:, :2] + left[:, 2:])[:, None], (right[:, :2] + right[:, 2:])[None])
    return np.clip(end - start, 0, None).prod(axis=2)
