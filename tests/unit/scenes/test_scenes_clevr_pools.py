"""Pools of scenes that held-out pairs share, and pictures of single objects."""

from collections import Counter

import pytest

from compvqa.scenes.pairs import Among, occurs
from compvqa.scenes.worlds import clevr
from compvqa.scenes.worlds.clevr import gather, record
from compvqa.scenes.worlds.clevr_pools import (
    ClevrPools,
    Pool,
    PoolSettings,
    Walk,
    contents,
    forecast,
    generate,
    listed,
    shares,
    singles,
    tag_in,
    variant_of,
)

PAIRS = [("cyan", "cylinder"), ("large", "rubber"), ("metal", "red")]
SMALL = {"width": 48, "height": 32, "light_samples": 1, "min_pixels": 60}


def pool(pair="absent", scenes=83, walks=PAIRS, **all):
    world = ClevrPools(pools={"p": Pool(scenes=scenes, pair=pair)}, variants=2, all={**SMALL, **all})
    return PoolSettings(world=world, side="p", walks=[Walk(pair=walk) for walk in walks])


def of(scene):
    return len(scene.values)


@pytest.mark.parametrize("pair", ["absent", "present"])
def test_each_pair_finds_as_many_scenes_of_each_number_and_none_is_there_for_nobody(pair):
    settings = pool(pair)
    scenes = list(listed(settings, 1))
    assert len({scene.filename for scene in scenes}) == len(scenes)
    taken = set()
    for held in PAIRS:
        fits = [scene for scene in scenes if occurs(held, scene.values) == (pair == "present")]
        for many, wanted in zip(range(3, 11), shares(83, 8), strict=True):
            mine = [scene.number for scene in fits if of(scene) == many]
            assert len(mine) >= wanted and mine == sorted(mine)
            taken.update(mine[:wanted])
    assert taken == {scene.number for scene in scenes}
    assert sum(shares(83, 8)) == 83 and max(shares(83, 8)) - min(shares(83, 8)) == 1


def test_what_a_pair_takes_depends_on_no_other_pair_and_a_larger_pool_begins_as_a_smaller():
    """Against a walk of its own over the endless list, by the plainest loop."""
    few = {"min_objects": 2, "max_objects": 4}
    settings = pool(**few)
    for held in PAIRS:
        for many in (2, 4):
            endless = (contents(settings.world.all, 1, "p", "", many, place) for place in range(400))
            mine = [tuple(values) for values in endless if not any({*held} <= {*item} for item in values)]
            for scenes, walks in ((83, PAIRS), (83, [held]), (40, PAIRS)):
                wanted = shares(scenes, 3)[many - 2]
                found = [s.values for s in listed(pool(scenes=scenes, walks=walks, **few), 1) if of(s) == many]
                assert [values for values in found if not occurs(held, values)][:wanted] == mine[:wanted]


def test_scenes_are_uniform_and_of_ten_not_all_are_large():
    settings = pool("present", scenes=800, walks=[("cyan", "cylinder")])
    cut, first = settings.world.all, Counter()
    for place in range(3000):
        values = contents(cut, 1, "p", "", 10, place)
        assert any(size == "small" for *_, size in values)
        first[values[0]] += 1
    assert len(first) == 96 and max(first.values()) < 60


@pytest.mark.parametrize("pair", ["absent", "present"])
def test_a_forecast_is_about_right(pair):
    settings = pool(pair, scenes=800)
    many = len(list(listed(settings, 1)))
    assert abs(forecast(settings, 1) - many) < 0.15 * many
    alone = pool(pair, 900, PAIRS[:1])
    assert forecast(alone, 1) == len(list(listed(alone, 1))) == 900


def test_a_part_of_the_vocabulary_has_lists_of_its_own_in_which_nothing_else_stands():
    grid, whole = Among(grid={"color": 2, "shape": 2}), Among(grid={"color": 8, "shape": 3})
    world = ClevrPools(
        pools={"p": Pool(scenes=16, pair="present"), "c": Pool(scenes=8, pair="absent", common=True)}, all=SMALL
    )
    walks = [
        Walk(pair=PAIRS[0]),
        Walk(pair=PAIRS[0], among=grid, common=grid),
        Walk(pair=PAIRS[0], among=whole, common=grid),
        Walk(pair=PAIRS[0], among=Among(subset=8), common=grid),
    ]
    own = list(listed(PoolSettings(world=world, side="p", walks=walks), 1))
    tags = Counter(tag_in(scene.filename) for scene in own)
    assert tags == {"": 16, "cyan-cylinder-color2-shape2-1": 16, "cyan-cylinder-subset8-1": 16}
    small = {item[:2] for scene in own if "color2" in scene.filename for item in scene.values}
    assert len(small) == 4 and ("cylinder", "cyan") in small
    some = {item[:2] for scene in own if "subset8" in scene.filename for item in scene.values}
    assert len(some) <= 8
    common = list(listed(PoolSettings(world=world, side="c", walks=walks), 1))
    assert {tag_in(scene.filename) for scene in common} == {"cyan-cylinder-color2-shape2-1"}
    assert len(common) == 8 and tag_in("clevr-official:CLEVR_train_000017") == ""


def test_single_objects_are_all_there_in_each_variant_and_only_what_they_are_differs(tmp_path):
    settings = PoolSettings(world=ClevrPools(variants=2, all={**SMALL, "colors": {"red": (9, 0, 0)}}), side="minimal")
    scenes = list(singles(settings))
    assert len(scenes) == 2 * 12 and {variant_of(scene.filename[:-4]) for scene in scenes} == {0, 1}
    generate(tmp_path, settings, 1)
    info, drawn = record.stream(tmp_path / "scenes.json")
    by_variant = {}
    for scene in drawn:
        (item,) = scene["objects"]
        same = (scene["camera"], scene["lights"], item["3d_coords"][:2], item["rotation"])
        by_variant.setdefault(variant_of(scene["image_filename"][:-4]), []).append(same)
        assert item["pixels"] >= settings.clevr.least_pixels
    assert all(len(found) == 12 and all(same == found[0] for same in found) for found in by_variant.values())
    assert by_variant[0][0] != by_variant[1][0] and info["split"] == "minimal"


def test_shards_together_are_the_whole_and_a_killed_run_goes_on(tmp_path, monkeypatch):
    settings = pool(scenes=4, walks=PAIRS[:2], min_objects=2, max_objects=3)
    many = len(list(listed(settings, 1)))
    for number in range(3):
        generate(tmp_path / f"s{number}", settings, 1, (number, 3))
    generate(tmp_path / "whole", settings, 1)
    gather(tmp_path / "gathered", [tmp_path / f"s{number}" for number in range(3)])
    told = (tmp_path / "gathered/CLEVR_p_scenes.json").read_bytes()
    assert told == (tmp_path / "whole/scenes.json").read_bytes() and many > 4
    drawn, left = clevr._drawn, iter(range(3))
    monkeypatch.setattr(clevr, "_drawn", lambda *given: (next(left), drawn(*given))[1])
    with pytest.raises(StopIteration):
        generate(tmp_path / "killed", settings, 1)
    monkeypatch.setattr(clevr, "_drawn", drawn)
    generate(tmp_path / "killed", settings, 1)
    assert (tmp_path / "killed/scenes.json").read_bytes() == told
