"""Where CLEVR's scenes stand: the base places of camera and lamps, and the directions that follow from the camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from compvqa.scenes.worlds.clevr.vectors import along, cross, unit

CAMERA = (7.48113, -6.50764, 5.34367)
FOCAL = 35 / 32  # focal length (mm) over sensor's width (mm): times the picture's width, in pixels


@dataclass(frozen=True)
class Lamp:
    """A square area lamp that is aimed at the origin: base place, watts, length of a side, colour (linear RGB)."""

    place: tuple[float, float, float]
    watts: float
    side: float
    color: tuple[float, float, float]


LAMPS = {
    "key": Lamp((6.447, -2.905, 4.258), 78.5, 0.5, (1, 0.932, 0.817)),
    "fill": Lamp((-4.671, -4.014, 3.011), 23.6, 0.5, (0.762, 0.818, 1)),
    "back": Lamp((-1.169, 2.646, 5.816), 39.3, 1.0, (1, 1, 1)),
}
SUN = 0.45  # watts a square metre
SUN_TURNED = (0.236, 0.417, 0.097)  # radians about x, y, z, of a sun that shines straight down before


@dataclass(frozen=True)
class Camera:
    """A camera at ``place`` that looks at the origin with z up; pictures are ``width`` x ``height`` pixels.

    Pixels are counted from the left upper corner of the picture, so that the first one's middle is (0.5, 0.5).
    """

    place: tuple[float, float, float]
    width: int
    height: int

    @property
    def focal(self) -> float:
        """Focal length in pixels."""
        return FOCAL * self.width

    @cached_property
    def axes(self) -> np.ndarray:
        """Rows: unit vectors to the picture's right, to its lower edge, and into it."""
        into = unit(-np.asarray(self.place, float))
        right = unit(cross(into, (0.0, 0.0, 1.0)))
        return np.stack([right, cross(into, right), into])

    def project(self, points: np.ndarray) -> np.ndarray:
        """Pixel x, pixel y, and depth along the camera's axis of ``points`` (3, …)."""
        moved = np.asarray(points, float) - np.reshape(self.place, (3,) + (1,) * (np.ndim(points) - 1))
        x, y, depth = along(self.axes, moved)
        return np.stack([self.width / 2 + self.focal * x / depth, self.height / 2 + self.focal * y / depth, depth])

    def rays(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Directions (3, …) through pixels; they are as long as goes one unit along the camera's axis."""
        right, down, into = self.axes
        u, v = (x - self.width / 2) / self.focal, (y - self.height / 2) / self.focal
        return np.stack([into[i] + right[i] * u + down[i] * v for i in range(3)])


def directions(camera: Sequence[float]) -> dict[str, list[float]]:
    """The directions of a scene as seen from ``camera``: unit vectors; four level ones, and above and below."""
    right, _, into = Camera((float(camera[0]), float(camera[1]), float(camera[2])), 1, 1).axes
    behind = unit(np.array([into[0], into[1], 0.0]))
    above = np.array([0.0, 0.0, 1.0])
    found = {"right": right, "behind": behind, "above": above, "below": -above, "left": -right, "front": -behind}
    return {name: [float(x) + 0.0 for x in axis] for name, axis in found.items()}
