"""CLEVR's scene files: places, attributes with groups, relations that follow, and what is refused."""

import copy
import json
import math

import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.scenes import ingest
from compvqa.scenes.ingest import SourceSettings
from compvqa.scenes.merge import merge
from compvqa.scenes.raw import Report
from compvqa.scenes.readers import clevr
from compvqa.scenes.spatial import all_related
from compvqa.scenes.tables import ATTRIBUTES, DIRECTIONS, OBJECTS, POSITIONS, REJECTS, RELATIONS


def thing(shape, color, x, y, size="small", material="metal"):
    where = {"3d_coords": [x, y, 0.35], "rotation": 12.5, "pixel_coords": [100, 50, 9.25]}
    return {"shape": shape, "color": color, "size": size, "material": material, **where}


SCENE = {
    "image_index": 7,
    "image_filename": "CLEVR_val_000007.png",
    "split": "val",
    "objects": [thing("cube", "red", 0, 0), thing("sphere", "blue", 1, 0.1, "large", "rubber")],
    "directions": {
        "right": [1, 0, 0],
        "left": [-1, 0, 0],
        "front": [0, -1, 0],
        "behind": [0, 1, 0],
        "above": [0, 0, 1],
    },
    "relationships": {"right": [[1], []], "left": [[], [0]], "front": [[], []], "behind": [[], []]},
}


def write(tmp_path, *scenes):
    path = tmp_path / "CLEVR_val_scenes.json"
    path.write_text(json.dumps({"info": {"split": "val", "version": "1.0"}, "scenes": list(scenes)}))
    return path


def read(tmp_path, *scenes):
    report = Report()
    return list(clevr.read({"val": write(tmp_path, *scenes)}, lambda _: "train", report)), report


def test_an_object_is_called_by_its_shape_and_its_attributes_know_their_groups(tmp_path):
    [scene], report = read(tmp_path, SCENE)
    assert (scene.raw_id, scene.split, scene.image_id) == ("CLEVR_val_000007", "val", "CLEVR_val_000007")
    ball = scene.objects[1]
    assert (ball.name, ball.groups) == ("sphere", {"large": "size", "blue": "color", "rubber": "material"})
    assert ball.position == (1, 0.1, 0.35, 12.5, 100, 50, 9.25)
    assert (scene.relations, report.rejects) == ([], [])


def broken(**changes):
    return {**copy.deepcopy(SCENE), **changes}


def with_object(**changes):
    return broken(objects=[SCENE["objects"][0], {**SCENE["objects"][1], **changes}])


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        ("scene", "scene without the name of its picture"),
        (broken(objects=None), "scene without a list of objects"),
        (broken(directions={}), "scene without directions"),
        (broken(directions={"left": [0, 1]}), "direction left: not 3 finite numbers"),
        (broken(object=[]), "scene: unknown key 'object'"),
        (with_object(colour="red", color=None), "object's color: without a name"),
        (with_object(**{"3d_coords": [0, math.nan, 0]}), "3d_coords: not 3 finite numbers"),
        (with_object(rotation="much"), "rotation: not 1 finite number"),
        (with_object(size="blue"), "object with one word for two of its attributes"),
        (broken(relationships={"right": [[2], []]}), "relation to a missing object"),
        (broken(relationships={"right": [[], [0]]}), "relation right does not follow from the objects' places"),
        (broken(relationships={"right": [[1]]}), "relation right: not one list for each object"),
        (broken(relationships={"above": [[], []]}), "relation above without a level direction"),
        (broken(relationships=[]), "relations are not a table"),
    ],
)
def test_a_malformed_scene_is_refused_with_its_reason_and_the_next_one_read(tmp_path, scene, reason):
    if isinstance(scene, dict) and "object" in scene:
        del scene["objects"]
    found, report = read(tmp_path, scene, SCENE)
    assert [item.raw_id for item in found] == ["CLEVR_val_000007"]
    assert [row["reason"].startswith(reason) for row in report.rejects] == [True]


def test_a_file_that_is_cut_or_lacks_its_scenes_stops_the_run_with_one_sentence(tmp_path):
    path = write(tmp_path, SCENE, SCENE)
    whole = path.read_text()
    path.write_text(whole[:-200])
    with pytest.raises(InputError, match="ends too early"):
        list(clevr.read({"val": path}, str, Report()))
    path.write_text('{"info": {}}')
    with pytest.raises(InputError, match="has no key 'scenes'"):
        list(clevr.read({"val": path}, str, Report()))
    path.write_text('{"scenes": {}}')
    with pytest.raises(InputError, match="holds no JSON array there"):
        list(clevr.read({"val": path}, str, Report()))


def test_values_keep_their_case_in_which_questions_and_words_name_them(tmp_path):
    [scene], _ = read(tmp_path, with_object(color="Cyan "))
    assert scene.objects[1].groups["Cyan"] == "color"


def source(path):
    return SourceSettings(name="clevr", reader="clevr", files={"val": path})


def test_positions_and_directions_are_tables_beside_the_others(tmp_path):
    out = tmp_path / "out"
    ingest.ingest(source(write(tmp_path, SCENE)), None, out)
    assert tables.read(out / "objects.parquet", OBJECTS)["name"].to_pylist() == ["cube", "sphere"]
    groups = tables.read(out / "attributes.parquet", ATTRIBUTES)
    assert dict(zip(groups["name"].to_pylist(), groups["group"].to_pylist(), strict=True))["blue"] == "color"
    assert tables.read(out / "positions.parquet", POSITIONS)["x"].to_pylist() == [0, 1]
    assert len(tables.read(out / "directions.parquet", DIRECTIONS)) == 5
    assert len(tables.read(out / "relations.parquet", RELATIONS)) == 0
    merge([out], tmp_path / "all")
    assert tables.read(tmp_path / "all/positions.parquet", POSITIONS).equals(
        tables.read(out / "positions.parquet", POSITIONS)
    )


def test_a_source_without_positions_writes_no_such_table_and_can_be_merged_with_one_that_has_them(tmp_path):
    ingest.ingest(source(write(tmp_path, SCENE)), None, tmp_path / "clevr")
    raw = tmp_path / "gqa.json"
    raw.write_text(json.dumps({"1": {"width": 9, "height": 9, "objects": {}}}))
    ingest.ingest(SourceSettings(name="gqa", reader="gqa", files={"val": raw}), None, tmp_path / "gqa")
    names = {path.stem for path in (tmp_path / "gqa").glob("*.parquet")}
    assert names == {"scenes", "objects", "attributes", "relations", "modifiers", "rejects"}
    merge([tmp_path / "gqa", tmp_path / "clevr"], tmp_path / "both")
    assert len(tables.read(tmp_path / "both/positions.parquet", POSITIONS)) == 2
    merge([tmp_path / "gqa"], tmp_path / "both")
    assert not (tmp_path / "both/positions.parquet").exists()


@pytest.mark.parametrize(("file", "scenes"), [("CLEVR_train_scenes.json", 1000), ("oracle/scenes_300.json", 300)])
def test_released_scenes_are_all_read_and_their_relations_follow_from_their_places(shared, tmp_path, file, scenes):
    path = shared / "data/clevr" / file
    out = tmp_path / "out"
    settings = SourceSettings(name="clevr", reader="clevr", files={"train": path})
    counts = ingest.ingest(settings, None, out)
    assert (counts["scenes out"], len(tables.read(out / "rejects.parquet", REJECTS))) == (scenes, 0)
    for record in json.loads(path.read_text())["scenes"]:
        places = [item["3d_coords"] for item in record["objects"]]
        assert all_related(places, record["directions"]) == record["relationships"]
