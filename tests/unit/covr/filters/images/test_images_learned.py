"""Scores by the folds' models: nobody scores what it saw, and no way to cut the work leaves a trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.images.examples import fold_of
from compvqa.covr.filters.images.methods import learned
from compvqa.covr.filters.images.presence import PRESENCE, score_candidates, score_pairs
from compvqa.covr.subgraphs.subgraph import make
from compvqa.errors import InputError
from compvqa.features.boxes import covered
from compvqa.features.seen import SEEN, check_unseen, write_seen
from unit.covr.filters.images.classifier_worlds import FOLDS, RELATED, SETTINGS, ClassifierWorld

pytestmark = pytest.mark.xdist_group("images-learned")  # one process, so that its world is made once


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = ClassifierWorld(tmp_path_factory.mktemp("learned"), training=RELATED)
    _ = made.knowledge
    return made


def scored(world, out, settings=SETTINGS):
    score_candidates(world.seeds, world.candidates, out, world.knowledge, settings)
    return out.read_bytes()


def test_every_image_is_scored_by_the_model_that_did_not_see_it(world, tmp_path):
    scored(world, tmp_path / "p.parquet")
    rows = tables.read(tmp_path / "p.parquet", PRESENCE).to_pylist()
    saw = [
        set(tables.read(world.knowledge.models / str(fold) / "saw.parquet", SEEN)["image"].to_pylist())
        for fold in range(FOLDS)
    ]
    assert saw[0] and saw[1] and not saw[0] & saw[1]
    assert {row["fold"] for row in rows} == {0, 1}
    for row in rows:
        assert row["fold"] == fold_of(row["scene_id"], FOLDS)
        assert row["scene_id"] not in saw[row["fold"]]


@pytest.mark.parametrize("guilty", ["model", "encoder"])
def test_a_model_is_not_asked_about_what_it_saw(world, tmp_path, guilty):
    image = next(g.scene_id for g in world.graphs if fold_of(g.scene_id, FOLDS) == 1)
    saw = world.knowledge.models / "1/saw.parquet" if guilty == "model" else world.features / "encoder_saw.parquet"
    before = saw.read_bytes() if saw.exists() else None
    write_seen(saw, [image])
    try:
        with pytest.raises(InputError, match=f"was trained on image {image}"):
            scored(world, tmp_path / "p.parquet")
    finally:
        saw.unlink()
        if before is not None:
            saw.write_bytes(before)


def test_scores_are_those_of_float64_unless_the_settings_say_otherwise_and_workers_change_none(world, tmp_path):
    def by(name, **changed):
        return scored(world, tmp_path / f"{name}.parquet", SETTINGS.model_copy(update={"batch_size": 7, **changed}))

    def p(name):
        return np.array(tables.read(tmp_path / f"{name}.parquet", PRESENCE)["p"])

    assert by("usual") == by("same", precision="float64") == by("workers", workers=1)
    by("narrow", precision="bfloat16")
    assert 1e-4 < np.abs(p("usual") - p("narrow")).max() < 0.05
    by("single", precision="float32")
    assert np.abs(p("usual") - p("single")).max() <= 1.1e-4  # the last digit that is kept


def test_no_size_of_a_batch_leaves_a_trace(world, tmp_path):
    sizes = (1, 7, 256)
    files = [
        scored(world, tmp_path / f"{size}.parquet", SETTINGS.model_copy(update={"batch_size": size})) for size in sizes
    ]
    assert files[0] == files[1] == files[2]


def test_no_cut_into_shards_leaves_a_trace(world, tmp_path):
    scored(world, tmp_path / "all.parquet")
    whole = tables.read(tmp_path / "all.parquet", PRESENCE).to_pylist()
    world.store.search(shards=3)
    parts = []
    for shard in range(3):
        files = [world.folder / f"{name}{shard}.parquet" for name in ("seeds", "candidates")]
        score_candidates(*files, tmp_path / "part.parquet", world.knowledge, SETTINGS)
        parts += tables.read(tmp_path / "part.parquet", PRESENCE).to_pylist()
    world.store.search()
    assert {str(row) for row in parts} == {str(row) for row in whole}


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(world, tmp_path, monkeypatch):
    monkeypatch.setattr(learned, "PART", 16)
    whole, asked = scored(world, tmp_path / "whole.parquet"), learned._Folds.rows
    parts = []

    def cut_off(self, pairs):
        parts.append(pairs)
        if len(parts) == 3:
            raise KeyboardInterrupt
        return asked(self, pairs)

    monkeypatch.setattr(learned._Folds, "rows", cut_off)
    with pytest.raises(KeyboardInterrupt):
        scored(world, tmp_path / "cut.parquet")
    again = []
    monkeypatch.setattr(learned._Folds, "rows", lambda self, pairs: again.append(pairs) or asked(self, pairs))
    assert scored(world, tmp_path / "cut.parquet") == whole
    assert again[0].equals(parts[2])  # the two that were done are not done again
    assert [path.name for path in tmp_path.iterdir() if "cut" in path.name] == ["cut.parquet"]


def masked(world, graph, part, tmp_path, **settings):
    out = tmp_path / "others.parquet"
    pairs = [(graph.scene_id, part)]
    counts = score_pairs(pairs, True, out, world.knowledge, SETTINGS.model_copy(update=settings))
    return tables.read(out, PRESENCE).to_pylist(), counts


def test_annotated_instances_are_masked(world, tmp_path, monkeypatch):
    graph = world.graphs[0]
    thing = next(iter(graph.objects.values()))
    names = [other.name for other in graph.objects.values()]
    seen = []
    asked = learned._Folds._answers
    monkeypatch.setattr(
        learned._Folds, "_answers", lambda self, fold, items: seen.extend(items) or asked(self, fold, items)
    )
    (row,), _ = masked(world, graph, make(thing.name), tmp_path)
    assert row["masked"] and 0 <= row["p"] <= 1
    ((_, regions),) = seen
    assert [not part.any() for part in regions.features] == [name == thing.name for name in names]
    seen.clear()
    masked(world, graph, make("nothing of the kind"), tmp_path)
    assert all(part.any() for part in seen[0][1].features)


@pytest.mark.parametrize(("without_boxes", "expected"), [("accept", []), ("refuse", [1.0])])
def test_instances_without_boxes_follow_the_switch(tmp_path, without_boxes, expected, monkeypatch):
    world = ClassifierWorld(tmp_path)
    monkeypatch.setattr("unit.covr.filters.images.classifier_worlds._boxed", lambda graph: graph)
    graph = world.graphs[0]
    monkeypatch.undo()
    boxed = ClassifierWorld(tmp_path / "boxed")
    knowledge = boxed.knowledge
    unboxed = type(knowledge)(world.store.scenes, knowledge.features, knowledge.models)
    pairs = [(graph.scene_id, make(next(iter(graph.objects.values())).name))]
    settings = SETTINGS.model_copy(update={"without_boxes": without_boxes})
    counts = score_pairs(pairs, True, tmp_path / "o.parquet", unboxed, settings)
    assert [row["p"] for row in tables.read(tmp_path / "o.parquet", PRESENCE).to_pylist()] == expected
    assert counts["refused: instances without boxes"] == len(expected)


boxes = st.lists(st.tuples(*[st.integers(0, 20)] * 2, *[st.integers(1, 20)] * 2), min_size=1, max_size=4)


@given(boxes, boxes)
def test_a_region_in_an_instance_shows_it_and_one_apart_does_not(regions, instances):
    found = covered(np.array(regions, float), np.array(instances, float), 0.3, 0.7)
    for (x, y, w, h), shown in zip(regions, found, strict=True):
        inside = any(a <= x and b <= y and x + w <= a + c and y + h <= b + d for a, b, c, d in instances)
        apart = all(x + w <= a or a + c <= x or y + h <= b or b + d <= y for a, b, c, d in instances)
        assert shown or not inside
        assert not (shown and apart)


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_images_are_unseen_if_no_one_is_in_both(tmp_path_factory, seen, asked):
    path = tmp_path_factory.mktemp("seen") / "saw.parquet"
    write_seen(path, map(str, seen))
    if seen & asked:
        with pytest.raises(InputError, match=f"image {min(map(str, seen & asked))}"):
            check_unseen(path, map(str, asked))
    else:
        assert check_unseen(path, map(str, asked)) == len(asked)


def test_models_are_needed(tmp_path):
    with pytest.raises(InputError, match="needs models and features"):
        score_pairs([], False, tmp_path / "p.parquet", None, SETTINGS)
