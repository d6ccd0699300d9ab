"""CLEVR's scene files (``CLEVR_train_scenes.json`` …): ``{"info": …, "scenes": […]}``, with places in space.

Scenes of our own world (:mod:`compvqa.scenes.worlds.clevr`) tell boxes and the picture's size as well.

An object's name is its shape; size, colour and material are its attributes, with their groups. Relations (left, right,
behind, front) follow from 3-D places and the scene's directions, so that no table holds them. A question counts all
objects of its scene: with one malformed object, or with relations that do not follow, a scene is refused as a whole.
Where the source's settings say ``relations: told``, a scene whose relations do not follow keeps those that its file
tells, and has no directions; those that it does not tell follow from places.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import Field

from compvqa.scenes.keys import Keys
from compvqa.scenes.raw import RawObject, RawRelation, RawScene, Report, SplitOf, clean_box, clean_name, clean_size
from compvqa.scenes.spatial import all_related
from compvqa.scenes.stream import elements_of
from compvqa.settings import Settings

PLACES = True
SIDES = True  # files of any sides: test, valB …
GROUPS = ("size", "color", "material")
OURS = ("camera", "lights", "seed", "width", "height")  # of the scenes of our own world, as "box" of their objects
SCENE = Keys("scene", ("image_filename", "objects", "directions", "relationships"), ("image_index", "split", *OURS))
OBJECT = Keys("object", (*GROUPS, "shape", "3d_coords", "rotation", "pixel_coords"), ("box", "pixels", "mask"))


class ReaderSettings(Settings):
    """How CLEVR's scene files are read."""

    relations: Literal["derived", "told"] = Field(
        "derived", description="for scenes whose relations do not follow from places: refused, or kept as told"
    )


SETTINGS = ReaderSettings
TOLD = "kept with relations that do not follow from places: scenes"


class _Malformed(ValueError):
    """Why a scene is refused."""


class _DoesNotFollow(_Malformed):
    """A scene's relations are not those of its objects' places."""


def read(
    files: dict[str, Path], split_of: SplitOf, report: Report, settings: ReaderSettings | None = None
) -> Iterator[RawScene]:
    """The scenes of the files, by their sides; those of the file ``all`` are dealt by ``split_of``."""
    told = settings is not None and settings.relations == "told"
    for part in (part for part in files if part != "val_ids"):
        report.file = files[part].name
        for number, record in enumerate(elements_of(files[part], "scenes")):
            filename = record.get("image_filename") if isinstance(record, dict) else None
            if not isinstance(filename, str) or not PurePosixPath(filename).stem:
                report.reject(f"#{number}", "scene", "scene without the name of its picture")
                continue
            scene_id = PurePosixPath(filename).stem
            try:
                yield _scene(scene_id, record, split_of(scene_id) if part == "all" else part, report, told)
            except _Malformed as why:
                report.reject(scene_id, "scene", str(why))


def _scene(scene_id: str, record: dict, split: str, report: Report, told: bool) -> RawScene:
    if wrong := SCENE.wrong(record, report):
        raise _Malformed(wrong)
    items = record.get("objects")
    if not isinstance(items, list):
        raise _Malformed("scene without a list of objects")
    objects = [_object(str(number), item, report) for number, item in enumerate(items)]
    axes = record.get("directions")
    if not isinstance(axes, dict) or not axes:
        raise _Malformed("scene without directions")
    directions: dict[str, Any] = {name: _numbers(axis, 3, f"direction {name}") for name, axis in axes.items()}
    places = [item.position[:3] for item in objects if item.position]
    found = all_related(places, directions)
    relations: list[RawRelation] = []
    try:
        _check_relations(record.get("relationships"), found, len(objects))
    except _DoesNotFollow:
        relations, directions = _rows(found | record["relationships"]), {}
        if not told or not relations:
            raise
        report.count(TOLD)
    size = clean_size(record, "width"), clean_size(record, "height")
    return RawScene(scene_id, split, scene_id, *size, objects, relations, directions)


def _rows(relations: dict[str, list[list[int]]]) -> list[RawRelation]:
    """Relations one by one, of lists for each object: in list i of a relation is all that stands in it to object i."""
    return [
        RawRelation(name, str(other), str(number))
        for name, lists in relations.items()
        for number, others in enumerate(lists)
        for other in sorted(set(others))
    ]


def _object(object_id: str, item: object, report: Report) -> RawObject:
    if not isinstance(item, dict):
        raise _Malformed("object is not a table")
    if wrong := OBJECT.wrong(item, report):
        raise _Malformed(wrong)
    shape, *values = (_name(item, key) for key in ("shape", *GROUPS))
    if len({shape, *values}) < 4:
        raise _Malformed("object with one word for two of its attributes")
    where = _numbers(item.get("3d_coords"), 3, "3d_coords")
    turned = _numbers([item.get("rotation")], 1, "rotation")
    pixels = _numbers(item.get("pixel_coords"), 3, "pixel_coords")
    box = item.get("box")
    if box is not None:
        box, wrong = clean_box(dict(zip("xywh", _numbers(box, 4, "box"), strict=True)))
        if wrong:
            raise _Malformed(wrong)
    return RawObject(object_id, shape, values, box, dict(zip(values, GROUPS, strict=True)), (*where, *turned, *pixels))


def _name(item: dict, key: str) -> str:
    name, wrong = clean_name(item.get(key), lower=False)  # questions, programs and words name it as it is
    if name is None:
        raise _Malformed(f"object's {key}: {wrong}")
    return name


def _numbers(value: object, many: int, what: str) -> tuple[float, ...]:
    if (
        not isinstance(value, list)
        or len(value) != many
        or any(isinstance(x, bool) or not isinstance(x, int | float) or not math.isfinite(x) for x in value)
    ):
        raise _Malformed(f"{what}: not {many} finite number{'s' * (many > 1)}")
    return tuple(float(x) for x in value)


def _check_relations(told: object, found: dict[str, list[list[int]]], many: int) -> None:
    """Refuse relations that are told and do not follow from where the objects are; none need be told."""
    if told is None:
        return
    if not isinstance(told, dict):
        raise _Malformed("relations are not a table")
    for name, lists in told.items():
        if name not in found:
            raise _Malformed(f"relation {name} without a level direction")
        if not isinstance(lists, list) or len(lists) != many or not all(isinstance(others, list) for others in lists):
            raise _Malformed(f"relation {name}: not one list for each object")
        if any(type(other) is not int or not 0 <= other < many for others in lists for other in others):
            raise _Malformed("relation to a missing object")
    for name, lists in told.items():
        if any(sorted(others) != derived for others, derived in zip(lists, found[name], strict=True)):
            raise _DoesNotFollow(f"relation {name} does not follow from the objects' places")
