"""Blender as a renderer of CLEVR's world: it sees what the ray caster sees, draws the same bytes again, and forgets."""

import importlib.util
import json
import os
import resource
import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from compvqa.errors import InputError
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr.redraw import redraw
from compvqa.scenes.worlds.clevr.renderers import blender, caster
from compvqa.scenes.worlds.clevr.sample import sample_scene
from compvqa.scenes.worlds.clevr.settings import ClevrSettings, Look
from compvqa.scenes.worlds.clevr.studio import CAMERA

HAS_BPY = importlib.util.find_spec("bpy") is not None
needs_bpy = pytest.mark.skipif(
    not HAS_BPY, reason="needs the package bpy (Blender): install requirements-blender.lock with Python 3.11"
)
FULL = ClevrSettings(light_samples=1)
SMALL = Look(width=120, height=80)


@pytest.mark.skipif(HAS_BPY, reason="bpy is installed here")
def test_without_bpy_one_sentence_says_what_to_install():
    with pytest.raises(InputError, match=r"needs the package bpy.*install requirements-blender.lock"):
        blender.draw({"objects": [], "camera": CAMERA}, SMALL)


@needs_bpy
@pytest.mark.parametrize("number", range(3))
def test_ids_depths_and_verdicts_are_those_of_the_caster(number):
    scene = sample_scene(FULL, 5, number)
    one, other = (renderer.draw(scene, FULL) for renderer in (caster, blender))
    same = one.ids == other.ids
    assert same.mean() > 0.99
    assert np.quantile(np.abs(one.depth - other.depth)[same], 0.99) < 0.01
    for first, second in zip(*(picture.pixels(len(scene["objects"])) for picture in (one, other)), strict=True):
        assert min(first, second) >= 200 or abs(first - 200) <= 10


@needs_bpy
def test_a_scene_is_drawn_again_byte_for_byte_whatever_was_drawn_between():
    scene, between = (sample_scene(ClevrSettings(width=120, height=80), 4, number) for number in range(2))
    first = blender.draw(scene, SMALL)
    blender.draw(between, SMALL)
    again = blender.draw(scene, SMALL)
    assert first.png() == again.png() and first.depth_png() == again.depth_png()


@needs_bpy
def test_a_picture_looks_as_the_casters():
    scene = sample_scene(ClevrSettings(width=120, height=80), 4, 2)
    one, other = (renderer.draw(scene, SMALL).color.astype(float) for renderer in (caster, blender))
    assert np.sqrt(np.mean((one - other) ** 2)) < 8
    assert np.abs(one.mean((0, 1)) - other.mean((0, 1))).max() < 4


@needs_bpy
def test_a_look_of_ones_own_is_drawn():
    look = Look(width=60, height=40, colors={"pink": (255, 60, 120)}, sizes={"huge": 1.2}, shapes={"die": "cube"})
    thing = {"shape": "die", "color": "pink", "material": "rubber", "size": "huge"}
    scene = {"objects": [{**thing, "3d_coords": [0, 0, 1.2], "rotation": 0.4}], "camera": CAMERA}
    picture = blender.draw(scene, look)
    assert picture.pixels(1) == pytest.approx(caster.draw(scene, look).pixels(1), rel=0.03)
    red, green, blue = picture.color[picture.ids == 1].mean(0)
    assert red > blue > green


@needs_bpy
def test_nothing_of_a_scene_stays_after_it():
    import bpy

    scene = sample_scene(ClevrSettings(width=60, height=40, min_objects=10, min_pixels=1), 4, 0)
    look = Look(width=60, height=40, light_samples=1)

    def held() -> list[int]:
        kinds = ("objects", "materials", "meshes", "images", "lights", "cameras", "node_groups", "textures")
        return [len(getattr(bpy.data, kind)) for kind in kinds]

    for _ in range(5):
        blender.draw(scene, look)
    before, peak = held(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):
        blender.draw(scene, look)
    assert held() == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 20_000  # kB


@needs_bpy
def test_the_command_draws_the_same_bytes_says_nothing_of_blenders_and_touches_no_folder_of_the_users(tmp_path, root):
    settings = {"scenes": 1, "width": 120, "height": 80, "renderer": "blender", "shapes": {"ball": "sphere"}}
    config = json.dumps(settings)
    command = [sys.executable, "-m", "compvqa", "clevr", "world", tmp_path / "out", "--config", config]
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {"HOME": str(home), "PYTHONPATH": str(root / "workflow"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert not any(word in done.stdout + done.stderr for word in ("Fra:", "Saved", "cycles", "WARNING", "audio"))
    assert not [path for path in home.rglob("*") if "blender" in path.name]
    info, [scene] = record.read(tmp_path / "out/scenes.json")
    again = blender.draw(scene, record.look_in(info))  # in another process, with other threads
    written = (tmp_path / "out/images" / scene["image_filename"]).read_bytes()
    assert np.array_equal(np.asarray(Image.open(BytesIO(written))), again.color)


@needs_bpy
def test_a_gpu_that_is_not_there_is_told(monkeypatch):
    import bpy

    blender.draw({"objects": [], "camera": CAMERA}, Look(width=30, height=20, light_samples=1))
    if any(device.type != "CPU" for device in bpy.context.preferences.addons["cycles"].preferences.devices):
        pytest.skip("there is a GPU here")
    with pytest.raises(InputError, match="finds no GPU"):
        blender.draw({"objects": [], "camera": CAMERA}, Look(width=30, height=20, device="gpu"))


@needs_bpy
def test_an_official_scene_is_drawn_nearly_as_its_picture(shared):
    _, scenes = record.read(shared / "data/clevr/CLEVR_val_scenes_of_images.json")
    scene = next(scene for scene in scenes if scene["image_index"] == 12)
    assert redraw(scene, shared / "data/clevr/images/CLEVR_val_000012.png", "blender").psnr > 32
