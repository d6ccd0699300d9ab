"""Sampling scenes: what stands in one and where, the jitter of camera and lamps, and that all of it can be seen.

Each scene has a random generator of its own, by the seed, the split and the scene's number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from compvqa.errors import InputError
from compvqa.scenes.worlds.clevr.record import relationships, solids_of
from compvqa.scenes.worlds.clevr.seen import look
from compvqa.scenes.worlds.clevr.settings import ClevrSettings, Contents
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
    started = _scene(settings, seed, index, f"CLEVR_{settings.split}_{index:06d}.png")
    return _sampled(started, settings, rng, lambda: values_of(settings, rng, many), f"{many} objects")


def scene_with(settings: ClevrSettings, seed: int, index: int, filename: str, objects: Sequence[Values]) -> dict:
    """A scene of objects with these attributes, whose places, turns, camera and lamps are drawn by the name of its
    picture. InputError where none can be found."""
    rng = generator(seed, "clevr scene with", filename)
    started = _scene(settings, seed, index, filename)
    return _sampled(started, settings, rng, lambda: list(objects), f"these {len(objects)} objects")


@dataclass(frozen=True)
class Studio:
    """Where the camera, the lamps and objects are, and how these are turned."""

    camera: tuple[float, float, float]
    lamps: Mapping[str, list[float]]
    places: Sequence[tuple[float, float]]
    angles: Sequence[float]


def studio_of(settings: ClevrSettings, seed: int, variant: int | str, shown: Sequence[Sequence[Values]]) -> Studio:
    """The studio of a variant, in which all objects of any of the scenes ``shown``, of as many objects each, can be
    seen. InputError where none is found."""
    rng = generator(seed, "clevr variant", settings.split, variant)
    kinds = list({tuple((shape, size) for shape, *_, size in scene): scene for scene in shown}.values())
    radii = [max(settings.sizes[size] for *_, size in things) for things in zip(*kinds, strict=True)]
    for _ in range(TRIES):
        camera, lamps = _jittered(rng)
        places = _places(radii, directions(CAMERA if settings.directions == "released" else camera), rng)
        if places is None:
            continue
        studio = Studio(camera, lamps, places, [rng.uniform(0, 360) for _ in places])
        if all(_all_seen(_placed(settings, seed, 0, "", studio, kind), settings) for kind in kinds):
            return studio
    raise InputError(
        f"variant {variant} of {settings.split}: in {TRIES} places not every size and shape showed "
        f"{settings.least_pixels} pixels: ask for fewer pixels (min_pixels)."
    )


def scene_in(
    settings: ClevrSettings, seed: int, index: int, filename: str, studio: Studio, objects: Sequence[Values]
) -> dict:
    """A scene of objects with these attributes in a studio."""
    scene = _placed(settings, seed, index, filename, studio, objects)
    return _completed(scene, settings, dict(studio.lamps))


def _placed(
    settings: ClevrSettings, seed: int, index: int, filename: str, studio: Studio, objects: Sequence[Values]
) -> dict:
    axes = directions(CAMERA if settings.directions == "released" else studio.camera)
    where = zip(objects, studio.places, studio.angles, strict=True)
    things = [_object(settings, values, place, angle) for values, place, angle in where]
    told = {"camera": list(studio.camera), "directions": axes, "objects": things}
    return _scene(settings, seed, index, filename) | told


def _sampled(
    scene: dict, settings: ClevrSettings, rng: Random, drawn: Callable[[], list[Values] | None], what: str
) -> dict:
    """The scene with objects whose attributes are drawn, and with all that follows from them."""
    camera, lamps = _jittered(rng)
    axes = directions(CAMERA if settings.directions == "released" else camera)
    scene |= {"camera": list(camera), "directions": axes}
    for _ in range(ATTEMPTS):
        values = drawn()
        if values is None:
            continue
        places = _places([settings.sizes[size] for *_, size in values], axes, rng)
        if places is None:
            continue
        turned = [rng.uniform(0, 360) for _ in values]
        objects = zip(values, places, turned, strict=True)
        scene["objects"] = [_object(settings, value, place, angle) for value, place, angle in objects]
        if _all_seen(scene, settings):
            return _completed(scene, settings, lamps)
    raise InputError(
        f"scene {scene['image_index']} of {settings.split}: {what} could not be placed in {ATTEMPTS:,} tries so that "
        f"each shows {settings.least_pixels} pixels and all required pairs are there: ask for fewer objects or pairs."
    )


def _jittered(rng: Random) -> tuple[tuple[float, float, float], dict[str, list[float]]]:
    """Where the camera and the lamps are in a scene."""
    x, y, z = (x + rng.uniform(-CAMERA_JITTER, CAMERA_JITTER) for x in CAMERA)
    lamps = {name: [x + rng.uniform(-LAMP_JITTER, LAMP_JITTER) for x in lamp.place] for name, lamp in LAMPS.items()}
    return (x, y, z), lamps


def values_of(settings: Contents, rng: Random, many: int) -> list[Values] | None:
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


def _scene(settings: ClevrSettings, seed: int, index: int, filename: str) -> dict:
    """A scene without objects; camera and directions are filled in by what places them."""
    return {
        "image_index": index,
        "image_filename": filename,
        "split": settings.split,
        "objects": [],
        "relationships": {},
        "directions": {},
        "camera": [],
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
