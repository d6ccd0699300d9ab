"""Released features in place of the drawn world's own: read, and what needs features is trained on them."""

import numpy as np
import pytest
import yaml

from compvqa import tables
from compvqa.features.store import RegionStore
from compvqa.scenes.tables import SCENES
from fixtures.project import copy_project
from fixtures.released import detections, write_h5, write_tsv

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once


def test_models_learn_from_released_features(edited):
    draw = np.random.default_rng(0)
    scenes = tables.read(edited.folder / "results/tiny/scenes/scenes.parquet", SCENES)
    ids = [image.partition(":")[2] for image in scenes["image"].to_pylist()]
    images = [(name, detections(draw, 3, (320, 240))) for name in ids]
    half = len(images) // 2
    tsv = write_tsv(edited.folder / "half.tsv", images[:half])
    shards = write_h5(edited.folder, images[half - 1 :], 50)
    sources = [
        {"image_space": "sprites", "reader": "lxmert_tsv", "files": [tsv.name]},
        {"image_space": "sprites", "reader": "gqa_h5", "files": [path.name for path in shards]},
    ]
    config = edited.folder / edited.config
    data = yaml.safe_load(config.read_text())
    data["features"] = {"released": {"sources": sources}}
    config.write_text(yaml.safe_dump(data, sort_keys=False))

    target = "results/tiny/pretrained/visualbert-tiny.1/model.safetensors"
    plan = edited.plan(target)
    assert {"features", "pretrain"} <= plan and not plan & {"sprites", "ingest", "scenes", "candidates"}
    (edited.folder / "results/tiny/features/encoder.safetensors").unlink()
    edited.run(target)
    folder = edited.folder / "results/tiny/features"
    store = RegionStore(folder / "regions.parquet", folder / "features.safetensors")
    assert len(store) == len(images)
    for name, found in images:
        assert store[f"sprites:{name}"].features.tobytes() == found.features.astype(np.float16).tobytes()
    rejects = tables.read(folder / "rejects.parquet").to_pylist()
    assert [(row["image"], row["reason"]) for row in rejects] == [(f"sprites:{ids[half - 1]}", "image repeated")]


def test_a_missing_file_of_features_is_named(root, tmp_path):
    project = copy_project(root, tmp_path)
    config = project.folder / project.config
    source = {"image_space": "sprites", "reader": "lxmert_tsv", "files": ["gone.tsv"]}
    data = yaml.safe_load(config.read_text()) | {"features": {"released": {"sources": [source]}}}
    config.write_text(yaml.safe_dump(data, sort_keys=False))
    done = project.run("--dry-run", check=False)
    assert done.returncode and "Missing input files for rule features" in done.stdout and "gone.tsv" in done.stdout
