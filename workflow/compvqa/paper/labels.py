"""Where the names of boxed objects stand in a drawn scene: near their boxes, over no object where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text

Box = tuple[float, float, float, float]  # left, top, width and height
STEPS = 24  # places that are tried in each direction of the scene, besides those at the box's own edges
BACKGROUND = 0.5  # share of the scene from which on a thing is behind all others, and may be covered
OVER, ON = 8.0, 30.0  # what a name costs that is all over a thing, or over a name; a scene's width from its box costs 1


def settle(
    ax: Axes, texts: Sequence[Text], boxes: Sequence[Box], things: Sequence[Box], scene: Box, pad: float
) -> list[Box]:
    """Move the names of boxes (:func:`places`), whose background is ``pad`` points larger; gives where they are.

    They are aligned by their upper left corners.
    """
    ax.apply_aspect()
    border = _units(ax, pad)
    found = places(boxes, [_size(ax, text, border) for text in texts], things, scene)
    for text, label in zip(texts, found, strict=True):
        text.set(x=label[0] + border, y=label[1] + border, ha="left", va="top")
    return found


def _size(ax: Axes, text: Text, border: float) -> tuple[float, float]:
    """The width and height of a name with its background, in the units of the axes."""
    extent = text.get_window_extent().transformed(ax.transData.inverted())
    return abs(extent.width) + 2 * border, abs(extent.height) + 2 * border


def _units(ax: Axes, points: float) -> float:
    """A length in points in the units of the axes."""
    start, end = ax.transData.inverted().transform([(0, 0), (points * ax.figure.dpi / 72, 0)])
    return float(end[0] - start[0])


def places(boxes: Sequence[Box], sizes: Sequence[tuple[float, float]], things: Sequence[Box], scene: Box) -> list[Box]:
    """Where the names of ``boxes``, of these ``sizes`` (width and height), are to stand in the ``scene``: for each the
    place that is over the least of ``things`` and of the names before, then nearest to its box."""
    whole = scene[2] * scene[3]
    seen = [thing for thing in things if thing[2] * thing[3] < BACKGROUND * whole]
    chosen: list[Box] = []
    for box, (w, h) in zip(boxes, sizes, strict=True):
        tried = np.array(list(_tried(box, w, h, scene)))
        cost = OVER * _covered(tried, [*seen, box]) + ON * _covered(tried, chosen) + _apart(tried, box) / scene[2]
        x, y, *_ = tried[int(np.argmin(cost.round(9)))]
        chosen.append((float(x), float(y), w, h))
    return chosen


def leader(label: Box, box: Box) -> tuple[tuple[float, float], tuple[float, float]]:
    """The shortest line from a name to its box: its ends, which are one where they touch."""
    x, y = (
        _nearest(label[at], label[at] + label[at + 2], box[at], box[at] + box[at + 2])
        for at in (0, 1)
    )  # fmt: skip
    return (x[0], y[0]), (x[1], y[1])


def _nearest(low: float, high: float, other_low: float, other_high: float) -> tuple[float, float]:
    """The points of two intervals that are nearest to each other; where they overlap the middle of what they share."""
    if high < other_low:
        return high, other_low
    if other_high < low:
        return low, other_high
    middle = (max(low, other_low) + min(high, other_high)) / 2
    return middle, middle


def _tried(box: Box, w: float, h: float, scene: Box) -> Iterator[Box]:
    """Places of a name in the scene: at the edges of its box, from outside and then from inside, and all over."""
    x, y, bw, bh = box
    across, down = [x, x + bw - w, x + (bw - w) / 2], [y, y + bh - h, y + (bh - h) / 2]
    edges = [(at, y - h) for at in across] + [(at, y + bh) for at in across]
    edges += [(x + bw, at) for at in down] + [(x - w, at) for at in down] + [(x, y + bh - h)]
    left, top, width, height = scene
    last = max(left, left + width - w), max(top, top + height - h)
    for at, to in edges:
        if left <= at <= last[0] and top <= to <= last[1]:
            yield at, to, w, h
    for to in np.linspace(top, last[1], STEPS):
        for at in np.linspace(left, last[0], STEPS):
            yield float(at), float(to), w, h


def _covered(tried: np.ndarray, boxes: Sequence[Box]) -> np.ndarray:
    """For each place the share of the name that is over boxes, one over another counted twice."""
    total = np.zeros(len(tried))
    for x, y, w, h in boxes:
        wide = np.minimum(tried[:, 0] + tried[:, 2], x + w) - np.maximum(tried[:, 0], x)
        high = np.minimum(tried[:, 1] + tried[:, 3], y + h) - np.maximum(tried[:, 1], y)
        total += np.clip(wide, 0, None) * np.clip(high, 0, None)
    return total / (tried[:, 2] * tried[:, 3])


def _apart(tried: np.ndarray, box: Box) -> np.ndarray:
    """How far each place is from the box."""
    x, y, w, h = box
    wide = np.maximum(x - tried[:, 0] - tried[:, 2], tried[:, 0] - x - w)
    high = np.maximum(y - tried[:, 1] - tried[:, 3], tried[:, 1] - y - h)
    return np.hypot(np.clip(wide, 0, None), np.clip(high, 0, None))
