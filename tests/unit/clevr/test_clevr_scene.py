"""A scene as bit masks: the same from tables as from CLEVR's JSON."""

import json

import pyarrow.compute as pc
import pytest
from hypothesis import given

from compvqa import tables
from compvqa.clevr.language import GROUPS
from compvqa.clevr.scene import read_scenes
from compvqa.errors import InputError
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.readers.clevr import TOLD
from compvqa.scenes.tables import ATTRIBUTES, DIRECTIONS
from fixtures.clevr_scenes import drawn_scenes, scene_of


@given(drawn_scenes())
def test_a_description_fits_the_objects_that_have_all_of_it(drawn):
    scene, objects, _ = drawn
    for description, mask in scene.described.items():
        fits = [
            all(word in (None, thing[group]) for group, word in zip(GROUPS, description, strict=True))
            for thing in objects
        ]
        assert [bool(mask >> i & 1) for i in range(len(objects))] == fits
        assert scene.fitting(description) == mask


@pytest.fixture
def folder(clevr, tmp_path):
    """Five official scenes as tables."""
    file = clevr / "CLEVR_val_scenes_of_images.json"
    ingest(SourceSettings(name="clevr", reader="clevr", files={"val": file}), None, tmp_path)
    return tmp_path


def test_scenes_of_tables_are_those_of_the_official_file(clevr, folder):
    records = json.loads((clevr / "CLEVR_val_scenes_of_images.json").read_text())["scenes"]
    expected = {f"clevr:{scene.scene_id}": scene for scene in map(scene_of, records)}
    found = {scene.scene_id: scene for scene in read_scenes(folder)}
    assert found.keys() == expected.keys()
    for scene_id, scene in found.items():
        assert scene.objects == expected[scene_id].objects
        assert scene.relations == expected[scene_id].relations
        assert scene.split == "val"


def test_relations_that_do_not_follow_from_places_are_kept_as_told_or_their_scene_is_refused(clevr, tmp_path):
    told = json.loads((clevr / "CLEVR_val_scenes_of_images.json").read_text())
    for record in told["scenes"][1:]:
        relations = record["relationships"]
        relations["left"], relations["right"] = relations["right"], relations["left"]
    expected = {f"clevr:{scene.scene_id}": scene.relations for scene in map(scene_of, told["scenes"])}
    (tmp_path / "mirrored.json").write_text(json.dumps(told))
    for relations, kept in (("told", 5), ("derived", 1)):
        settings = {"name": "clevr", "reader": "clevr", "files": {"val": tmp_path / "mirrored.json"}}
        source = SourceSettings(**settings, settings={"relations": relations}, most_rejected=1)
        counts = ingest(source, None, tmp_path / relations)
        assert (counts["scenes out"], counts["rejects"], counts.get(TOLD)) == (kept, 5 - kept, kept - 1 or None)
        found = {scene.scene_id: scene.relations for scene in read_scenes(tmp_path / relations)}
        assert found == {scene: expected[scene] for scene in list(expected)[:kept]}


def test_scenes_that_lack_what_questions_need_are_told_in_one_sentence(folder):
    attributes = tables.read(folder / "attributes.parquet", ATTRIBUTES)
    tables.write(
        folder / "attributes.parquet", ATTRIBUTES, attributes.filter(pc.not_equal(attributes["group"], "color"))
    )
    with pytest.raises(InputError, match="has no color: correct its file"):
        list(read_scenes(folder))
    tables.write(folder / "directions.parquet", DIRECTIONS, [])
    with pytest.raises(InputError, match="has no directions"):
        list(read_scenes(folder))
    (folder / "positions.parquet").unlink()
    with pytest.raises(InputError, match="has no table positions"):
        list(read_scenes(folder))
