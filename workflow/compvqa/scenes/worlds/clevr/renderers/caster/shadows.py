"""Shadows on the ground: of a convex solid and one sample of a lamp a polygon, filled with smooth edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from compvqa.scenes.worlds.clevr.shapes import Solid
from compvqa.scenes.worlds.clevr.studio import Camera

CORNERS = 56  # of a shadow's outline
FINER = 2  # times as many pixels each way are filled as are kept
NEAR = 0.5  # in front of the camera: what is nearer is cut off
REACH = 9.0  # the map of the ground goes so far from the origin each way


def outlines(solid: Solid, samples: np.ndarray) -> np.ndarray:
    """The shadows' outlines on the ground, one for each sample of a lamp: (samples, corners, 2), x and y."""
    points = solid.surface().astype(np.float32)
    lamps = samples.T.astype(np.float32)[:, :, None]  # samples, 3, 1
    height = np.minimum(points[2], lamps[:, 2] - np.float32(0.05))  # a lamp below a solid's top throws a long shadow
    grow = lamps[:, 2] / (lamps[:, 2] - height)
    shadow = lamps[:, :2] + (points[None, :2] - lamps[:, :2]) * grow[:, None]
    angles = np.arange(CORNERS) * (2 * np.pi / CORNERS)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    far = ways[:, :1] * shadow[:, None, 0]  # samples, ways, points
    far += ways[:, 1:] * shadow[:, None, 1]
    farthest = far.argmax(-1)  # of all points along each way: the hull's corners, in order
    return np.take_along_axis(shadow, farthest[:, None], 2).transpose(0, 2, 1)


def shaded(outlines: Sequence[Sequence[np.ndarray] | np.ndarray], width: int, height: int, finer: int) -> np.ndarray:
    """The share of samples that reach each pixel (height, width).

    ``outlines`` has for each solid and sample the corners (n, 2) of a shadow, in pixels.
    """
    many = len(outlines[0]) if outlines else 0
    if not many:
        return np.ones((height, width), np.float32)
    total = np.zeros((height * finer, width * finer), np.uint8)
    for sample in range(many):
        canvas = Image.new("L", (width * finer, height * finer))
        draw = ImageDraw.Draw(canvas)
        for outline in outlines:
            corners = outline[sample]
            if len(corners) > 2:
                draw.polygon((corners * finer - 0.5).ravel().tolist(), fill=1)
        total += np.asarray(canvas)
    summed: Any = sum(
        total[i::finer, j::finer] for i in range(finer) for j in range(finer)
    )  # at most 4 * 63: bytes hold it
    return 1 - summed * np.float32(1 / (many * finer * finer))


def in_picture(camera: Camera) -> Callable[[np.ndarray], list[np.ndarray]]:
    """Moves outlines on the ground to the picture; what lies behind the camera is cut off."""
    right, down, into = camera.axes
    base = np.asarray(camera.place)

    def place(outline: np.ndarray) -> list[np.ndarray]:
        x, y = outline[..., 0] - base[0], outline[..., 1] - base[1]
        seen = np.stack([axis[0] * x + axis[1] * y - axis[2] * base[2] for axis in (right, down, into)], axis=-1)
        if (seen[..., 2] < NEAR).any():
            return [_pixels(_cut(corners), camera) for corners in seen]
        return list(_pixels(seen, camera))

    return place


def on_map(outline: np.ndarray, texels: int) -> np.ndarray:
    """Moves outlines on the ground to a map with so many texels a side."""
    return (outline + REACH) * (texels / (2 * REACH))


def _pixels(seen: np.ndarray, camera: Camera) -> np.ndarray:
    middle = np.array([camera.width / 2, camera.height / 2])
    return np.clip(middle + camera.focal * seen[..., :2] / seen[..., 2:], -1e4, 1e4)


def _cut(corners: np.ndarray) -> np.ndarray:
    """A polygon without what is nearer than NEAR."""
    kept = []
    for one, other in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if one[2] >= NEAR:
            kept.append(one)
        if (one[2] >= NEAR) != (other[2] >= NEAR):
            kept.append(one + (other - one) * (NEAR - one[2]) / (other[2] - one[2]))
    return np.array(kept).reshape(-1, 3)
