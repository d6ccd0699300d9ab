"""The solids that can be drawn: where a ray meets one, how far a point is from one, the shadow's outline.

Each is convex, stands on the ground, and has rounded edges. Points and directions are arrays (3, n), x, y and z apart,
in the solid's own frame: its centre is the origin, and it is as high and wide as twice its radius.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from compvqa.scenes.worlds.clevr.vectors import dot, length, turned_about_z

STEPS = 40  # of a march along a ray
NEAR = 5e-4  # a ray has met a solid that is nearer than this, in radii
ROUND = 5  # points along a rounded edge
AROUND = 64  # points of an outline


@dataclass(frozen=True)
class Shape:
    """A shape of radius 1 and how it is measured.

    ``distance`` is the signed distance from a point; ``enter`` gives where rays enter and leave a simpler solid around
    it (leave < enter: never); ``points`` lie on the surface, and their hull is the shape.
    """

    distance: Callable[[np.ndarray], np.ndarray]
    enter: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    normal: Callable[[np.ndarray], np.ndarray]
    points: Callable[[], np.ndarray]
    turns: bool  # whether one sees it turn


def _hypot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sqrt(a * a + b * b)


def _slabs(origin: np.ndarray, ray: np.ndarray, axes: range) -> tuple[np.ndarray, np.ndarray]:
    enter: Any = np.float32(-np.inf)
    leave: Any = np.float32(np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        for axis in axes:
            inverse = 1 / np.where(ray[axis] == 0, np.float32(1e-12), ray[axis])
            middle, half = -origin[axis] * inverse, np.abs(inverse)
            enter, leave = np.maximum(enter, middle - half), np.minimum(leave, middle + half)
    return enter, leave


def _chord(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a t² + 2 b t + c is negative."""
    root = b * b - a * c
    inside = np.sqrt(np.maximum(root, 0))
    a = np.maximum(a, np.float32(1e-12))
    far = np.float32(np.inf)
    return np.where(root < 0, far, (-b - inside) / a), np.where(root < 0, -far, (-b + inside) / a)


def _sphere_enter(origin: np.ndarray, ray: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _chord(dot(ray, ray), dot(origin, ray), dot(origin, origin) - 1)


def _sphere_points() -> np.ndarray:
    """Points on a sphere, evenly (Fibonacci's spiral)."""
    i = np.arange(400) + 0.5
    z = 1 - i / 200
    angle = np.pi * (1 + 5**0.5) * i
    return np.stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z])


CUBE_EDGE = np.float32(0.15)
CYLINDER_EDGE = np.float32(0.05)
BULGE = np.float32(0.1)  # upper faces are lit as if they bulged a little, as smoothly shaded meshes are


def _cube_distance(p: np.ndarray) -> np.ndarray:
    beyond = np.abs(p) - (1 - CUBE_EDGE)
    inner = np.minimum(np.maximum(np.maximum(beyond[0], beyond[1]), beyond[2]), 0)
    return length(np.maximum(beyond, 0)) + inner - CUBE_EDGE


def _cube_normal(p: np.ndarray) -> np.ndarray:
    n = np.sign(p) * np.maximum(np.abs(p) - (1 - CUBE_EDGE), 0)
    n += BULGE * CUBE_EDGE * p * p * p * np.maximum(p[2], 0) ** 4
    return n / np.maximum(length(n), np.float32(1e-9))


def _cube_points() -> np.ndarray:
    angles = np.linspace(0, np.pi / 2, ROUND)
    polar, around = (grid.ravel() for grid in np.meshgrid(angles, angles))
    octant = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)])
    corner = (1 - CUBE_EDGE) + CUBE_EDGE * octant
    signs = [np.reshape((a, b, c), (3, 1)) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    return np.concatenate([corner * sign for sign in signs], axis=1)


def _cylinder_distance(p: np.ndarray) -> np.ndarray:
    x, z = _hypot(p[0], p[1]) - (1 - CYLINDER_EDGE), np.abs(p[2]) - (1 - CYLINDER_EDGE)
    outside = _hypot(np.maximum(x, 0), np.maximum(z, 0))
    return outside + np.minimum(np.maximum(x, z), 0) - CYLINDER_EDGE


def _cylinder_enter(origin: np.ndarray, ray: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    (x, y), (u, v) = origin[:2], ray[:2]
    a, b = _chord(u * u + v * v, x * u + y * v, x * x + y * y - 1)
    low, high = _slabs(origin, ray, range(2, 3))
    return np.maximum(a, low), np.minimum(b, high)


def _cylinder_normal(p: np.ndarray) -> np.ndarray:
    radius = np.maximum(_hypot(p[0], p[1]), np.float32(1e-9))
    out = np.maximum(radius - (1 - CYLINDER_EDGE), 0) + BULGE / 2 * CYLINDER_EDGE * radius * np.maximum(p[2], 0) ** 4
    up = np.sign(p[2]) * np.maximum(np.abs(p[2]) - (1 - CYLINDER_EDGE), 0)
    long = np.maximum(_hypot(out, up), np.float32(1e-9))
    return np.stack([p[0] / radius * out / long, p[1] / radius * out / long, up / long])


def _cylinder_points() -> np.ndarray:
    rim, around = np.meshgrid(np.linspace(0, np.pi / 2, ROUND), np.linspace(0, 2 * np.pi, AROUND, endpoint=False))
    radius = (1 - CYLINDER_EDGE) + CYLINDER_EDGE * np.cos(rim.ravel())
    height = (1 - CYLINDER_EDGE) + CYLINDER_EDGE * np.sin(rim.ravel())
    top = np.stack([radius * np.cos(around.ravel()), radius * np.sin(around.ravel()), height])
    return np.concatenate([top, top * np.reshape((1, 1, -1), (3, 1))], axis=1)


SHAPES = {
    "cube": Shape(_cube_distance, lambda o, d: _slabs(o, d, range(3)), _cube_normal, _cube_points, True),
    "sphere": Shape(lambda p: length(p) - 1, _sphere_enter, lambda p: p / length(p), _sphere_points, False),
    "cylinder": Shape(_cylinder_distance, _cylinder_enter, _cylinder_normal, _cylinder_points, False),
}
_points = cache(lambda kind: SHAPES[kind].points().astype(np.float32))
_reach = cache(lambda kind: float(length(_points(kind)).max()))


@dataclass(frozen=True)
class Solid:
    """A shape in the world: where its centre is, its radius, and by how many radians it is turned about z."""

    kind: str
    centre: tuple[float, float, float]
    radius: float
    turned: float

    @property
    def shape(self) -> Shape:
        return SHAPES[self.kind]

    @property
    def reach(self) -> float:
        """The radius of the ball around the solid."""
        return self.radius * _reach(self.kind)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Points of the world (3, n) in the solid's frame."""
        moved = (points - np.reshape(np.asarray(self.centre, np.float32), (3, 1))) / np.float32(self.radius)
        return self.turn(moved)

    def turn(self, vectors: np.ndarray) -> np.ndarray:
        """Directions of the world in the solid's frame, of the same length."""
        return turned_about_z(vectors, -self.turned) if self.shape.turns else vectors

    def _back(self, vectors: np.ndarray) -> np.ndarray:
        """Directions of the solid's frame in the world."""
        return turned_about_z(vectors, self.turned) if self.shape.turns else vectors

    def surface(self) -> np.ndarray:
        """Points of the surface in the world (3, n), whose hull is the solid."""
        return self._back(_points(self.kind)) * self.radius + np.reshape(self.centre, (3, 1))

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Signed distance of points of the world (3, n)."""
        return self.shape.distance(self.inside(points)) * np.float32(self.radius)

    def meet(self, origin: np.ndarray, ray: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far along each ray (in its lengths, infinite where never) it meets the solid, and the normal there.

        Where the solid around the shape is met, spheres are traced: a step is as long as nothing is nearer.
        """
        start, along = self.inside(origin), self.turn(ray) / np.float32(self.radius)
        start, along = np.broadcast_arrays(start, along)
        enter, leave = self.shape.enter(start, along)
        t = np.where(leave > np.maximum(enter, 0), np.maximum(enter, 0), np.float32(np.inf)).astype(np.float32)
        if self.kind != "sphere":
            self._march(start, along, t, leave)
        met = np.isfinite(t)
        normal = np.zeros((3, t.size), np.float32)
        normal[:, met] = self._back(self.shape.normal(start[:, met] + along[:, met] * t[met]))
        return t, normal

    def _march(self, start: np.ndarray, along: np.ndarray, t: np.ndarray, leave: np.ndarray) -> None:
        """Move ``t`` on to where rays meet the shape, to infinity where they pass it."""
        going = np.flatnonzero(np.isfinite(t))
        start, along, leave, far = start[:, going], along[:, going], leave[going], t[going]
        speed, on = length(along), np.ones(going.size, bool)
        for _ in range(STEPS):
            step = self.shape.distance(start + along * far)
            on &= step > NEAR
            far += np.where(on, step / speed, 0)
            gone = on & (far > leave)
            t[going[gone]] = np.inf
            on ^= gone
            left = np.count_nonzero(on)
            if 2 * left <= on.size:  # to leave out each ray as it ends costs more than to take it along
                ended = ~on & np.isfinite(t[going])
                t[going[ended]] = far[ended]
                if not left:
                    return
                kept = np.flatnonzero(on)
                going, speed, leave, far, on = going[kept], speed[kept], leave[kept], far[kept], on[kept]
                start, along = start[:, kept], along[:, kept]
        t[going] = np.where(on, np.inf, np.where(np.isfinite(t[going]), far, np.inf))
