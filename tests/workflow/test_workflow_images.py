"""The image filter in the chain: who scored what, and what reruns."""

import json

import pytest

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.filters.images.thresholds import ANNOTATED
from compvqa.features.encoder import read_vocabulary
from compvqa.features.seen import SEEN, named_in
from compvqa.scenes.tables import SCENES

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once
MODELS = {"image_filter", "image_scores", "thresholds", "presence", "related", "others", "questions"}


def test_no_image_was_scored_by_a_model_or_an_encoder_that_saw_it(finished):
    results = finished.folder / "results/tiny"
    known = tables.read(results / "scenes/scenes.parquet", SCENES, ["scene_id", "image"]).to_pylist()
    image = {row["scene_id"]: row["image"] for row in known}
    encoder = set(tables.read(results / "features/encoder_saw.parquet", SEEN)["image"].to_pylist())
    words = read_vocabulary(results / "features/encoder.safetensors").words
    assert words and named_in(results / "features/encoder_saw.parquet") == set(words)
    start = set(tables.read(results / "filters/images/start/saw.parquet", SEEN)["image"].to_pylist())
    assert start <= encoder and not encoder & set(image.values())
    for stage, masked in (("presence", False), ("others", True)):
        scored = tables.read_all(sorted((results / f"filters/{stage}").glob("*.parquet")), PRESENCE).to_pylist()
        assert scored and {row["masked"] for row in scored} == {masked}
        for fold in {row["fold"] for row in scored}:
            table = tables.read(results / f"filters/images/{fold}/saw.parquet", SEEN)
            saw = set(table["image"].to_pylist())
            assert start <= saw
            assert not saw & {image[row["scene_id"]] for row in scored if row["fold"] == fold}


def test_the_records_tell_how_many_images_were_scored_and_seen(finished):
    results = finished.folder / "results/tiny/filters"
    record = json.loads((results / "presence/1-of-2.parquet.prov.json").read_text())
    assert record["counts"]["images, none of which its model saw"] > 0
    saw = [item for item in record["inputs"] if item["path"].endswith("saw.parquet")]
    assert len(saw) == 3  # of two folds and of the encoder, by their hashes
    for fold in (0, 1):
        training = json.loads((results / f"images/{fold}/model.safetensors.prov.json").read_text())
        assert training["counts"]["images that it saw"] == tables.read(results / f"images/{fold}/saw.parquet").num_rows


def test_thresholds_set_on_other_scenes_are_those_that_related_images_are_filtered_by(finished):
    results = finished.folder / "results/tiny"
    taus = json.loads((results / "filters/images/thresholds.json").read_text())
    assert len(taus) > 1 and set(taus) <= {"recipe", "object", "relation", "attribute"}
    record = json.loads((results / "graphs/related/1-of-2.parquet.prov.json").read_text())
    assert any(item["path"].endswith("thresholds.json") for item in record["inputs"])
    labelled = tables.read(results / "filters/images/labels.parquet", ANNOTATED)["scene_id"].to_pylist()
    known = set(tables.read(results / "scenes/scenes.parquet", SCENES)["scene_id"].to_pylist())
    assert labelled and not known.intersection(labelled)


def test_editing_the_classifier_trains_it_again_and_no_features(edited):
    with (edited.folder / "workflow/compvqa/covr/filters/images/training.py").open("a") as file:
        file.write("\nEDITED = True\n")
    plan = edited.plan()
    assert plan >= MODELS
    assert not plan & {"sprites", "features", "pretrain", "image_start", "image_examples", "candidates"}


def test_another_way_to_mask_asks_again_and_trains_nothing(edited):
    path = edited.folder / edited.config
    path.write_text(path.read_text().replace("  presence:\n", "  presence:\n    least_overlap: 0.4\n", 1))
    plan = edited.plan()
    assert {"presence", "others", "image_scores"} <= plan
    assert not plan & {"image_filter", "image_start", "image_examples", "features", "pretrain"}
