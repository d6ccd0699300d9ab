"""Region features: what is written comes back, a picture at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.features.store import MOST_REGIONS, ImageRegions, RegionStore, geometry, write

SIZE = (320.0, 240.0)


def image(name: str, k: int, dimension: int = 3) -> ImageRegions:
    numbers = np.arange(k * 4, dtype=np.float32).reshape(k, 4) + 1
    return ImageRegions(name, numbers, SIZE, np.full((k, dimension), k, np.float32))


@settings(max_examples=20, deadline=None)
@given(counts=st.lists(st.integers(1, MOST_REGIONS), min_size=1, max_size=5))
def test_each_image_gives_its_own_regions(tmp_path_factory, counts):
    folder = tmp_path_factory.mktemp("store")
    images = [image(f"s:{number}", k) for number, k in enumerate(counts)]
    write(folder / "r.parquet", folder / "f.npy", images, 3, sum(counts))
    store = RegionStore(folder / "r.parquet", folder / "f.npy")
    assert (len(store), store.dimension, store.features.dtype) == (len(counts), 3, np.float16)
    for given_image in images:
        regions = store[given_image.image]
        assert np.array_equal(regions.features, given_image.features)
        assert np.allclose(regions.geometry, geometry(given_image.boxes, SIZE))


def test_geometry_is_edges_and_area_as_shares_of_the_image():
    assert np.allclose(geometry(np.array([[160.0, 60, 80, 120]]), SIZE), [[0.5, 0.25, 0.75, 0.75, 0.125]])


def test_an_unknown_image_and_too_many_regions_are_refused(tmp_path):
    write(tmp_path / "r.parquet", tmp_path / "f.npy", [image("s:1", 2)], 3, 2)
    with pytest.raises(InputError, match="no regions of image s:2"):
        RegionStore(tmp_path / "r.parquet", tmp_path / "f.npy")["s:2"]
    with pytest.raises(ValueError, match="37 regions"):
        write(tmp_path / "r.parquet", tmp_path / "f.npy", [image("s:1", 37)], 3, 37)
