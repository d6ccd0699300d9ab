"""The preliminary test of single values (CLEVR-PRELIM): its pictures, and that its questions are true of them."""

import json
from collections import Counter, defaultdict

import pytest

from compvqa import tables
from compvqa.clevr.hope.preliminary import questions
from compvqa.clevr.tables import QUESTIONS
from compvqa.errors import InputError
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr_pools import ClevrPools, PoolSettings, Sampling, forecast, scenes_of, variant_of

WORLD = ClevrPools(
    pools={}, variants=2, counted=2, all={"width": 48, "height": 32, "light_samples": 1, "min_pixels": 1}
)
KINDS = ("shape", "color", "material", "size")
VALUES = 3 + 8 + 2 + 2


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The scene file of each side, which is not drawn."""
    path, files = tmp_path_factory.mktemp("prelim"), {}
    for side in WORLD.sides:
        settings = PoolSettings(world=WORLD, side=side)
        sampling, files[side] = Sampling(settings, 1), path / f"{side}.json"
        scenes = [sampling.scene(scene, place) for place, scene in enumerate(scenes_of(settings, 1))]
        assert forecast(settings, 1) == len(scenes)
        record.write(files[side], record.info_of(side, WORLD.all), scenes)
    return files


@pytest.fixture(scope="module")
def asked(drawn, templates, words, tmp_path_factory):
    path = tmp_path_factory.mktemp("asked")
    ingest(SourceSettings(name="clevr", reader="clevr", files=drawn), None, path / "scenes")
    questions(path / "scenes", templates, words, 1, "t", path / "made.parquet", path / "left.parquet")
    return tables.read(path / "made.parquet", QUESTIONS).to_pylist()


def things(drawn):
    """By scene id what its objects are, from the scene files alone."""
    found = {}
    for file in drawn.values():
        for scene in json.loads(file.read_text())["scenes"]:
            name = scene["image_filename"].removesuffix(".png")
            found[f"clevr:{name}"] = [[item[kind] for kind in KINDS] for item in scene["objects"]]
    return found


def test_answers_are_what_the_scene_files_have_and_each_is_given_equally_often(drawn, asked):
    known = things(drawn)
    answers = defaultdict(Counter)
    for row in asked:
        ((_, [value], _),) = (step for step in json.loads(row["program"]) if step[1])
        having = sum(value in thing for thing in known[row["scene_ids"][0]])
        told = str(having) if row["split"] == "counted" else {0: "no", 1: "yes"}[having]
        assert row["answer"] == told
        answers[row["split"], value][row["answer"]] += 1
    assert len(answers) == 2 * VALUES and len({row["question_id"] for row in asked}) == len(asked)
    for (side, _), given in answers.items():
        assert given == dict.fromkeys("012345" if side == "counted" else ("yes", "no"), 2)


def test_pictures_of_a_group_differ_in_nothing_but_the_value(drawn, asked):
    known, groups = things(drawn), defaultdict(list)
    for row in asked:
        groups[row["group_id"]].append(row)
    for group, rows in groups.items():
        _, value, variant = group.split(" ")
        assert {variant_of(row["scene_ids"][0]) for row in rows} == {int(variant)}
        assert len({row["text"] for row in rows}) == 1
        scenes = [known[row["scene_ids"][0]] for row in sorted(rows, key=lambda row: row["answer"])]
        for before, after in zip(scenes, scenes[1:], strict=False):
            ((one, other),) = (pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
            assert sum(a != b for a, b in zip(one, other, strict=True)) == 1 and (value in one) != (value in other)


def test_things_that_are_counted_stay_where_they_are(drawn):
    places = defaultdict(set)
    for scene in json.loads(drawn["counted"].read_text())["scenes"]:
        told = [(*item["3d_coords"][:2], item["rotation"]) for item in scene["objects"]]
        assert len(told) == 5
        number = int(scene["image_filename"].removesuffix(".png").rpartition("_")[2])
        places[number // 1000, number % 1000 // 6].add(json.dumps([told, scene["camera"], scene["lights"]]))
    assert len(places) == 2 * VALUES and {len(found) for found in places.values()} == {1}


def test_a_side_that_is_missing_is_told(drawn, templates, words, tmp_path):
    files = {"minimal": drawn["minimal"]}
    ingest(SourceSettings(name="clevr", reader="clevr", files=files), None, tmp_path / "scenes")
    with pytest.raises(InputError, match="the scenes have no side counted: draw it"):
        questions(tmp_path / "scenes", templates, words, 1, "t", tmp_path / "made.parquet", tmp_path / "left.parquet")


def test_a_world_that_draws_nothing_is_refused():
    with pytest.raises(ValueError, match="nothing is drawn: name pools, or give variants or counted"):
        ClevrPools(pools={}, variants=0)
