"""LXMERT's own features of five images, in ``../shared/data``, into the store and back."""

import base64
import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from compvqa.errors import InputError
from compvqa.features.readers.lxmert_tsv import COLUMNS
from compvqa.features.released import read_released
from compvqa.features.settings import ReleasedSettings, ReleasedSource
from compvqa.features.store import RegionStore
from compvqa.training.data import collate
from fixtures.released import write_scenes

TSV = Path(__file__).resolve().parents[2] / "../shared/data/butd/train2014_obj36.tsv"
pytestmark = pytest.mark.skipif(not TSV.is_file(), reason="the sample of features is not at ../shared/data")


def decoded() -> dict[str, tuple[np.ndarray, np.ndarray, tuple[float, float]]]:
    """Boxes (edges), features and size (width, height) of each image, read by the csv module."""
    csv.field_size_limit(sys.maxsize)
    with TSV.open(newline="") as file:
        rows = list(csv.DictReader(file, COLUMNS, delimiter="\t"))
    return {
        row["img_id"]: (
            np.frombuffer(base64.b64decode(row["boxes"]), np.float32).reshape(36, 4),
            np.frombuffer(base64.b64decode(row["features"]), np.float32).reshape(36, 2048),
            (float(row["img_w"]), float(row["img_h"])),
        )
        for row in rows
    }


def store(folder: Path, tsv: Path, dtype: str) -> RegionStore:
    scenes = write_scenes(folder, [f"coco:{name}" for name in decoded()])
    source = ReleasedSource(image_space="coco", reader="lxmert_tsv", files=(tsv,))
    paths = [folder / name for name in ("regions.parquet", "features.safetensors", "rejects.parquet")]
    read_released(scenes, *paths, ReleasedSettings(sources=(source,), dtype=dtype))
    return RegionStore(*paths[:2])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_all_rows_are_those_of_the_file(tmp_path, dtype):
    made, raw = store(tmp_path, TSV, dtype), decoded()
    assert len(made) == len(raw) == 5
    for name, (edges, features, (width, height)) in raw.items():
        regions, boxes = made[f"coco:{name}"], made.boxes(f"coco:{name}")
        assert regions.features.tobytes() == features.astype(dtype).tobytes()
        assert np.array_equal(boxes[:, :2], edges[:, :2])
        assert np.allclose(boxes[:, :2] + boxes[:, 2:], edges[:, 2:], atol=1e-4)
        shares = edges / np.array([width, height, width, height], np.float32)
        assert np.allclose(regions.geometry[:, :4], shares, atol=1e-6)
        assert regions.geometry.min() >= 0 and regions.geometry.max() <= 1


def test_half_precision_is_near(tmp_path):
    """What float16 loses of these features is below a thousandth of each number."""
    made = store(tmp_path, TSV, "float16")
    for name, (_, features, _) in decoded().items():
        error = np.abs(made[f"coco:{name}"].features.astype(np.float32) - features)
        assert (error <= 5e-4 * features + 1e-7).all()


def test_a_batch_holds_the_rows_of_its_images(tmp_path):
    made, raw = store(tmp_path, TSV, "float32"), decoded()
    items = [{"tokens": [2, 3], "regions": [made[f"coco:{name}"]], "label": 0} for name in raw]
    assert collate(items)["features"].numpy().tobytes() == np.stack([row[1] for row in raw.values()]).tobytes()


def test_a_file_cut_off_is_told_by_its_record(tmp_path):
    cut = tmp_path / "cut.tsv"
    cut.write_bytes(TSV.read_bytes()[:-100_001])
    with pytest.raises(InputError, match=r"cut\.tsv, record 5: features"):
        store(tmp_path, cut, "float16")
