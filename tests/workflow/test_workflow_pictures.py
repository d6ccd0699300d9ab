"""Features of whole pictures: what a config that names a network plans, and that its checkpoint is fetched first."""

from dataclasses import replace

import pytest
import yaml

from fixtures.project import copy_project

RUN = "results/clevr-cogent-small/runs/{}.cogent.a.1/predictions.parquet"


@pytest.fixture
def project(root, tmp_path):
    return replace(copy_project(root, tmp_path), config="config/clevr-cogent-small.yaml")


def test_a_network_s_features_are_made_in_shards_for_models_that_look_alone(project):
    assert {"pictures", "features"} <= project.plan(RUN.format("cnn-lstm-small"))
    assert {"pictures", "features"}.isdisjoint(project.plan(RUN.format("lstm-small")))
    config = project.folder / project.config
    data = yaml.safe_load(config.read_text())
    data["features"]["pictures"] |= {"backbone": "microsoft/resnet-101", "side": 224}
    config.write_text(yaml.safe_dump(data, sort_keys=False))
    assert {"pictures", "features", "checkpoint"} <= project.plan(RUN.format("cnn-lstm-sa-small"))


def test_crops_are_made_in_shards_for_models_that_read_regions(project):
    config = project.folder / project.config
    data = yaml.safe_load(config.read_text())
    data["features"] = {"crops": {"describe": "contrast"}}
    data["models"]["trained"] = ["lstm-small", "cnn-lstm-sa-small"]
    data["paper"]["show"] = []
    config.write_text(yaml.safe_dump(data, sort_keys=False))
    plan = project.plan(RUN.format("cnn-lstm-sa-small"))
    assert {"crops", "features"} <= plan and not plan & {"pictures", "checkpoint"}
    assert {"crops", "features"}.isdisjoint(project.plan(RUN.format("lstm-small")))
    data["features"] = {"crops": {"describe": "network", "network": {"backbone": "microsoft/resnet-101"}}}
    config.write_text(yaml.safe_dump(data, sort_keys=False))
    assert {"crops", "features", "checkpoint"} <= project.plan(RUN.format("cnn-lstm-sa-small"))
