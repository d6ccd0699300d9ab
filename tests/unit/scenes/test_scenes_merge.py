"""Several sources put together: one scene an image, and nothing lost silently."""

import pytest

from compvqa.errors import InputError
from compvqa.scenes.merge import merge
from unit.scenes.gqa_sources import column, gqa_scene, run, source


def test_merge_keeps_one_scene_an_image_by_the_order_of_sources(tmp_path):
    one, _ = run(tmp_path, source(tmp_path, "one", train={"1": gqa_scene("cat", "sofa"), "2": gqa_scene("dog")}))
    two, _ = run(tmp_path, source(tmp_path, "two", val={"2": gqa_scene("cow", "hay"), "3": gqa_scene("pig")}))
    other, _ = run(tmp_path, source(tmp_path, "other", space="elsewhere", val={"2": gqa_scene("hen")}))
    counts = merge([one, two, other], tmp_path / "scenes")
    assert column(tmp_path / "scenes", "scenes", "scene_id") == ["one:1", "one:2", "other:2", "two:3"]
    assert column(tmp_path / "scenes", "objects", "name") == ["cat", "sofa", "dog", "hen", "pig"]
    assert len(set(column(tmp_path / "scenes", "scenes", "image"))) == 4
    assert (counts["two: scenes in"], counts["two: scenes out"]) == (2, 1)
    assert (counts["two: relations in"], counts["two: relations out"]) == (1, 0)
    assert counts["two: scenes dropped: image has a scene"] == 1
    assert (counts["scenes in"], counts["scenes out"]) == (5, 4)
    assert column(tmp_path / "scenes", "rejects", "reason") == []
    merge([two, one], tmp_path / "other_order")
    assert column(tmp_path / "other_order", "scenes", "scene_id") == ["one:1", "two:2", "two:3"]


def test_merge_refuses_two_sources_of_one_name(tmp_path):
    one, _ = run(tmp_path, source(tmp_path, train={"1": gqa_scene("cat")}))
    with pytest.raises(InputError, match="'gqa:1'"):
        merge([one, one], tmp_path / "scenes")


def test_merge_keeps_the_rejects_of_all_sources(tmp_path):
    folders = []
    for name in ("one", "two"):
        bad = gqa_scene("cat")
        bad["objects"]["o0"]["w"] = -1
        folders.append(run(tmp_path, source(tmp_path, name, train={"1": bad}))[0])
    merge(folders, tmp_path / "scenes")
    assert column(tmp_path / "scenes", "rejects", "scene_id") == ["one:1", "two:1"]
