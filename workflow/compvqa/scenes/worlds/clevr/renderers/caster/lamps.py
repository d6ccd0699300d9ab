"""Lamps as points with a size: how much light of each falls on a place, and where its samples are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compvqa.scenes.worlds.clevr.studio import LAMPS, SUN, SUN_TURNED
from compvqa.scenes.worlds.clevr.vectors import along, cross, dot, length, unit

SUN_DRAWN = 0.85  # of the sun; the rest comes from all around
FAR = 100.0  # how far away the sun is drawn
SUN_SIDE = 16.0  # its side there: its shadows are soft as well


@dataclass(frozen=True)
class Light:
    """A lamp in the world: its place, where it aims (a unit vector), strength, colour (linear RGB), and side.

    The strength is in watts a steradian for a lamp, in watts a square metre for the sun (``distant``).
    """

    place: np.ndarray
    aim: np.ndarray
    strength: float
    color: np.ndarray
    side: float
    distant: bool = False

    def samples(self, many: int) -> np.ndarray:
        """Points (3, many) on the lamp's square, evenly (Hammersley's)."""
        across = unit(cross(self.aim, (0.0, 0.0, 1.0)))
        over = cross(self.aim, across)
        u = (np.arange(many) + 0.5) / many - 0.5
        v = np.array([_reversed(i) for i in range(many)]) + 0.5 / many - 0.5
        return self.place[:, None] + self.side * (np.outer(across, u) + np.outer(over, v))

    def reaching(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Unit vectors from ``points`` to the lamp (3, n), what a surface there that faces it gets, and its radius
        as an angle."""
        to = self.place.astype(np.float32)[:, None] - points
        far = length(to)
        to /= far
        if self.distant:
            power: Any = np.float32(self.strength)  # the same at all points
            spread: Any = np.float32(self.side / 2 / FAR)
            return to, power, spread
        facing = np.maximum(-dot(self.aim.astype(np.float32), to), 0)
        return to, np.float32(self.strength) * facing / (far * far), np.float32(self.side / 2) / far


def lights(places: Mapping[str, Sequence[float]]) -> list[Light]:
    """The lamps of a scene at their places (those that it does not name at their base places), and the sun."""
    found = []
    for name, lamp in LAMPS.items():
        place = np.asarray(places.get(name, lamp.place), float)
        aim = -unit(place)
        found.append(Light(place, aim, lamp.watts / 4, np.asarray(lamp.color, np.float32), lamp.side))
    aim = _turned(np.array([0.0, 0.0, -1.0]), SUN_TURNED)
    return [*found, Light(-FAR * aim, aim, SUN_DRAWN * SUN, np.ones(3, np.float32), SUN_SIDE, distant=True)]


def irradiance(to: np.ndarray, power: np.ndarray, spread: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """What falls on surfaces with these normals; a lamp that sets behind one does so softly."""
    cosine = dot(to, normal)
    spread = np.maximum(spread, np.float32(1e-3))
    setting = (cosine + spread) ** 2 / (4 * spread)
    return power * np.where(cosine > spread, cosine, np.where(cosine < -spread, 0, setting))


def _reversed(number: int) -> float:
    """The digits of a binary number, mirrored at the point."""
    result, digit = 0.0, 0.5
    while number:
        result, number, digit = result + digit * (number & 1), number >> 1, digit / 2
    return result


def _turned(vector: np.ndarray, angles: Sequence[float]) -> np.ndarray:
    """A vector turned about x, then y, then z."""
    (a, b, c), (d, e, f) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, a, -d], [0, d, a]])
    about_y = np.array([[b, 0, e], [0, 1, 0], [-e, 0, b]])
    about_z = np.array([[c, -f, 0], [f, c, 0], [0, 0, 1]])
    return along(about_z, along(about_y, along(about_x, vector)))
