"""The ground: what light it sends up, as seen in the picture and as a map from above that metal mirrors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy.ndimage import map_coordinates, uniform_filter

from compvqa.scenes.worlds.clevr.renderers.caster import shadows
from compvqa.scenes.worlds.clevr.renderers.caster.lamps import Light, irradiance
from compvqa.scenes.worlds.clevr.seen import ground_depth
from compvqa.scenes.worlds.clevr.shapes import Solid
from compvqa.scenes.worlds.clevr.studio import CAMERA, Camera

ALBEDO = 0.74 / np.pi
TINGE = 0.05  # of a solid's colour on the ground close to it
NEAR = 4.0  # radii of a solid within which it hides what is around; farther off the ground is as if it was not there
AMBIENT = 0.06  # what the world around, which is not drawn, adds to the ground
COARSE = 4  # light without shadows changes so slowly that every fourth pixel is enough
BLURS = (0.0, 0.1, 0.25, 0.6, 1.3)  # of the map's levels, in units of the world
SKY = 0.115  # of what metal mirrors above the horizon: the backdrop, which ends higher up
SKY_STARTS, SKY_ENDS = 0.3, 0.75  # a way's height where the backdrop begins to end, and is gone
SKY_SIDES = (-0.2, 0.5)  # it stands on the side away from the camera
_AWAY = -np.array(CAMERA[:2]) / np.hypot(*CAMERA[:2])


@dataclass(frozen=True)
class Ground:
    """The ground of a scene: ``picture`` (height, width, 3) as if solids were transparent but threw shadows, and
    ``levels``, maps from above, each more blurred (3, levels, texels, texels); all linear light."""

    picture: np.ndarray
    levels: np.ndarray

    def seen(self, points: np.ndarray, ways: np.ndarray, spread: np.ndarray | np.floating | float) -> np.ndarray:
        """What comes to ``points`` (3, n) from ``ways``, unit vectors, where no solid is: (3, n).

        ``spread`` is how wide the cone is around a way: its radius over its length.
        """
        down = ways[2] < 0
        far = np.where(down, points[2] / np.maximum(-ways[2], np.float32(0.02)), 0)
        x, y = points[0] + ways[0] * far, points[1] + ways[1] * far
        beyond = np.float32(shadows.REACH) / np.maximum(np.sqrt(x * x + y * y), np.float32(shadows.REACH))
        low = self.map(x, y, far * spread) * beyond
        away = np.float32(_AWAY[0]) * ways[0] + np.float32(_AWAY[1]) * ways[1]
        sky = np.float32(SKY) * _step(ways[2], SKY_ENDS, SKY_STARTS) * _step(away, *SKY_SIDES)
        rises = np.clip(0.5 + ways[2] / np.float32(0.24), 0, 1)  # the horizon is not a line
        return low * (1 - rises) + sky * rises

    def map(self, x: np.ndarray, y: np.ndarray, blur: np.ndarray | float) -> np.ndarray:
        """What the ground at (x, y) sends up, over a circle with radius ``blur``; beyond the map as at its edge."""
        scale = self.levels.shape[-1] / (2 * shadows.REACH)
        at = np.empty((3, x.size), np.float32)
        at[0] = np.interp(blur, BLURS, range(len(BLURS)))
        at[1], at[2] = (y + shadows.REACH) * scale - 0.5, (x + shadows.REACH) * scale - 0.5
        channels = (map_coordinates(level, at, np.float32, order=1, mode="nearest") for level in self.levels)
        return np.stack(list(channels))


def lit_ground(
    solids: Sequence[Solid],
    colors: Sequence[np.ndarray],
    camera: Camera,
    lights: Sequence[Light],
    samples: Sequence[np.ndarray],
    side: int,
) -> Ground:
    """The ground in the picture and from above, a map of so many texels a ``side``, with the solids' soft shadows and a
    tinge of their colours."""
    cast = [[shadows.outlines(solid, points) for solid in solids] for points in samples]
    columns, rows = -(-camera.width // COARSE), -(-camera.height // COARSE)
    v, u = (COARSE * (grid + np.float32(0.5)) for grid in np.mgrid[:rows, :columns].astype(np.float32))
    rays = camera.rays(u.ravel(), v.ravel()).astype(np.float32)
    far = np.minimum(ground_depth(camera, rays), np.float32(60))
    x, y = (np.float32(camera.place[i]) + rays[i] * far for i in (0, 1))
    large = (columns * COARSE, rows * COARSE)

    def grown(values: np.ndarray) -> np.ndarray:
        image = Image.fromarray(values.reshape(rows, columns)).resize(large, Image.Resampling.BILINEAR)
        return np.asarray(image)[: camera.height, : camera.width]

    place = shadows.in_picture(camera)
    picture = _sum(
        lights,
        [shadows.shaded([place(o) for o in outlines], camera.width, camera.height, shadows.FINER) for outlines in cast],
        lambda light: grown(_falling(light, x, y)),
        [grown(values) for values in _around(solids, colors, x, y)],
    )
    grid = ((np.arange(side) + 0.5) * (2 * shadows.REACH / side) - shadows.REACH).astype(np.float32)
    across, along = np.meshgrid(grid, grid)
    above = _sum(
        lights,
        [shadows.shaded([shadows.on_map(o, side) for o in outlines], side, side, 1) for outlines in cast],
        lambda light: _falling(light, across.ravel(), along.ravel()).reshape(side, side),
        list(_around(solids, colors, across.ravel(), along.ravel()).reshape(3, side, side)),
    )
    return Ground(picture, _levels(above))


def _sum(
    lights: Sequence[Light],
    reached: Sequence[np.ndarray],
    falling: Callable[[Light], np.ndarray],
    around: Sequence[np.ndarray],
) -> np.ndarray:
    total = np.stack(around, axis=-1)
    for light, share in zip(lights, reached, strict=True):
        sent = np.float32(ALBEDO) * falling(light) * share
        for channel in range(3):
            total[..., channel] += sent * light.color[channel]
    return total


def _falling(light: Light, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    points = np.stack([x, y, np.zeros_like(x)])
    to, power, spread = light.reaching(points)
    return irradiance(to, power, spread, np.array([[0], [0], [1]], np.float32)).astype(np.float32)


def _around(solids: Sequence[Solid], colors: Sequence[np.ndarray], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What places on the ground send up (3, n) of the light from all around: less the more solids stand in its way,
    which send some of their own colour instead."""
    share, tinge = np.ones_like(x), np.zeros((3, x.size), np.float32)
    for solid, color in zip(solids, colors, strict=True):
        cx, cy, cz = (np.float32(c) for c in solid.centre)
        near = (x - cx) ** 2 + (y - cy) ** 2 + cz * cz
        hidden = np.clip(np.float32(solid.radius) ** 3 * near ** np.float32(-1.5) - np.float32(NEAR**-3), 0, 1)
        share *= 1 - hidden
        tinge += hidden * (np.float32(TINGE) * color)[:, None]
    return np.float32(AMBIENT) * share + tinge


def _step(values: np.ndarray, none: float, all_: float) -> np.ndarray:
    """0 at ``none``, 1 at ``all_``, smooth between and constant beyond."""
    share = np.clip((values - np.float32(none)) / np.float32(all_ - none), 0, 1)
    return share * share * (3 - 2 * share)


def _levels(above: np.ndarray) -> np.ndarray:
    above = np.ascontiguousarray(above.transpose(2, 0, 1))
    levels = [above]
    for wider in BLURS[1:]:
        texels = max(3, round(1.7 * wider * above.shape[-1] / (2 * shadows.REACH)) | 1)
        blurred = uniform_filter(above, (0, texels, texels), mode="nearest")
        levels.append(uniform_filter(blurred, (0, texels, texels), mode="nearest"))
    return np.stack(levels, axis=1)
