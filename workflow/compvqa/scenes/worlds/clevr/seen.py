"""Which solid each pixel shows: exact ids, depths and normals, from geometry alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from compvqa.scenes.worlds.clevr.shapes import Solid
from compvqa.scenes.worlds.clevr.studio import Camera


@dataclass(frozen=True)
class Hits:
    """What rays met: the solid's number or -1 for the ground, the depth along the camera's axis, the normal (3, n)."""

    solid: np.ndarray
    depth: np.ndarray
    normal: np.ndarray


def rectangle(solid: Solid, camera: Camera) -> tuple[int, int, int, int]:
    """The only pixels that may show ``solid``: left, top, right, bottom, the last two excluded."""
    x, y, _ = camera.project(solid.surface())
    left, top = (max(0, int(np.floor(v.min())) - 1) for v in (x, y))
    right, bottom = (min(most, int(np.ceil(v.max())) + 1) for v, most in ((x, camera.width), (y, camera.height)))
    return left, top, max(left, right), max(top, bottom)


def ground_depth(camera: Camera, rays: np.ndarray) -> np.ndarray:
    """How far along the rays from the camera the ground is; infinite where it never is."""
    down = np.minimum(rays[2], np.float32(-1e-6))
    return np.where(rays[2] < 0, np.float32(-camera.place[2]) / down, np.float32(np.inf)).astype(np.float32)


def cast(solids: Sequence[Solid], camera: Camera, x: np.ndarray, y: np.ndarray, every: bool = False) -> Hits:
    """What the rays through the picture's points (x, y) meet first; ``every``: they are all pixels, row by row."""
    rays = camera.rays(x.astype(np.float32), y.astype(np.float32)).astype(np.float32)
    depth = ground_depth(camera, rays)
    number = np.full(x.size, -1, np.int16)
    normal = np.zeros((3, x.size), np.float32)
    normal[2] = 1
    origin = np.asarray(camera.place, np.float32).reshape(3, 1)
    for i, solid in enumerate(solids):
        left, top, right, bottom = rectangle(solid, camera)
        if every:
            may = np.add.outer(np.arange(top, bottom) * camera.width, np.arange(left, right)).ravel()
        else:
            may = np.flatnonzero((x >= left) & (x < right) & (y >= top) & (y < bottom))
        if not may.size:
            continue
        met, normals = solid.meet(origin, rays[:, may])
        first = met < depth[may]
        here = may[first]
        depth[here], number[here], normal[:, here] = met[first], i, normals[:, first]
    return Hits(number, depth, normal)


def look(solids: Sequence[Solid], camera: Camera) -> Hits:
    """What the middle of each pixel shows, row by row. That of the last scene is kept: one that was looked at to see
    whether all is seen is drawn next."""
    return _look(tuple(solids), camera)


@lru_cache(maxsize=1)
def _look(solids: tuple[Solid, ...], camera: Camera) -> Hits:
    y, x = np.divmod(np.arange(camera.width * camera.height), camera.width)
    hits = cast(solids, camera, x + np.float32(0.5), y + np.float32(0.5), every=True)
    for part in (hits.solid, hits.depth, hits.normal):
        part.flags.writeable = False
    return hits
