"""GQA's ``*_sceneGraphs.json``: one JSON object, scene id → width, height and objects with their relations.

The spatial relations "to the left of" and "to the right of", which GQA added between nearly all objects, are
dropped (as COVR does).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from compvqa.scenes.keys import Keys
from compvqa.scenes.raw import (
    RawObject,
    RawRelation,
    RawScene,
    Report,
    SplitOf,
    clean_box,
    clean_name,
    clean_size,
    link,
    unique_names,
)
from compvqa.scenes.stream import Repeated, members

SPATIAL = ("to the left of", "to the right of")  # no set: a name may be of any type
SPLITS = ("train", "val", "all")
SCENE = Keys("scene", ("width", "height", "objects"), ("location", "weather"))
OBJECT = Keys("object", ("name", "x", "y", "w", "h", "attributes", "relations"))
RELATION = Keys("relation", ("name", "object"))


def read(files: dict[str, Path], split_of: SplitOf, report: Report) -> Iterator[RawScene]:
    """The scenes of the files ``train``, ``val`` and ``all`` (whose scenes are dealt by ``split_of``)."""
    for part in (part for part in SPLITS if part in files):
        report.file = files[part].name
        for scene_id, record in members(files[part]):
            wrong = _wrong_scene(record, report)
            if wrong:
                report.reject(scene_id, "scene", wrong)
                continue
            split = split_of(scene_id) if part == "all" else part
            yield _scene(scene_id, record, split, report)


def _wrong_scene(record: object, report: Report) -> str:
    """Why a scene is refused; empty if it is not."""
    wrong = SCENE.wrong(record, report) if isinstance(record, dict) else ""
    whole = isinstance(record, dict) and isinstance(record.get("objects"), dict)
    return wrong or ("" if whole else "scene without a table of objects")


def _scene(scene_id: str, record: dict, split: str, report: Report) -> RawScene:
    items: dict[str, object] = record["objects"]
    if isinstance(items, Repeated):
        for object_id in items.keys_repeated:
            report.reject(scene_id, f"object {object_id}", "object id repeated")
    size = clean_size(record, "width"), clean_size(record, "height")
    if None in size:
        report.count("scenes without a picture's size")
    found = (_object(scene_id, object_id, item, size, report) for object_id, item in items.items())
    objects = [item for item in found if item is not None]
    return RawScene(
        raw_id=scene_id,
        split=split,
        image_id=scene_id,
        width=size[0],
        height=size[1],
        objects=objects,
        relations=link(_relations(scene_id, items, report), objects, report, scene_id),
    )


def _object(
    scene_id: str, object_id: str, item: object, size: tuple[int | None, int | None], report: Report
) -> RawObject | None:
    if not isinstance(item, dict):
        report.reject(scene_id, f"object {object_id}", "object is not a table")
        return None
    if wrong := OBJECT.wrong(item, report):
        report.reject(scene_id, f"object {object_id}", wrong)
        return None
    name, wrong = clean_name(item.get("name"))
    if name is None:
        report.reject(scene_id, f"object {object_id}", f"object: {wrong}")
        return None
    box, wrong = clean_box(item, *size, report)
    if box is None:
        report.reject(scene_id, f"object {object_id}", wrong)
        return None
    attributes = item.get("attributes")
    if attributes:
        attributes = unique_names(attributes, report, scene_id, f"object {object_id}")
    return RawObject(object_id, name, attributes or [], box)


def _relations(scene_id: str, objects: dict[str, object], report: Report) -> list[RawRelation]:
    """The relations of all objects of a scene, except the spatial ones (nine of ten in GQA)."""
    lists = [
        (key, item["relations"]) for key, item in objects.items() if isinstance(item, dict) and item.get("relations")
    ]
    for key, items in lists:
        if not isinstance(items, list):
            report.reject(scene_id, f"relations of object {key}", "relations are not a list")
    lists = [(key, items) for key, items in lists if isinstance(items, list)]
    rest = [
        (key, item)
        for key, items in lists
        for item in items
        if item.__class__ is not dict or not _spatial(item.get("name"))
    ]
    if lists:
        report.count("relations dropped: to the left or right of", sum(len(items) for _, items in lists) - len(rest))
    relations = (_relation(scene_id, key, item, report) for key, item in rest)
    return [relation for relation in relations if relation is not None]


def _spatial(name: object) -> bool:
    return name in SPATIAL or clean_name(name)[0] in SPATIAL  # cleaning takes longer, and nine of ten need none


def _relation(scene_id: str, subject_id: str, item: object, report: Report) -> RawRelation | None:
    if not isinstance(item, dict):
        report.reject(scene_id, f"relation of {subject_id}", "relation is not a table")
        return None
    target = item.get("object")
    as_it_should_be = item.__class__ is dict and len(item) == 2 and target is not None and "name" in item
    if not as_it_should_be and (wrong := RELATION.wrong(item, report)):
        report.reject(scene_id, f"relation of {subject_id}", wrong)
        return None
    if target.__class__ is not str and target.__class__ is not int:
        report.reject(scene_id, f"relation {subject_id} -> {target}", "relation to a missing object")
        return None
    name, wrong = clean_name(item.get("name"))
    if name is None:
        report.reject(scene_id, f"relation {subject_id} -> {target}", f"relation: {wrong}")
        return None
    return RawRelation(name, subject_id, str(target))
