"""CLEVR's world: what stands in its scenes and where, its scene files, shards and masks."""

import hashlib
import json
import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pydantic import ValidationError

from compvqa.errors import InputError
from compvqa.scenes.raw import Report
from compvqa.scenes.readers import clevr as reader
from compvqa.scenes.worlds import clevr
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr.picture import UNIT, decode, encode
from compvqa.scenes.worlds.clevr.sample import sample_scene
from compvqa.scenes.worlds.clevr.settings import COGENT_A, COGENT_B, ClevrSettings, Look
from compvqa.scenes.worlds.clevr.studio import CAMERA, Camera, directions
from fixtures.project import OLD_PROCESSOR, computed

SMALL = {"width": 120, "height": 80}
seeds = st.integers(0, 2**32)
few = settings(max_examples=6, deadline=None)


def small(**changes) -> ClevrSettings:
    return ClevrSettings(**SMALL, **changes)


def values(item):
    return {item[group] for group in ("shape", "color", "material", "size")}


@few
@given(seeds)
def test_objects_are_three_to_ten_apart_from_each_other_and_never_in_doubtful_places(seed):
    scene = sample_scene(small(), seed, 0)
    objects, axes = scene["objects"], scene["directions"]
    assert 3 <= len(objects) <= 10
    radius = {"large": 0.7, "small": 0.35}
    for one, other in combinations(objects, 2):
        x, y, _ = np.subtract(one["3d_coords"], other["3d_coords"])
        assert math.hypot(x, y) - radius[one["size"]] - radius[other["size"]] >= 0.25
        assert all(abs(x * axes[name][0] + y * axes[name][1]) >= 0.4 for name in ("left", "front"))
    for item in objects:
        assert max(map(abs, item["3d_coords"][:2])) <= 3 and item["3d_coords"][2] == radius[item["size"]]
        assert 0 <= item["rotation"] < 360


@few
@given(seeds)
def test_a_pair_is_left_or_right_and_behind_or_in_front(seed):
    scene = sample_scene(small(), seed, 0)
    assert list(scene["relationships"]) == ["right", "behind", "left", "front"]
    for one, other in product(range(len(scene["objects"])), repeat=2):
        for names in (("left", "right"), ("behind", "front")):
            assert sum(other in scene["relationships"][name][one] for name in names) == (one != other)


@few
@given(seeds)
def test_camera_and_lamps_are_jittered_and_pixels_are_those_of_the_camera(seed):
    scene = sample_scene(small(), seed, 0)
    assert max(abs(a - b) for a, b in zip(scene["camera"], CAMERA, strict=True)) <= 0.5
    assert set(scene["lights"]) == {"key", "fill", "back"}
    eye = np.array(scene["camera"])
    into = -eye / np.linalg.norm(eye)
    right = np.array([into[1], -into[0], 0]) / np.hypot(into[0], into[1])
    for item in scene["objects"]:  # a pinhole camera of 35 mm and a sensor of 32 mm
        ray = np.array(item["3d_coords"]) - eye
        depth = ray @ into
        x = 60 + 120 * 35 / 32 * (ray @ right) / depth
        y = 40 + 120 * 35 / 32 * (ray @ np.cross(into, right)) / depth
        assert item["pixel_coords"][2] == pytest.approx(depth)
        assert max(abs(x - item["pixel_coords"][0]), abs(y - item["pixel_coords"][1])) <= 0.5 + 1e-9


def test_directions_follow_the_base_camera_or_the_scenes_own():
    released, jittered = (sample_scene(small(directions=how), 1, 5) for how in ("released", "jittered"))
    assert released["directions"]["right"] == pytest.approx([0.65631127, 0.75449026, 0], abs=1e-6)
    assert jittered["directions"] == directions(jittered["camera"]) != released["directions"]


def test_cogent_colors_cubes_and_cylinders_apart_and_spheres_in_all_colors():
    for condition, colors in (("cogent_a", COGENT_A), ("cogent_b", COGENT_B)):
        made = [sample_scene(small(condition=condition), 2, number) for number in range(12)]
        objects = [item for scene in made for item in scene["objects"]]
        shown = {shape: {item["color"] for item in objects if item["shape"] == shape} for shape in Look().shapes}
        assert shown["sphere"] == set(Look().colors)
        assert {shape: shown[shape] for shape in colors} == {shape: set(names) for shape, names in colors.items()}
    assert set(COGENT_A["cube"]).isdisjoint(COGENT_B["cube"])


def test_a_forbidden_pair_is_in_no_scene_and_a_required_one_in_each():
    pair = ("cyan", "cylinder")
    for number in range(8):
        without = sample_scene(small(forbidden=[pair]), 3, number)
        assert not any(set(pair) <= values(item) for item in without["objects"])
        having = sample_scene(small(required=[pair]), 3, number)
        assert any(set(pair) <= values(item) for item in having["objects"])


def test_words_are_data():
    look = {
        "shapes": {"block": "cube", "ball": "sphere"},
        "colors": {"pink": (250, 120, 160)},
        "materials": {"chrome": {"metal": 1, "roughness": 0.05}},
        "sizes": {"tiny": 0.3, "huge": 0.9},
    }
    scene = sample_scene(small(**look, min_objects=4, max_objects=4), 1, 0)
    assert len(scene["objects"]) == 4
    assert set.union(*map(values, scene["objects"])) <= {"block", "ball", "pink", "chrome", "tiny", "huge"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"min_objects": 5, "max_objects": 4}, "min_objects 5 is more than max_objects 4"),
        ({"shapes": {"cube": "cube"}, "forbidden": [("cube", c) for c in Look().colors]}, "leave no object"),
        ({"forbidden": [("red", "metal")], "required": [("metal", "red")]}, "no object may be metal and red"),
        ({"required": [("red", "pyramid")]}, "'pyramid', which is no shape"),
        ({"sizes": {"red": 0.4}}, "'red' names two attributes"),
        ({"colors_of": {"cube": ["mauve"]}}, "colors_of 'cube'"),
        ({"shapes": {"cone": "cone"}}, "cone"),
    ],
)
def test_settings_that_no_scene_can_fit_are_refused(wrong, why):
    with pytest.raises(ValidationError, match=why):
        ClevrSettings(**wrong)


def test_scenes_that_have_no_room_are_given_up_in_one_sentence(monkeypatch):
    monkeypatch.setattr("compvqa.scenes.worlds.clevr.sample.ATTEMPTS", 20)
    crowd = small(sizes={"huge": 1.5}, min_objects=10)
    with pytest.raises(InputError, match=r"scene 0 of train: 10 objects could not be placed in 20 .*ask for fewer"):
        sample_scene(crowd, 1, 0)


def digests(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("world")
    clevr.generate(out, small(scenes=4, depth=True), 7)
    return out


def test_shards_give_the_same_bytes_as_one_run(made, tmp_path):
    folders = [tmp_path / str(part) for part in range(2)]
    for part, folder in enumerate(folders):
        clevr.generate(folder, small(scenes=4, depth=True), 7, (part, 2))
    clevr.generate(tmp_path / "val", small(scenes=1, depth=True, split="val"), 7)
    counts = clevr.gather(tmp_path / "all", [*folders, tmp_path / "val"])
    assert counts["scenes"] == 5
    found = digests(tmp_path / "all")
    assert found.pop("CLEVR_train_scenes.json") == digests(made)["scenes.json"]
    assert found.pop("CLEVR_val_scenes.json") == digests(tmp_path / "val")["scenes.json"]
    pictures = digests(made) | digests(tmp_path / "val")
    assert found == {name: digest for name, digest in pictures.items() if name != "scenes.json"}
    with pytest.raises(InputError, match="again: name each shard once"):
        clevr.gather(tmp_path / "twice", [folders[0], folders[1], folders[1]])
    clevr.generate(tmp_path / "other", small(scenes=1, light_samples=4), 7)
    with pytest.raises(InputError, match="was made with other settings"):
        clevr.gather(tmp_path / "mixed", [folders[0], tmp_path / "other"])


KERNELS = """
import sys
from pathlib import Path
import numpy as np
from compvqa.scenes.worlds import clevr
from compvqa.scenes.worlds.clevr.studio import Camera, directions
from compvqa.features.crops import contrast
random = np.random.default_rng(1)
places = random.uniform(4, 9, (300, 3))
told = [[directions(place), *Camera(tuple(place), 480, 320).project(place / 9 - 0.5).tolist()] for place in places]
told.append(contrast(random.integers(0, 256, (20, 3, 32, 32), np.uint8), 8).tolist())
clevr.generate(Path(sys.argv[1]), clevr.ClevrSettings(width=120, height=80, scenes=3), 7)
print(told)
"""


def test_bytes_do_not_depend_on_the_kernels_that_blas_chooses_for_a_processor(tmp_path):
    found = computed(KERNELS, tmp_path / "own"), digests(tmp_path / "own")
    assert found == (computed(KERNELS, tmp_path / "old", **OLD_PROCESSOR), digests(tmp_path / "old"))
    assert len(found[1]) == 4


def test_a_run_that_was_killed_is_taken_up_and_one_with_another_seed_is_begun_anew(made, tmp_path, monkeypatch):
    drawn = []

    def killed(settings, seed, number):
        drawn.append((seed, number))
        if len(drawn) == 3:
            raise KeyboardInterrupt
        return sample_scene(settings, seed, number)

    monkeypatch.setattr(clevr, "sample_scene", killed)
    asked = small(scenes=4, depth=True)
    with pytest.raises(KeyboardInterrupt):
        clevr.generate(tmp_path, asked, 7)
    journal = tmp_path / ".drawing" / "scenes.jsonl"
    journal.write_text(journal.read_text() + '{"image_index": 2, "ima')  # cut off
    clevr.generate(tmp_path, asked, 7)
    assert drawn == [(7, 0), (7, 1), (7, 2), (7, 2), (7, 3)]
    assert digests(tmp_path) == digests(made)
    del drawn[:]
    with pytest.raises(KeyboardInterrupt):
        clevr.generate(tmp_path, asked, 7)
    drawn += [None] * 4
    clevr.generate(tmp_path, asked, 8)
    assert drawn[-4:] == [(8, number) for number in range(4)]


def test_the_reader_takes_what_the_world_writes(made):
    report = Report()
    scenes = list(reader.read({"train": made / "scenes.json"}, lambda _: "train", report))
    assert report.rejects == [] and not [name for name in report.counts if "unknown" in name]
    written = record.read(made / "scenes.json")[1]
    assert [(scene.width, scene.height) for scene in scenes] == [(120, 80)] * 4
    for scene, told in zip(scenes, written, strict=True):
        assert [item.box for item in scene.objects] == [tuple(item["box"]) for item in told["objects"]]


def test_masks_boxes_and_pixels_tell_the_same_and_each_object_shows_enough(made):
    for scene in record.read(made / "scenes.json")[1]:
        covered = np.zeros((80, 120), int)
        for item in scene["objects"]:
            mask = decode(item["mask"])
            rows, columns = np.nonzero(mask)
            x, y, width, height = item["box"]
            assert (x, y) == (columns.min(), rows.min())
            assert (x + width, y + height) == (columns.max() + 1, rows.max() + 1)
            assert item["pixels"] == mask.sum() >= round(200 / 16)
            covered += mask
        assert covered.max() == 1  # no pixel shows two objects


def test_depth_is_that_of_the_ground_where_nothing_stands_and_less_on_objects(made):
    [scene, *_] = record.read(made / "scenes.json")[1]
    image = Image.open(made / "depth" / scene["image_filename"])
    depth = np.asarray(image) / UNIT
    camera = Camera(tuple(scene["camera"]), 120, 80)
    y, x = np.divmod(np.arange(depth.size), 120)
    rays = camera.rays(x + 0.5, y + 0.5)
    ground = (-camera.place[2] / rays[2]).reshape(80, 120)
    shown = sum(decode(item["mask"]) for item in scene["objects"]) > 0
    assert image.mode == "I;16"
    assert np.abs(depth - ground)[~shown].max() < 1e-3
    assert (depth < ground - 1e-3)[shown].mean() > 0.95  # but for where they touch it


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_run_lengths_decode_to_the_mask(height, width, data):
    bits = data.draw(st.lists(st.booleans(), min_size=height * width, max_size=height * width))
    mask = np.array(bits).reshape(height, width)
    assert (decode(encode(mask)) == mask).all()


def test_run_lengths_are_cocos():
    checks = np.indices((40, 50)).sum(0) // 7 % 2 == 0
    assert encode(np.zeros((2, 2)))["counts"] == "4"
    assert encode(np.ones((2, 2)))["counts"] == "04"
    assert encode(checks)["counts"][:25] == "077000NO2100ON12000M03000"  # as pycocotools writes it


def test_official_scenes_are_written_as_they_were_read(shared, tmp_path):
    path = shared / "data/clevr/CLEVR_train_scenes.json"
    info, scenes = record.read(path)
    record.write(tmp_path / "again.json", info, scenes)
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())


def test_cameras_of_official_scenes_are_recovered_to_less_than_a_pixel(shared):
    _, scenes = record.read(shared / "data/clevr/CLEVR_train_scenes.json")
    found = [record.recovered(scene, Look()) for scene in scenes[::10]]
    assert max(residual for _, residual in found) < 1
    assert max(max(np.abs(np.subtract(camera.place, CAMERA))) for camera, _ in found) < 0.55


def test_a_file_that_is_no_scene_file_and_a_look_that_makes_no_sense_are_told(tmp_path):
    (tmp_path / "scenes.json").write_text('{"questions": []}')
    with pytest.raises(InputError, match="no list of scenes under the key scenes"):
        record.read(tmp_path / "scenes.json")
    with pytest.raises(InputError, match=r"info\.look is wrong at width"):
        record.look_in({"look": {"width": "wide"}})
    scene = sample_scene(small(), 1, 0)
    scene["objects"][1]["color"] = "mauve"
    with pytest.raises(InputError, match="object 1 has the color 'mauve'"):
        record.solids_of(scene, Look())


def test_a_side_of_a_world_differs_from_all_in_what_it_says_and_has_scenes_of_its_own():
    world = clevr.ClevrWorld(
        all={"width": 120, "height": 80, "condition": "cogent_a"},
        sides={"train": {"scenes": 4}, "valB": {"scenes": 2, "condition": "cogent_b", "max_objects": 4}},
    )
    assert world.of("train") == ClevrSettings(width=120, height=80, condition="cogent_a", scenes=4, split="train")
    told = world.of("valB")
    assert (told.condition, told.max_objects, told.scenes, told.split) == ("cogent_b", 4, 2, "valB")
    one, other = (sample_scene(world.of("train").model_copy(update={"split": side}), 1, 0) for side in ("train", "val"))
    assert one["objects"] != other["objects"]
