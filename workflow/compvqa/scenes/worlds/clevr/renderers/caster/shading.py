"""The colours of solids: lamps with soft shadows, light from the ground, and one mirror's bounce for metal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from compvqa.scenes.worlds.clevr.renderers.caster.ground import Ground
from compvqa.scenes.worlds.clevr.renderers.caster.lamps import Light, irradiance
from compvqa.scenes.worlds.clevr.settings import Material
from compvqa.scenes.worlds.clevr.shapes import Solid
from compvqa.scenes.worlds.clevr.vectors import dot, length

AROUND = 0.05  # light from the world around, which is not drawn
ASIDE = 0.7  # how far beside a place the ground lies that lights it, in the place's height
NEARBY = 0.5  # the radius of that ground
PROBES = (-0.6, 0.0, 0.6)  # of a ray near a solid, in radii
FOOT = 0.12  # low on a solid the ground is mirrored from so far beside it: right below it is black
SHARP = 0.4  # highlights are that much narrower than the mirror is blurred
DIELECTRIC = 0.04  # what smooth paint mirrors of light from straight above


@dataclass(frozen=True)
class Stage:
    """All that the colour of a place depends on; ``colors`` (linear RGB) and ``materials`` are the solids'."""

    solids: Sequence[Solid]
    colors: Sequence[np.ndarray]
    materials: Sequence[Material]
    lights: Sequence[Light]
    samples: Sequence[np.ndarray]  # of each lamp: (3, n)
    ground: Ground
    eye: np.ndarray

    def shade(self, number: int, points: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """The light (3, n) that places on a solid send to the eye."""
        material = self.materials[number]
        view = self.eye[:, None] - points
        view /= length(view)
        base = self.colors[number][:, None]
        matte, gloss = self._lamps(number, points, normals, view)
        matte += self._surroundings(points, normals)
        facing = np.maximum(dot(view, normals), np.float32(1e-3))
        fresnel = (1 - facing) ** 5
        if not material.metal:
            return base * matte + gloss * np.float32(DIELECTRIC)
        mirrored = self._mirrored(number, points, normals, 2 * facing * normals - view)
        tint = base + (1 - base) * fresnel * np.float32(0.5)
        metal = tint * (np.float32(0.88) * mirrored + gloss) + np.float32(0.06) * base * matte
        share = np.float32(material.metal)
        return share * metal + (1 - share) * (base * matte + gloss * np.float32(DIELECTRIC))

    def _lamps(
        self, number: int, points: np.ndarray, normals: np.ndarray, view: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What lamps add: to a matte white surface, and to one that mirrors all."""
        rough = np.float32(SHARP * self.materials[number].roughness)
        facing = np.maximum(dot(view, normals), np.float32(0.05))
        matte, gloss = np.zeros_like(points), np.zeros_like(points)
        for light, samples in zip(self.lights, self.samples, strict=True):
            to, power, spread = light.reaching(points)
            falling = irradiance(to, power, spread, normals)
            falling = falling * self._reached(number, points, normals, light, samples, to, spread)
            half = to + view
            half /= np.maximum(length(half), np.float32(1e-6))
            wide = (rough + spread / 2) ** 2
            peak = dot(half, normals) ** 2 * (wide - 1) + 1
            along = np.maximum(dot(half, to), np.float32(0.3))
            lobe = wide / (np.float32(np.pi) * peak * peak * 4 * along * along * np.maximum(facing, np.float32(0.3)))
            color = light.color[:, None]
            matte += color * (falling * np.float32(1 / np.pi))
            gloss += color * (falling * lobe)
        return matte, gloss

    def _surroundings(self, points: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """What the ground beside and the world around add to a matte white surface."""
        beside = np.float32(ASIDE) * (points[2] + np.float32(0.25))
        below = self.ground.map(points[0] + normals[0] * beside, points[1] + normals[1] * beside, NEARBY)
        up = (1 + normals[2]) / 2
        return below * (1 - up) + np.float32(AROUND) * up

    def _reached(
        self,
        number: int,
        points: np.ndarray,
        normals: np.ndarray,
        light: Light,
        samples: np.ndarray,
        to: np.ndarray,
        spread: np.ndarray,
    ) -> np.ndarray:
        """The share of a lamp's samples that no other solid hides from each place."""
        share = np.ones(points.shape[1], np.float32)
        lit = dot(to, normals) > -spread
        for other in self._others(number, light):
            solid = self.solids[other]
            away = np.asarray(solid.centre, np.float32)[:, None] - points
            along = dot(away, to)
            reach = np.float32(solid.reach) + spread * np.maximum(along, 0)
            may = np.flatnonzero(lit & (along > 0) & (dot(away, away) - along * along < reach * reach))
            if not may.size:
                continue
            here = points[:, may]
            ways = samples.astype(np.float32)[:, None, :] - here[:, :, None]
            step = np.float32(light.side / 4)  # between two samples
            starts = np.repeat(here, samples.shape[1], axis=1)
            near, far = passing(solid, starts, ways.reshape(3, -1))
            hidden = np.clip(np.float32(0.5) - near / np.maximum(step * far, np.float32(0.004)), 0, 1)
            share[may] = np.minimum(share[may], 1 - hidden.reshape(may.size, -1).mean(1))
        return share

    @cached_property
    def _balls(self) -> tuple[np.ndarray, np.ndarray]:
        """The solids' centres (n, 3), and the radii of the balls around them."""
        return np.array([solid.centre for solid in self.solids]), np.array([solid.reach for solid in self.solids])

    def _others(self, number: int, light: Light) -> list[int]:
        """The solids that may stand between one and a lamp: those that come near the way from centre to lamp."""
        centres, reach = self._balls
        away, way = centres - centres[number], light.place - centres[number]
        apart = away - np.outer(np.clip(dot(away.T, way) / dot(way, way), 0, 1), way)
        near = (apart * apart).sum(1) < (reach + max(reach[number], light.side)) ** 2
        near[number] = False
        return np.flatnonzero(near).tolist()

    def _mirrored(self, number: int, points: np.ndarray, normals: np.ndarray, ways: np.ndarray) -> np.ndarray:
        """What a mirror with this roughness shows: the ground, the world around, and other solids."""
        spread = np.float32(self.materials[number].roughness)
        foot = np.maximum(1 - points[2] / np.float32(self.solids[number].radius), 0) * np.float32(FOOT)
        seen = self.ground.seen(points + normals * np.stack([foot, foot, 0 * foot]), ways, spread)
        centres = self._balls[0]
        far_first = np.argsort(-((centres - centres[number]) ** 2).sum(1), kind="stable")
        for other in far_first.tolist():
            solid = self.solids[other]
            if other == number:
                continue
            away = np.asarray(solid.centre, np.float32)[:, None] - points
            along = dot(away, ways)
            reach = np.float32(solid.reach) + spread * np.maximum(along, 0)
            may = np.flatnonzero((along > 0) & (dot(away, away) - along * along < reach * reach))
            if not may.size:
                continue
            near, far = passing(solid, points[:, may], ways[:, may])
            width = np.maximum(np.float32(1.2) * spread * far, np.float32(0.01))
            covered = np.clip(np.float32(0.5) - near / width, 0, 1)
            kept = covered > 0
            may, covered = may[kept], covered[kept]
            if may.size:
                color = self._there(other, points[:, may], ways[:, may], far[kept])
                seen[:, may] += covered * (color - seen[:, may])
        return seen

    def _there(self, number: int, points: np.ndarray, ways: np.ndarray, far: np.ndarray) -> np.ndarray:
        """The colour of another solid as mirrored: lit, without shadows or mirrors of its own but of the ground."""
        solid, material = self.solids[number], self.materials[number]
        met, normals = solid.meet(points, ways)
        beside = ~np.isfinite(met)
        at = points + ways * np.where(beside, far, met)
        outward = at[:, beside] - np.asarray(solid.centre, np.float32)[:, None]
        normals[:, beside] = outward / length(outward)
        base = self.colors[number][:, None]
        if material.metal > 0.5:
            facing = dot(ways, normals)
            return base * self.ground.seen(at, ways - 2 * facing * normals, 0.2)
        light_there = self._surroundings(at, normals)
        for light in self.lights:
            to, power, spread = light.reaching(at)
            falling = irradiance(to, power, spread, normals) * np.float32(0.85 / np.pi)
            light_there = light_there + light.color[:, None] * falling
        return base * light_there


def passing(solid: Solid, points: np.ndarray, ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How near rays pass by a solid (negative: through it), and how far along, in the rays' lengths.

    The distance is convex along a ray: three probes around the place that is nearest to the centre, and one at the
    lowest place of the parabola through them.
    """
    start, along = solid.inside(points), solid.turn(ways) / np.float32(solid.radius)
    speed = length(along)
    along = along / speed
    middle = np.maximum(-dot(start, along), 0)
    before, here, after = (solid.shape.distance(start + along * np.maximum(middle + np.float32(p), 0)) for p in PROBES)
    bend = np.maximum(before + after - 2 * here, np.float32(1e-4))
    lowest = np.maximum(middle + np.clip(np.float32(0.3) * (before - after) / bend, -0.8, 0.8), 0)
    last = solid.shape.distance(start + along * lowest)
    near = np.minimum(np.minimum(before, after), np.minimum(here, last))
    return near * np.float32(solid.radius), np.where(last <= here, lowest, middle) / speed
