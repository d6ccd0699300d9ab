"""The simulated raw files: read without rejects, of the intended statistics, the same bytes for the same seed."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.run import validate
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.ontology import frequencies
from compvqa.scenes.readers.gqa import SPATIAL
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS, SCENES
from compvqa.scenes.worlds.simulate import SimulateSettings, files, simulate

GQA, IMSITU = 340, 1600
KINDS = {"person": "man woman boy girl", "animal": "dog cat horse cow", "food": "pizza apple cake egg bread"}
KINDS |= {"thing": "ball box cup bag book", "vehicle": "car bus bike train boat", "place": "road lake park yard"}
COLOURS = ["white", "black", "green", "blue", "red", "brown", "gray", "yellow", "pink", "tan"]
RELATED = ["on", "in", "near", "with", "behind", "holding", "under", "by", "above", "at"]


@pytest.fixture(scope="module")
def ontology(tmp_path_factory):
    """GQA's three lists for a small vocabulary, the names ever rarer."""
    folder = tmp_path_factory.mktemp("ontology")
    nouns = [(noun, kind) for kind, names in KINDS.items() for noun in names.split()]
    lines = {
        "objects": [f"{noun},{9000 // (n + 1)},{kind},S" for n, (noun, kind) in enumerate(nouns)] + ["ghost,thing,S"],
        "attributes": [f"{name};{5000 // (n + 1)};color" for n, name in enumerate(COLOURS)],
        "relations": [f"{name},{7000 // (n + 1)},direct" for n, name in enumerate([*RELATED, *SPATIAL])],
    }
    for kind, text in lines.items():
        (folder / f"gqa_{kind}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def made(ontology, tmp_path_factory):
    """The folder of the raw files, that of the scene tables, and the counts of the writer and of the readers."""
    raw, out = tmp_path_factory.mktemp("raw"), tmp_path_factory.mktemp("tables")
    counts = {"simulate": simulate(ontology, raw, SimulateSettings(gqa=GQA, imsitu=IMSITU), seed=3)}
    gqa = {"train": raw / "train_sceneGraphs.json", "val": raw / "val_sceneGraphs.json"}
    imsitu = {"train": "train.json", "val": "dev.json"}
    imsitu |= {"space": "imsitu_space.json", "templates": "generation_templates.tab"}
    for reader, parts in (("gqa", gqa), ("imsitu", {part: raw / "imsitu" / name for part, name in imsitu.items()})):
        counts[reader] = ingest(SourceSettings(name=reader, reader=reader, files=parts), None, out / reader)
    return raw, out, counts


def rows(folder, schema):
    return tables.read(folder / f"{schema.name}.parquet", schema).to_pylist()


def test_the_readers_refuse_nothing_and_find_what_was_written(made):
    _, _, counts = made
    wrote, gqa, imsitu = counts["simulate"], counts["gqa"], counts["imsitu"]
    assert gqa["rejects"] == imsitu["rejects"] == 0
    assert gqa["scenes out"] == wrote["GQA scenes"] == GQA
    assert gqa["objects out"] == wrote["GQA objects"]
    assert gqa["attributes out"] == wrote["GQA attributes"]
    assert gqa["relations out"] == wrote["GQA relations"]
    assert gqa["relations dropped: to the left or right of"] == wrote["GQA relations: to the left or right of"]
    assert imsitu["scenes in"] == wrote["imSitu images"] == IMSITU


def test_the_two_sides_have_the_sizes_of_the_downloads(made):
    _, out, counts = made
    sides = Counter(row["split"] for row in rows(out / "gqa", SCENES))
    assert sides == {"train": 300, "val": 40}
    assert {row["split"] for row in rows(out / "imsitu", SCENES)} == {"train", "val"}


def test_a_scene_is_as_large_and_as_dense_as_the_settings_say(made, ontology, tmp_path):
    counts = made[2]["simulate"]
    assert counts["GQA objects"] / GQA == pytest.approx(16.4, rel=0.1)
    assert counts["GQA relations"] / counts["GQA objects"] == pytest.approx(0.35, rel=0.1)
    assert counts["GQA relations: to the left or right of"] / counts["GQA objects"] == pytest.approx(2.45, rel=0.1)
    assert counts["GQA attributes"] / counts["GQA objects"] == pytest.approx(0.85, rel=0.15)
    dense = simulate(ontology, tmp_path, SimulateSettings(gqa=100, imsitu=0, relations=2.1), seed=3)
    assert dense["GQA relations"] / dense["GQA objects"] == pytest.approx(2.1, rel=0.1)
    assert not (tmp_path / "imsitu").exists()


def test_imsitu_gives_the_shares_of_the_real_subset(made):
    """Of its 6,496 images 4,467 have a relation, each with 0.63 modifiers; 1,230 have a verb with one role."""
    _, out, counts = made
    found = counts["imsitu"]
    relations, modifiers = rows(out / "imsitu", RELATIONS), rows(out / "imsitu", MODIFIERS)
    assert found["scenes dropped: verb with fewer than two roles"] / IMSITU == pytest.approx(0.17, abs=0.03)
    assert len(relations) / IMSITU == pytest.approx(0.75, abs=0.08)
    assert len(modifiers) / len(relations) == pytest.approx(0.63, abs=0.12)


def test_names_are_as_frequent_as_the_lists_count_them(made, ontology):
    _, out, _ = made
    listed = frequencies(ontology)
    for schema, kind in ((OBJECTS, "nouns"), (ATTRIBUTES, "attributes"), (RELATIONS, "relations")):
        found = Counter(row["name"] for row in rows(out / "gqa", schema))
        names = [name for name in listed[kind] if name not in SPATIAL]
        half = len(names) // 2
        assert set(found) <= set(names)
        assert sum(found[name] for name in names[:half]) > 1.5 * sum(found[name] for name in names[half:])


def test_names_keep_company(made):
    """Relations recur in other scenes more often than if targets were dealt anew among all relations."""
    _, out, _ = made
    nouns = {(row["scene_id"], row["object_id"]): row["name"] for row in rows(out / "gqa", OBJECTS)}
    relations = rows(out / "gqa", RELATIONS)
    ends = [(nouns[r["scene_id"], r["subject_id"]], nouns[r["scene_id"], r["object_id"]]) for r in relations]
    dealt = [target for _, target in ends]
    random.Random(5).shuffle(dealt)
    kept = {(subject, r["name"], target) for (subject, target), r in zip(ends, relations, strict=True)}
    mixed = {(subject, r["name"], new) for (subject, _), r, new in zip(ends, relations, dealt, strict=True)}
    assert len(kept) < 0.8 * len(mixed)


def test_boxes_lie_in_their_pictures(made):
    scenes = json.loads((made[0] / "train_sceneGraphs.json").read_text())
    for scene in scenes.values():
        for item in scene["objects"].values():
            assert item["w"] > 0 and item["h"] > 0
            assert 0 <= item["x"] <= item["x"] + item["w"] <= scene["width"]
            assert 0 <= item["y"] <= item["y"] + item["h"] <= scene["height"]


def test_what_is_left_is_left(made):
    """Middles of boxes agree with the spatial relations, and each relation is said from both sides."""
    scenes = json.loads((made[0] / "val_sceneGraphs.json").read_text())
    for scene in scenes.values():
        items = scene["objects"]
        said = {
            (key, relation["name"], relation["object"])
            for key, item in items.items()
            for relation in item["relations"]
            if relation["name"] in SPATIAL
        }
        for subject, name, target in said:
            assert (target, SPATIAL[1 - SPATIAL.index(name)], subject) in said
            left, right = (items[key]["x"] + items[key]["w"] / 2 for key in (subject, target))
            assert left <= right if name == SPATIAL[0] else left >= right


def test_three_annotators_fill_the_same_roles(made):
    raw = made[0] / "imsitu"
    space = json.loads((raw / "imsitu_space.json").read_text())
    assert len(space["verbs"]) == 504
    images = json.loads((raw / "dev.json").read_text())
    for image in images.values():
        roles = set(space["verbs"][image["verb"]]["roles"])
        assert len(image["frames"]) == 3
        assert all(set(frame) == roles for frame in image["frames"])
        assert all(noun == "" or noun in space["nouns"] for frame in image["frames"] for noun in frame.values())


def test_the_bytes_depend_on_the_seed_alone(ontology, tmp_path):
    def run(name, seed, hashseed):
        root = Path(__file__).resolve().parents[3]
        environment = os.environ | {"PYTHONHASHSEED": hashseed, "PYTHONPATH": str(root / "workflow")}
        command = [sys.executable, "-m", "compvqa", "simulate", str(tmp_path / name), "--ontology", str(ontology)]
        command += ["--gqa", "20", "--imsitu", "40", "--seed", str(seed)]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return [path.read_bytes() for path in files(tmp_path / name, SimulateSettings(gqa=20, imsitu=40))]

    first = run("a", 1, "1")
    assert first == run("b", 1, "2")
    assert all(one != other for one, other in zip(first, run("c", 2, "1"), strict=True))


def test_a_scene_is_the_same_among_more_scenes(ontology, tmp_path):
    found = {}
    for number in (30, 60):
        simulate(ontology, tmp_path / str(number), SimulateSettings(gqa=number, imsitu=number), seed=1)
        parts = ("train_sceneGraphs.json", "val_sceneGraphs.json", "imsitu/train.json", "imsitu/dev.json")
        found[number] = {}
        for part in parts:
            found[number] |= json.loads((tmp_path / str(number) / part).read_text())
    assert len(found[30]) == 60 and len(found[60]) == 120
    assert found[30].items() <= found[60].items()


def test_no_scenes_and_wrong_numbers(ontology, tmp_path):
    assert simulate(ontology, tmp_path, SimulateSettings(gqa=0, imsitu=0), seed=1) == {"bytes": 0}
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="simulate.gqa"):
        validate(SimulateSettings, {"gqa": -1}, "simulate")
    with pytest.raises(InputError, match="gqa_objects.txt"):
        simulate(tmp_path, tmp_path, SimulateSettings(gqa=1), seed=1)
