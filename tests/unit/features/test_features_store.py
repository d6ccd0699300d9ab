"""Region features: what is written comes back, a picture at a time."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.settings import DetectorSettings, ReleasedSettings
from compvqa.features.store import MOST_REGIONS, REGIONS, ImageRegions, RegionStore, geometry, write
from compvqa.training.loop import TrainingSettings

SIZE = (320.0, 240.0)


def image(name: str, k: int, dimension: int = 3) -> ImageRegions:
    numbers = np.arange(k * 4, dtype=np.float32).reshape(k, 4) + 1
    return ImageRegions(name, numbers, SIZE, np.full((k, dimension), k, np.float32))


@settings(max_examples=20, deadline=None)
@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    order=st.randoms(use_true_random=False),
    dtype=st.sampled_from(["float16", "float32"]),
    most=st.none() | st.integers(1, 40),
)
def test_each_image_gives_its_own_regions_whatever_the_order_they_came_in(tmp_path_factory, counts, order, dtype, most):
    folder = tmp_path_factory.mktemp("store")
    images = [image(f"s:{number}", k) for number, k in enumerate(counts)]
    order.shuffle(images)
    assert write(folder / "r.parquet", folder / "f.safetensors", images, 3, dtype=dtype) == len(counts)
    store = RegionStore(folder / "r.parquet", folder / "f.safetensors", most)
    assert (len(store), store.dimension, store.features.dtype) == (len(counts), 3, dtype)
    for one in (store, pickle.loads(pickle.dumps(store))):
        for name, boxes, _, features in images:
            assert np.array_equal(one[name].features, features[:most])
            assert np.array_equal(one.boxes(name), boxes[:most])
            assert np.allclose(one[name].geometry, geometry(boxes[:most], SIZE))


def test_a_grid_of_14_by_14_regions_is_kept_whole_and_settings_say_how_much_of_it_is_seen(tmp_path):
    write(tmp_path / "r.parquet", tmp_path / "f.safetensors", [image("s:1", 196)], 3)
    whole, some = (RegionStore(tmp_path / "r.parquet", tmp_path / "f.safetensors", most) for most in (None, 36))
    assert (len(whole["s:1"].features), len(some["s:1"].features)) == (196, 36)
    assert DetectorSettings().most_regions == ReleasedSettings().most_regions == TrainingSettings().most_regions == 36
    assert ReleasedSettings(most_regions=196).most_regions == TrainingSettings(most_regions=196).most_regions == 196


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_the_matrix_is_what_safetensors_itself_reads(tmp_path, dtype):
    images = [image("s:1", 2), image("s:0", 3)]
    with tables.recipe("ab" * 12):
        write(tmp_path / "r.parquet", tmp_path / "f.safetensors", images, 3, dtype=dtype)
    (matrix,) = load_file(tmp_path / "f.safetensors").values()
    assert matrix.dtype == dtype
    assert np.array_equal(matrix, np.concatenate([one.features for one in images]))
    with safe_open(tmp_path / "f.safetensors", framework="numpy") as file:
        assert file.metadata() == {"compvqa.recipe": "ab" * 12}


def test_a_store_of_no_image_is_empty(tmp_path):
    assert write(tmp_path / "r.parquet", tmp_path / "f.safetensors", [], 3) == 0
    store = RegionStore(tmp_path / "r.parquet", tmp_path / "f.safetensors")
    assert (len(store), store.dimension) == (0, 3)


def test_a_store_is_sent_to_another_process_by_its_paths(tmp_path):
    write(tmp_path / "r.parquet", tmp_path / "f.safetensors", [image("s:1", 36, 2048)], 2048)
    assert len(pickle.dumps(RegionStore(tmp_path / "r.parquet", tmp_path / "f.safetensors"))) < 1000


def test_geometry_is_edges_and_area_as_shares_of_the_image():
    assert np.allclose(geometry(np.array([[160.0, 60, 80, 120]]), SIZE), [[0.5, 0.25, 0.75, 0.75, 0.125]])


def test_an_unknown_image_and_too_many_regions_are_refused(tmp_path):
    write(tmp_path / "r.parquet", tmp_path / "f.safetensors", [image("s:1", 2)], 3, 2)
    with pytest.raises(InputError, match="no regions of image s:2"):
        RegionStore(tmp_path / "r.parquet", tmp_path / "f.safetensors")["s:2"]
    with pytest.raises(ValueError, match="32769 regions, more than 32768"):
        write(tmp_path / "r.parquet", tmp_path / "f.safetensors", [image("s:1", MOST_REGIONS + 1)], 3)
    with pytest.raises(ValueError, match="2 regions came where 3 were announced"):
        write(tmp_path / "r.parquet", tmp_path / "f.safetensors", [image("s:1", 2)], 3, 3)
    with pytest.raises(ValueError, match="not sorted by a unique key"):
        write(tmp_path / "r.parquet", tmp_path / "f.safetensors", [image("s:1", 2)] * 2, 3)


def test_an_image_s_rows_stand_together(tmp_path):
    regions, features = tmp_path / "r.parquet", tmp_path / "f.safetensors"
    write(regions, features, [image("s:1", 2), image("s:2", 2)], 3)
    rows = tables.read(regions, REGIONS).to_pylist()
    tables.write(regions, REGIONS, [row | {"row": 3 - row["row"]} for row in rows])
    with pytest.raises(InputError, match="an image whose rows are apart"):
        RegionStore(regions, features)


def test_files_that_do_not_fit_together_are_refused(tmp_path):
    regions, features = tmp_path / "r.parquet", tmp_path / "f.safetensors"
    write(regions, features, [image("s:1", 2), image("s:2", 2)], 3)
    whole = features.read_bytes()
    save_file({"features": np.zeros((3, 3), np.float16)}, features)
    with pytest.raises(InputError, match="too few rows"):
        RegionStore(regions, features)
    for broken in (b"no matrix", b"", whole[:90], whole[:-1]):
        features.write_bytes(broken)
        with pytest.raises(InputError, match="is no feature matrix"):
            RegionStore(regions, features)
