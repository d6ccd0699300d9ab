"""Training of the image filter: on the other folds alone, and bit-exact after a kill."""

from dataclasses import replace

import pytest

from compvqa import tables
from compvqa.covr.filters.images.examples import EXAMPLES, fold_of
from compvqa.covr.filters.images.training import FILES, train_presence
from compvqa.features.seen import SEEN, write_seen
from compvqa.files import read_json
from fixtures.trainings import stopped
from unit.covr.filters.images.classifier_worlds import FOLDS, RELATED, TINY, ClassifierWorld
from unit.covr.subgraphs.graph_worlds import write_scenes


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = ClassifierWorld(tmp_path_factory.mktemp("presence"), training=RELATED)
    made.examples()
    return made


def saw(folder):
    return set(tables.read(folder / "saw.parquet", SEEN)["image"].to_pylist())


def test_a_model_sees_all_folds_but_its_own(world, tmp_path):
    rows = tables.read(world.folder / "examples.parquet", EXAMPLES).to_pylist()
    for fold in range(FOLDS):
        counts = world.train(fold, tmp_path / str(fold))
        others = [row for row in rows if row["fold"] != fold]
        assert counts["in"] == counts["learnt from"] + counts["held out"] == len(others)
        assert saw(tmp_path / str(fold)) == {row["scene_id"] for row in others}
        assert all(fold_of(image, FOLDS) != fold for image in saw(tmp_path / str(fold)))


def test_a_stopped_run_goes_on_to_the_same_bytes(world, tmp_path):
    world.train(0, tmp_path / "whole")
    with stopped(5):
        world.train(0, tmp_path / "cut")
    assert list((tmp_path / "cut").glob("checkpoints-*"))
    world.train(0, tmp_path / "cut")
    for name in FILES:
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_pretraining_gives_all_but_the_heads_and_what_it_saw_counts(world, tmp_path):
    start = tmp_path / "start"
    world.train(None, start)
    write_seen(start / "saw.parquet", ["elsewhere:1", "elsewhere:2"])
    counts = world.train(1, tmp_path / "1", start)
    assert {"elsewhere:1", "elsewhere:2"} <= saw(tmp_path / "1")
    assert counts["images that it saw"] == len(saw(tmp_path / "1"))
    assert (tmp_path / "1/model.safetensors").read_bytes() != (start / "model.safetensors").read_bytes()


def test_where_no_boxes_tell_of_relations_nothing_is_learnt_of_them(world, tmp_path):
    scenes = world.store.scenes
    graphs = [replace(g, objects={k: replace(o, box=None) for k, o in g.objects.items()}) for g in world.graphs]
    write_scenes(tmp_path / "scenes", graphs, lambda scene_id: "train")
    given = [world.folder / name for name in ("examples.parquet", "texts.parquet")]
    regions = [world.features / name for name in ("regions.parquet", "features.safetensors")]
    for out, folder in (("with", scenes), ("without", tmp_path / "scenes")):
        files = [*given, folder / "scenes.parquet", *regions]
        train_presence("lxmert", *files, None, 0, tmp_path / out, TINY, RELATED, seed=1)
    described = [read_json(tmp_path / out / "model.json") for out in ("with", "without")]
    assert described[0].pop("relationships")["words"]["relations"]
    assert described[0] == described[1]
