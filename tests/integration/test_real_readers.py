"""The readers, the merge and the word filter on the real subsets in ``../shared/data``."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from compvqa import tables
from compvqa.covr.filters.words.overlap import OverlapSettings, overlap
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.merge import merge
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, REJECTS, RELATIONS, SCENES

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real subsets are not at ../shared/data")


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    path = tmp_path_factory.mktemp("lexicon") / "lexicon.json"
    Lexicon.from_gqa(DATA / "vocab").dump(path)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory, lexicon):
    """The sources' folders and the merged one, with the counts of each."""
    out = tmp_path_factory.mktemp("real")
    files = {
        "gqa": {"train": "gqa/train_sceneGraphs.json", "val": "gqa/val_sceneGraphs.json"},
        "visual_genome": {"all": "visual_genome/scene_graphs.json"},
        "imsitu": {
            "train": "imsitu/train.json",
            "val": "imsitu/dev.json",
            "space": "imsitu/imsitu_space.json",
            "templates": "imsitu/generation_templates.tab",
        },
    }
    counts = {}
    for name, parts in files.items():
        source = SourceSettings(
            name=name,
            reader=name,
            image_space="imsitu" if name == "imsitu" else "vg",
            files={part: DATA / path for part, path in parts.items()},
        )
        counts[name] = ingest(source, lexicon, out / name)
    counts["merged"] = merge([out / name for name in files], out / "merged")
    return out, counts


def raw(path):
    return json.loads((DATA / path).read_text())


def read(folder, schema):
    return tables.read(folder / f"{schema.name}.parquet", schema)


def test_every_record_is_accounted_for(made):
    _, counts = made
    scenes = [scene for part in ("train", "val") for scene in raw(f"gqa/{part}_sceneGraphs.json").values()]
    things = [item for scene in scenes for item in scene["objects"].values()]
    assert (counts["gqa"]["scenes in"], counts["gqa"]["objects in"]) == (len(scenes), len(things))
    assert counts["gqa"]["relations in"] == sum(len(item["relations"]) for item in things)
    scenes = raw("visual_genome/scene_graphs.json")
    for table, key in (("objects", "objects"), ("relations", "relationships")):
        assert counts["visual_genome"][f"{table} in"] == sum(len(scene[key]) for scene in scenes)
    for name in ("gqa", "visual_genome", "imsitu"):
        found = counts[name]
        for table in ("scenes", "objects", "relations"):
            lost = sum(n for what, n in found.items() if what.startswith(f"{table} dropped"))
            refused = {"scenes": "scene", "objects": "object: ", "relations": "relation"}[table]
            lost += sum(n for what, n in found.items() if what.startswith(f"rejected: {refused}"))
            assert found[f"{table} in"] - lost == found[f"{table} out"], (name, table)
        sentences = found.get("rejected: object: name is a sentence", 0)
        assert sentences == (0 if name == "imsitu" else 95)  # of Visual Genome's first 60 images, in GQA's shape too
        assert found["rejects"] - sentences < 0.025 * found["objects in"]


def test_the_scenes_of_each_source(made):
    _, counts = made
    assert (counts["gqa"]["scenes in"], counts["gqa"]["scenes out"]) == (63, 63)
    assert (counts["visual_genome"]["scenes in"], counts["visual_genome"]["scenes out"]) == (60, 60)
    assert counts["imsitu"]["scenes in"] == 5841 + 655


def test_no_image_is_on_both_sides_and_none_has_two_scenes(made):
    out, counts = made
    rows = read(out / "merged", SCENES).to_pylist()
    assert max(Counter(row["image"] for row in rows).values()) == 1
    assert counts["merged"]["visual_genome: scenes out"] == 0  # all sixty are in GQA's files as well
    assert counts["merged"]["visual_genome: scenes dropped: image has a scene"] == 60
    assert {row["split"] for row in rows} == {"train", "val"}


def test_the_same_graphs_in_both_formats_have_the_same_objects(made):
    """Visual Genome's ids 1-60 stand in GQA's shape as well: reading either way must agree."""
    out, _ = made
    found = []
    for name in ("gqa", "visual_genome"):
        rows = read(out / name, OBJECTS).to_pylist()
        ids = {(row["scene_id"].split(":")[1], row["object_id"], row["name"].lower()) for row in rows}
        found.append({row for row in ids if int(row[0]) <= 60})
    assert found[0] == found[1]


def test_names_of_gqa_are_in_lower_case_already_and_those_of_imsitu_are_put_so(made):
    """Of imSitu's 918 names, which WordNet wrote, 19 have capitals."""
    out, _ = made
    for part in ("train", "val"):
        scenes = raw(f"gqa/{part}_sceneGraphs.json")
        rows = [row for row in read(out / "gqa", OBJECTS).to_pylist() if row["scene_id"].split(":")[1] in scenes]
        for row in rows:
            written = scenes[row["scene_id"].split(":")[1]]["objects"][row["object_id"]]["name"]
            assert row["name"] == " ".join(written.split())
    glosses = raw("imsitu/imsitu_space.json")["nouns"].values()
    capitals = {gloss.lower() for noun in glosses for gloss in noun["gloss"][:1] if gloss != gloss.lower()}
    assert "molotov cocktail" in capitals & set(read(out / "imsitu", OBJECTS)["name"].to_pylist())


def test_references_hold_and_groups_are_filled(made):
    out, _ = made
    merged = out / "merged"
    objects = {(row["scene_id"], row["object_id"]) for row in read(merged, OBJECTS).to_pylist()}
    relations = read(merged, RELATIONS).to_pylist()
    assert all((r["scene_id"], r[end]) in objects for r in relations for end in ("subject_id", "object_id"))
    ids = {(row["scene_id"], row["relation_id"]) for row in relations}
    modifiers = read(merged, MODIFIERS).to_pylist()
    assert modifiers and all((row["scene_id"], row["relation_id"]) in ids for row in modifiers)
    groups = {row["name"]: row["group"] for row in read(merged, ATTRIBUTES).to_pylist()}
    assert groups["red"] == "color" and groups["wood"] == "material"
    assert not {"to the left of", "to the right of"} & {row["name"] for row in relations}


def test_imsitu_relations_and_their_modifiers(made):
    out, _ = made
    names = {row["name"] for row in read(out / "imsitu", RELATIONS).to_pylist()}
    assert {"clapping their", "talking to", "jumping from", "milking", "ailing with"} <= names
    assert {"with", "into", "from", "on their", "in their"} <= {
        row["name"] for row in read(out / "imsitu", MODIFIERS).to_pylist()
    }
    assert set(read(out / "imsitu", OBJECTS)["x"].to_pylist()) == {None}
    assert read(out / "imsitu", REJECTS).num_rows == 0


def test_overlap_of_the_real_vocabulary(made, lexicon, tmp_path):
    out, _ = made
    counts = overlap(out / "merged", lexicon, tmp_path / "overlap.parquet", OverlapSettings())
    assert counts["noun pairs"] > 10_000 and counts["attribute pairs exclusive"] > 50
    assert 0 < counts["relation pairs exclusive"] < counts["relation pairs"]


@pytest.mark.parametrize(
    ("kind", "accuracy", "precision"),
    [("noun", 0.88, 0.90), ("attribute", 0.42, 0.95), ("relation", 0.79, 0.70)],
)
def test_the_lexicon_against_people(lexicon, kind, accuracy, precision):
    """Accuracy, and how often what the lexicon calls exclusive is; attributes are told with much caution."""
    known, right, called, truly = Lexicon.load(lexicon), [], 0, 0
    with (DATA / f"overlap/{kind}s.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            exclusive = known.exclusive(kind, row["x"], row["y"]) > 0.5
            truth = row["label"] == "exclusive"
            right.append(exclusive == truth)
            called += exclusive
            truly += exclusive and truth
    assert sum(right) / len(right) >= accuracy
    assert truly / called >= precision
