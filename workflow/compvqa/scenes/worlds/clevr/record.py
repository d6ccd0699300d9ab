"""CLEVR's scene files: ``{"info": …, "scenes": […]}``, and what drawing reads in a scene.

A scene of ours has the official fields, and beside them ``camera`` and ``lights`` (their places), ``seed``, and of
each object its ``box``, ``pixels`` and ``mask``; ``info`` has the ``look``. Official files are read and written as
they are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from compvqa.errors import InputError
from compvqa.files import read_json
from compvqa.scenes.spatial import all_related
from compvqa.scenes.worlds.clevr.settings import Look
from compvqa.scenes.worlds.clevr.shapes import Solid
from compvqa.scenes.worlds.clevr.studio import CAMERA, Camera
from compvqa.tables import replacing

LICENSE = "Creative Commons Attribution (CC BY 4.0)"
DEPTH_WEIGHT = 100.0  # a depth of pixel_coords is exact, pixels are rounded


def read(path: Path) -> tuple[dict, list[dict]]:
    """A scene file's ``info`` and scenes."""
    data = read_json(path)
    scenes = data.get("scenes")
    if not isinstance(scenes, list) or not all(isinstance(scene, dict) for scene in scenes):
        raise InputError(f"{path} has no list of scenes under the key scenes: name a scene file of CLEVR.")
    return data.get("info", {}), scenes


def write(path: Path, info: dict, scenes: Iterable[dict]) -> Counter[str]:
    """Write a scene file, one scene a line, as the scenes come; gives what was counted."""
    counts: Counter[str] = Counter(scenes=0, objects=0)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(f'{{"info": {json.dumps(info)}, "scenes": [')
        for scene in scenes:
            file.write(("," if counts["scenes"] else "") + "\n" + json.dumps(scene))
            many = len(scene["objects"])
            counts.update({"scenes": 1, "objects": many, f"scenes of {many:2} objects": 1})
        file.write("\n]}\n")
    return counts


def stream(path: Path) -> tuple[dict, Iterator[dict]]:
    """The ``info`` of a file that :func:`write` made, and its scenes, of which one is in memory at a time."""
    try:
        with path.open(encoding="utf-8") as file:
            info = json.loads(file.readline() + "]}")["info"]
    except (OSError, ValueError, KeyError):
        raise InputError(f"{path} is no scene file of CLEVR's world: make the shard again.") from None

    def scenes() -> Iterator[dict]:
        with path.open(encoding="utf-8") as file:
            next(file)
            yield from (json.loads(line.removesuffix("\n").removesuffix(",")) for line in file if line != "]}\n")

    return info, scenes()


def info_of(split: str, look: Look) -> dict:
    """The ``info`` of a file of ours."""
    return {"split": split, "license": LICENSE, "version": "1.0", "look": look_fields(look)}


def look_fields(look: Look) -> dict:
    """The fields of a look alone, as JSON has them."""
    return look.model_dump(mode="json", include=set(Look.model_fields))


def look_in(info: Mapping) -> Look:
    """The look that a scene file tells, or the release's where it tells none."""
    try:
        return Look(**info.get("look", {}))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(f"the scene file's info.look is wrong at {where}: {error.errors()[0]['msg']}.") from None


def relationships(objects: Iterable[Mapping], directions: Mapping[str, list[float]]) -> dict[str, list[list[int]]]:
    """The relations that follow from where objects are, by their names; for each object those in relation to it."""
    return all_related([item["3d_coords"] for item in objects], directions)


def solids_of(scene: Mapping, look: Look) -> list[Solid]:
    """The solids that a scene's objects are drawn as.

    ``rotation`` is drawn from 0 to 360 and used as radians, as the release does.
    """
    found = []
    for number, item in enumerate(scene["objects"]):
        kinds: dict[str, Mapping[str, object]] = {
            "shape": look.shapes,
            "color": look.colors,
            "material": look.materials,
            "size": look.sizes,
        }
        for group, known in kinds.items():
            if item.get(group) not in known:
                name = scene.get("image_filename", "a scene")
                raise InputError(
                    f"{name}: object {number} has the {group} {item.get(group)!r}, which the look does not have: add "
                    f"it to {group}s."
                )
        x, y, z = item["3d_coords"]
        solid = Solid(look.shapes[item["shape"]], (x, y, z), look.sizes[item["size"]], float(item["rotation"]))
        found.append(solid)
    return found


def camera_of(scene: Mapping, look: Look) -> Camera:
    """The scene's camera: as it tells, or recovered from its objects' ``pixel_coords``."""
    if "camera" in scene:
        return Camera(tuple(scene["camera"]), look.width, look.height)
    return recovered(scene, look)[0]


def recovered(scene: Mapping, look: Look) -> tuple[Camera, float]:
    """The camera whose projections fit ``pixel_coords`` best (least squares), and the worst residual in pixels.

    Three objects or more settle it; with fewer it stays near its base place.
    """
    from scipy.optimize import least_squares  # a third of a second to load, and seldom asked

    places = np.array([item["3d_coords"] for item in scene["objects"]], float).T
    told = np.array([item["pixel_coords"] for item in scene["objects"]], float).T

    def residuals(place: np.ndarray) -> np.ndarray:
        wrong = Camera(tuple(place), look.width, look.height).project(places) - told
        wrong[2] *= DEPTH_WEIGHT
        return np.concatenate([wrong.ravel(), 1e-3 * (place - CAMERA)])

    x, y, z = map(float, least_squares(residuals, CAMERA).x)
    camera = Camera((x, y, z), look.width, look.height)
    return camera, float(np.abs(camera.project(places) - told)[:2].max())
