"""A stand-in for an object detector on drawn images: where it would put its boxes.

The truth only places the boxes. What is in them the encoder has to see in the pixels.
"""

from __future__ import annotations

from random import Random

import numpy as np

from compvqa.features.settings import DetectorSettings
from compvqa.seeds import generator

SMALLEST = 4.0  # pixels


def detect(
    image: str, boxes: np.ndarray, size: tuple[float, float], settings: DetectorSettings, seed: int
) -> np.ndarray:
    """Boxes [k, 4] (x, y, w, h in pixels) that a detector might find in ``image`` of ``size`` (width, height), whose
    objects' true boxes are ``boxes``; at least one, at most ``settings.most_regions``, largest first. Depends on the
    seed and the image only.
    """
    draw = generator(seed, "detector", image)
    found = []
    for box in boxes.tolist():
        if draw.random() >= settings.missed:
            found.append(_jittered(box, settings.jitter, draw))
        if draw.random() < settings.partial:
            found.append(_part(box, draw))
    found += [_anywhere(size, draw) for _ in range(settings.background)]
    inside = [_inside(box, size) for box in found] or [(0.0, 0.0, *size)]
    inside.sort(key=lambda box: (-box[2] * box[3], box))
    return np.array(inside[: settings.most_regions], np.float32)


def _jittered(box: list[float], spread: float, draw: Random) -> list[float]:
    x, y, w, h = box
    left, right = x + draw.gauss(0, spread) * w, x + w + draw.gauss(0, spread) * w
    top, bottom = y + draw.gauss(0, spread) * h, y + h + draw.gauss(0, spread) * h
    return [left, top, right - left, bottom - top]


def _part(box: list[float], draw: Random) -> list[float]:
    """A corner of ``box``: 40 to 60 % of each side."""
    x, y, w, h = box
    part_w, part_h = w * draw.uniform(0.4, 0.6), h * draw.uniform(0.4, 0.6)
    return [x + draw.choice((0, 1)) * (w - part_w), y + draw.choice((0, 1)) * (h - part_h), part_w, part_h]


def _anywhere(size: tuple[float, float], draw: Random) -> list[float]:
    """A box of 10 to 40 % of each side of the image, at any place."""
    w, h = size[0] * draw.uniform(0.1, 0.4), size[1] * draw.uniform(0.1, 0.4)
    return [draw.uniform(0, size[0] - w), draw.uniform(0, size[1] - h), w, h]


def _inside(box: list[float] | tuple, size: tuple[float, float]) -> tuple[float, float, float, float]:
    """``box`` cut at the image's edges, at least ``SMALLEST`` wide and high."""
    x, y, w, h = box
    w, h = max(w, SMALLEST), max(h, SMALLEST)
    left, top = min(max(x, 0.0), size[0] - SMALLEST), min(max(y, 0.0), size[1] - SMALLEST)
    return left, top, max(min(x + w, size[0]) - left, SMALLEST), max(min(y + h, size[1]) - top, SMALLEST)
