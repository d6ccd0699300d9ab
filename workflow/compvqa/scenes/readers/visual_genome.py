"""Visual Genome's ``scene_graphs.json``: one JSON array of images with objects and relationships.

Of an object's names the first counts. Synsets are not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from compvqa.scenes.stream import elements

SPLITS = ("train", "val", "all")
SCENE = Keys(
    "scene",
    ("image_id", "width", "height", "objects", "relationships"),
    ("url", "image_url", "coco_id", "flickr_id", "attributes", "regions", "id"),
)
OBJECT = Keys(
    "object", ("object_id", "names", "x", "y", "w", "h", "attributes"), ("name", "synsets", "merged_object_ids", "id")
)
RELATION = Keys(
    "relation",
    ("subject_id", "object_id", "predicate"),
    ("relationship_id", "synsets", "subject_name", "object_name", "subject", "object"),
)


def read(files: dict[str, Path], split_of: SplitOf, report: Report) -> Iterator[RawScene]:
    """The scenes of the files ``train``, ``val`` and ``all`` (whose scenes are dealt by ``split_of``)."""
    for part in (part for part in SPLITS if part in files):
        report.file = files[part].name
        for number, record in enumerate(elements(files[part])):
            scene_id = _id(record.get("image_id")) if isinstance(record, dict) else None
            if isinstance(record, dict) and (wrong := SCENE.wrong(record, report)):
                report.reject(f"#{number}" if scene_id is None else scene_id, "scene", wrong)
            elif scene_id is None:
                report.reject(f"#{number}", "scene", "scene without an image id")
            elif not isinstance(record.get("objects"), list):
                report.reject(scene_id, "scene", "scene without a list of objects")
            else:
                split = split_of(scene_id) if part == "all" else part
                yield _scene(scene_id, record, split, report)


def _scene(scene_id: str, record: dict, split: str, report: Report) -> RawScene:
    objects: dict[str, RawObject] = {}
    size = clean_size(record, "width"), clean_size(record, "height")
    if None in size:
        report.count("scenes without a picture's size")
    for item in record["objects"]:
        found = _object(scene_id, item, size, report)
        if found is not None and found.object_id in objects:
            report.reject(scene_id, f"object {found.object_id}", "object id repeated")
        elif found is not None:
            objects[found.object_id] = found
    items = record.get("relationships")
    if items is not None and not isinstance(items, list):
        report.reject(scene_id, "relations", "relations are not a list")
        items = None
    relations = (_relation(scene_id, item, report) for item in items or ())
    kept = list(objects.values())
    return RawScene(
        raw_id=scene_id,
        split=split,
        image_id=scene_id,
        width=size[0],
        height=size[1],
        objects=kept,
        relations=link((relation for relation in relations if relation), kept, report, scene_id),
    )


def _object(scene_id: str, item: Any, size: tuple[int | None, int | None], report: Report) -> RawObject | None:
    object_id = _id(item.get("object_id")) if isinstance(item, dict) else None
    if isinstance(item, dict) and (wrong := OBJECT.wrong(item, report)):
        report.reject(scene_id, "object" if object_id is None else f"object {object_id}", wrong)
        return None
    if object_id is None:
        report.reject(scene_id, "object", "object without an id")
        return None
    names = item.get("names")
    first = names[0] if isinstance(names, list) and names else item.get("name")
    name, wrong = clean_name(first)
    if name is None:
        report.reject(scene_id, f"object {object_id}", f"object: {wrong}")
        return None
    box, wrong = clean_box(item, *size, report)
    if box is None:
        report.reject(scene_id, f"object {object_id}", wrong)
        return None
    attributes = unique_names(item.get("attributes"), report, scene_id, f"object {object_id}")
    return RawObject(object_id, name, attributes, box)


def _relation(scene_id: str, item: object, report: Report) -> RawRelation | None:
    if not isinstance(item, dict):
        report.reject(scene_id, "relation", "relation is not a table")
        return None
    wrong = RELATION.wrong(item, report)
    subject_id, object_id = _id(item.get("subject_id")), _id(item.get("object_id"))
    record = f"relation {subject_id} -> {object_id}"
    if wrong:
        report.reject(scene_id, record, wrong)
        return None
    if subject_id is None or object_id is None:
        report.reject(scene_id, record, "relation to a missing object")
        return None
    name, wrong = clean_name(item.get("predicate"))
    if name is None:
        report.reject(scene_id, record, f"relation: {wrong}")
        return None
    return RawRelation(name, subject_id, object_id)


def _id(value: object) -> str | None:
    """An id as text: Visual Genome writes integers, its conversions sometimes strings."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        return None
    return str(value)
