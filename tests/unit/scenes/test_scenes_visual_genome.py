"""Visual Genome's scene graphs."""

import json

import pytest

from compvqa.errors import InputError
from compvqa.scenes.raw import Report
from compvqa.scenes.readers import visual_genome


def thing(object_id, *names, attributes=(), **box):
    boxed = {"x": 0, "y": 0, "w": 9, "h": 9} | box
    return {
        "object_id": object_id,
        "names": list(names),
        "attributes": list(attributes),
        "synsets": [],
        **boxed,
    }


def link(subject, predicate, target):
    return {"relationship_id": 1, "predicate": predicate, "subject_id": subject, "object_id": target}


def read(tmp_path, *scenes, split_of=lambda _: "val"):
    path = tmp_path / "scene_graphs.json"
    path.write_text(json.dumps(list(scenes)))
    report = Report()
    return list(visual_genome.read({"all": path}, split_of, report)), report


def scene(image_id, objects, relationships=()):
    return {
        "image_id": image_id,
        "width": 8,
        "height": 6,
        "objects": objects,
        "relationships": list(relationships),
    }


def test_names_and_predicates_are_normalised(tmp_path):
    objects = [thing(1, " Wine  Bottle", "jug", attributes=["Red", "red "]), thing(2, "table")]
    [found], report = read(tmp_path, scene(3, objects, [link(1, "ON  top of", 2), link(1, "on Top of", 2)]))
    assert [(o.object_id, o.name, o.attributes) for o in found.objects] == [
        ("1", "wine bottle", ["red"]),
        ("2", "table", []),
    ]
    assert [(r.subject_id, r.name, r.object_id) for r in found.relations] == [("1", "on top of", "2")]
    assert report.counts["relations dropped: repeated"] == 1
    assert (found.raw_id, found.split) == ("3", "val")


def test_the_side_of_a_scene_is_dealt_by_its_id(tmp_path):
    found, _ = read(tmp_path, scene(3, []), scene(4, []), split_of={"3": "train", "4": "val"}.get)
    assert [s.split for s in found] == ["train", "val"]


def test_bad_records_are_refused_one_by_one(tmp_path):
    objects = [thing(1, "cat"), thing(1, "dog"), thing(2), thing(None, "cow"), thing(3, "pig", w=-1), "x"]
    relations = [link(1, "on", 9), link(1, "", 1), link(None, "on", 1), 7]
    [found, _], report = read(tmp_path, scene(5, objects, relations), "x", {"image_id": 6}, scene(7, []))
    assert [o.name for o in found.objects] == ["cat"] and not found.relations
    assert sorted(row["reason"] for row in report.rejects) == [
        "box without a positive size",
        "object id repeated",
        "object without an id",
        "object without an id",
        "object: without a name",
        "relation is not a table",
        "relation to a missing object",
        "relation to a missing object",
        "relation: without a name",
        "scene without a list of objects",
        "scene without an image id",
    ]


def test_a_file_of_the_wrong_shape(tmp_path):
    path = tmp_path / "scene_graphs.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="scene_graphs.json holds no JSON array"):
        list(visual_genome.read({"all": path}, lambda _: "val", Report()))
