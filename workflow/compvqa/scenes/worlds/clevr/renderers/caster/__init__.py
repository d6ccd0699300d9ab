"""The embedded renderer: rays from the camera, in numpy, without any download.

Solids are traced in the rectangles that may show them; pixels at edges are traced again at several places each, so
that edges are smooth. The ids are those of the pixels' middles. Equal input gives equal bytes, whatever the
processor.
"""

from __future__ import annotations

import math

import numpy as np

from compvqa.scenes.worlds.clevr.picture import Picture
from compvqa.scenes.worlds.clevr.record import camera_of, solids_of
from compvqa.scenes.worlds.clevr.renderers.caster.ground import lit_ground
from compvqa.scenes.worlds.clevr.renderers.caster.lamps import lights
from compvqa.scenes.worlds.clevr.renderers.caster.shading import Stage
from compvqa.scenes.worlds.clevr.seen import Hits, cast, look
from compvqa.scenes.worlds.clevr.settings import Look
from compvqa.scenes.worlds.clevr.studio import Camera
from compvqa.scenes.worlds.clevr.vectors import dot

BENT = 0.985  # neighbours whose normals' cosine is lower have an edge between them


def draw(scene: dict, look_of: Look) -> Picture:
    """Draw a scene as in the scene file, with its camera; lamps that it does not tell are at their base places."""
    camera = camera_of(scene, look_of)
    solids = solids_of(scene, look_of)
    hits = look(solids, camera)
    lamps = lights(scene.get("lights", {}))
    colors = [np.asarray(look_of.colors[item["color"]], np.float32) / 255 for item in scene["objects"]]
    samples = [lamp.samples(look_of.light_samples) for lamp in lamps]
    ground = lit_ground(solids, colors, camera, lamps, samples, look_of.mirrored)
    stage = Stage(
        solids,
        colors,
        [look_of.materials[item["material"]] for item in scene["objects"]],
        lamps,
        samples,
        ground,
        np.asarray(camera.place, np.float32),
    )
    shiny = np.array([False, *(material.metal > 0 for material in stage.materials)])
    edges = _edges(hits, shiny, camera.width, camera.height)
    light = _composed(stage, camera, hits, edges, *_within(look_of.edge_samples))
    shape = (camera.height, camera.width)
    return Picture(_encoded(light).reshape(*shape, 3), (hits.solid + 1).reshape(shape), hits.depth.reshape(shape))


def _within(many: int) -> tuple[np.ndarray, np.ndarray]:
    """So many places in a pixel, from 0 to 1, evenly: x and y of a lattice, whose rows are as far from each other as
    can be (a golden section of a pixel, about)."""
    rows = [row for row in range(1, many + 1) if math.gcd(row, many) == 1]
    step = min(rows, key=lambda row: abs(row - many * (3 - 5**0.5) / 2))
    places = np.arange(many)
    return (places + 0.5) / many, ((places * step) % many + 0.5) / many


def _composed(
    stage: Stage, camera: Camera, hits: Hits, edges: np.ndarray, across: np.ndarray, down: np.ndarray
) -> np.ndarray:
    """Linear light (pixels, 3): each pixel's middle, or at an edge the mean of several places in it, which are so far
    ``across`` and ``down`` from its corner."""
    light = stage.ground.picture.reshape(-1, 3).copy()
    inner = np.flatnonzero((hits.solid >= 0) & ~edges)
    y, x = np.divmod(inner, camera.width)
    middle = x + np.float32(0.5), y + np.float32(0.5)
    at, many = np.flatnonzero(edges), len(across)
    where = np.repeat(at, many)
    y, x = np.divmod(where, camera.width)
    x, y = ((to + np.tile(within, at.size)).astype(np.float32) for to, within in ((x, across), (y, down)))
    finer = cast(stage.solids, camera, x, y)
    met = Hits(
        np.concatenate([hits.solid[inner], finer.solid]),
        np.concatenate([hits.depth[inner], finer.depth]),
        np.concatenate([hits.normal[:, inner], finer.normal], axis=1),
    )
    colors = _shaded(stage, camera, np.concatenate([middle[0], x]), np.concatenate([middle[1], y]), met)
    light[inner], shaded = colors[: inner.size], colors[inner.size :]
    within = np.where(finer.solid[:, None] < 0, light[where], shaded)
    light[edges] = np.minimum(within, 1).reshape(-1, many, 3).mean(1)
    return light


def _shaded(stage: Stage, camera: Camera, x: np.ndarray, y: np.ndarray, hits: Hits) -> np.ndarray:
    """The light (n, 3) from what the rays through (x, y) met; where that is the ground, zero."""
    light = np.zeros((x.size, 3), np.float32)
    rays = camera.rays(x, y).astype(np.float32)
    for number in np.unique(hits.solid[hits.solid >= 0]):
        here = np.flatnonzero(hits.solid == number)
        points = stage.eye[:, None] + rays[:, here] * hits.depth[here]
        light[here] = stage.shade(int(number), points, hits.normal[:, here]).T
    return light


def _edges(hits: Hits, shiny: np.ndarray, width: int, height: int) -> np.ndarray:
    """Which pixels have a neighbour that shows another solid, or the same one, where it is ``shiny``, bent sharply."""
    solid = hits.solid.reshape(height, width)
    normal = hits.normal.reshape(3, height, width)
    edges = np.zeros((height, width), bool)
    for one, other in (((slice(None), slice(1, None)), (slice(None), slice(-1))), ((slice(1, None),), (slice(-1),))):
        here, there = solid[one], solid[other]
        differs = here != there
        same = np.nonzero(~differs & shiny[here + 1])
        flat = (slice(None), *one), (slice(None), *other)
        cosine = dot(normal[flat[0]][:, *same], normal[flat[1]][:, *same])
        differs[same] |= cosine < BENT
        edges[one] |= differs
        edges[other] |= differs
    return edges.ravel()


_STEPS = np.linspace(0, 1, 1 << 14)
_SRGB = np.where(_STEPS <= 0.0031308, 12.92 * _STEPS, 1.055 * _STEPS ** (1 / 2.4) - 0.055)
_BYTES = np.round(255 * _SRGB).astype(np.uint8)


def _encoded(light: np.ndarray) -> np.ndarray:
    """Linear light as sRGB bytes."""
    return _BYTES[(np.clip(light, 0, 1) * np.float32(len(_STEPS) - 1) + np.float32(0.5)).astype(np.int32)]
