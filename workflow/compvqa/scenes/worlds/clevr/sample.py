"""Sampling scenes: what stands in one and where, the jitter of camera and lamps, and that all of it can be seen.

Each scene has a random generator of its own, by the seed, the split and the scene's number.
"""

from __future__ import annotations

import math
from random import Random

import numpy as np

from compvqa.errors import InputError
from compvqa.scenes.worlds.clevr.record import relationships, solids_of
from compvqa.scenes.worlds.clevr.seen import look
from compvqa.scenes.worlds.clevr.settings import ClevrSettings
from compvqa.scenes.worlds.clevr.studio import CAMERA, LAMPS, Camera, directions
from compvqa.seeds import generator

FIELD = 3.0  # objects' centres are within so much of the origin in x and y
GAP = 0.25  # between two objects, which are thought of as round
MARGIN = 0.4  # between two objects along each direction, so that it is never doubtful who is left or in front
CAMERA_JITTER, LAMP_JITTER = 0.5, 1.0  # on each axis, either way
TRIES = 50  # to place an object, before the scene is begun anew
ATTEMPTS = 20_000  # of a scene

Values = tuple[str, str, str, str]  # shape, color, material, size


def sample_scene(settings: ClevrSettings, seed: int, index: int) -> dict:
    """The scene ``index`` as in the scene file, with its camera and lamps: the same whatever else is sampled.

    InputError where none can be found that fits the settings.
    """
    rng = generator(seed, "clevr scene", settings.split, index)
    many = rng.randint(settings.min_objects, settings.max_objects)
    x, y, z = (x + rng.uniform(-CAMERA_JITTER, CAMERA_JITTER) for x in CAMERA)
    camera = (x, y, z)
    lamps = {name: [x + rng.uniform(-LAMP_JITTER, LAMP_JITTER) for x in lamp.place] for name, lamp in LAMPS.items()}
    axes = directions(CAMERA if settings.directions == "released" else camera)
    for _ in range(ATTEMPTS):
        values = _values(settings, rng, many)
        if values is None:
            continue
        places = _places([settings.sizes[size] for *_, size in values], axes, rng)
        if places is None:
            continue
        turned = [rng.uniform(0, 360) for _ in values]
        scene = _scene(settings, seed, index, Camera(camera, settings.width, settings.height), axes)
        objects = zip(values, places, turned, strict=True)
        scene["objects"] = [_object(settings, value, place, angle) for value, place, angle in objects]
        if _all_seen(scene, settings):
            return _completed(scene, settings, lamps)
    raise InputError(
        f"scene {index} of {settings.split}: {many} objects could not be placed in {ATTEMPTS:,} tries so that each "
        f"shows {settings.least_pixels} pixels and all required pairs are there: ask for fewer objects or pairs."
    )


def _values(settings: ClevrSettings, rng: Random, many: int) -> list[Values] | None:
    """The objects' attributes; None where a required pair is missing."""
    found: list[Values] = []
    while len(found) < many:
        shape = rng.choice(list(settings.shapes))
        palette = settings.palette(shape)
        if not palette:
            continue
        values = (shape, rng.choice(palette), rng.choice(list(settings.materials)), rng.choice(list(settings.sizes)))
        if settings.allows(values):
            found.append(values)
    if all(any(set(pair) <= set(values) for values in found) for pair in settings.required):
        return found
    return None


def _places(radii: list[float], axes: dict[str, list[float]], rng: Random) -> list[tuple[float, float]] | None:
    """Where the objects stand (x, y); None where one found no place in all its tries."""
    level = [axes[name] for name in ("right", "front")]  # left and behind are their opposites
    places: list[tuple[float, float]] = []
    for radius in radii:
        for _ in range(TRIES):
            x, y = rng.uniform(-FIELD, FIELD), rng.uniform(-FIELD, FIELD)
            if all(_apart(x - a, y - b, radius + r, level) for (a, b), r in zip(places, radii, strict=False)):
                places.append((x, y))
                break
        else:
            return None
    return places


def _apart(dx: float, dy: float, radii: float, level: list[list[float]]) -> bool:
    """Whether two objects are far enough from each other, and along both directions."""
    if math.hypot(dx, dy) - radii < GAP:
        return False
    return all(abs(dx * axis[0] + dy * axis[1]) >= MARGIN for axis in level)


def _scene(settings: ClevrSettings, seed: int, index: int, camera: Camera, axes: dict[str, list[float]]) -> dict:
    return {
        "image_index": index,
        "image_filename": f"CLEVR_{settings.split}_{index:06d}.png",
        "split": settings.split,
        "objects": [],
        "relationships": {},
        "directions": axes,
        "camera": list(camera.place),
        "lights": {},
        "width": settings.width,
        "height": settings.height,
        "seed": seed,
    }


def _object(settings: ClevrSettings, values: Values, place: tuple[float, float], angle: float) -> dict:
    shape, color, material, size = values
    where = [*place, settings.sizes[size]]
    return {
        "shape": shape,
        "color": color,
        "material": material,
        "size": size,
        "3d_coords": where,
        "rotation": angle,
        "pixel_coords": [],
    }


def _all_seen(scene: dict, settings: ClevrSettings) -> bool:
    """Whether each object shows enough pixels."""
    camera = Camera(tuple(scene["camera"]), settings.width, settings.height)
    shown = look(solids_of(scene, settings), camera).solid
    pixels = np.bincount(shown[shown >= 0], minlength=len(scene["objects"]))
    return bool(pixels.min() >= settings.least_pixels)


def _completed(scene: dict, settings: ClevrSettings, lamps: dict[str, list[float]]) -> dict:
    """The scene with all that follows from its camera and objects."""
    camera = Camera(tuple(scene["camera"]), settings.width, settings.height)
    for item in scene["objects"]:
        x, y, depth = (float(v) for v in camera.project(np.array(item["3d_coords"])))
        item["pixel_coords"] = [round(x), round(y), depth]
    scene["relationships"] = relationships(scene["objects"], scene["directions"])
    scene["lights"] = lamps
    return scene
