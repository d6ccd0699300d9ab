"""An image filter that is no better than a constant is switched off for the kind, with a warning that says why."""

import json
import random
import warnings

import numpy as np
import pytest

from compvqa import tables
from compvqa.covr.english import describe
from compvqa.covr.filters.images.examples import EXAMPLES, TEXTS, fold_of
from compvqa.covr.filters.images.presence import PRESENCE, Knowledge, PresenceSettings, score_pairs
from compvqa.covr.filters.images.thresholds import (
    THRESHOLDS,
    Annotated,
    ThresholdSettings,
    pairs_of,
    set_thresholds,
    write_annotated,
)
from compvqa.covr.filters.images.training import PresenceTraining, train_presence
from compvqa.covr.subgraphs.related import RelatedSettings
from compvqa.covr.subgraphs.subgraph import make
from compvqa.features.store import ImageRegions, write
from compvqa.models import lxmert
from compvqa.scenes.graph import Object, SceneGraph
from compvqa.training.fit import OptimisationSettings
from unit.covr.subgraphs.graph_worlds import write_scenes

NOUNS = ("cat", "dog")
TINY = lxmert.ModelSettings(hidden_size=16, language_layers=1, region_layers=1, cross_layers=1, heads=2)
FEW = {"most_steps": 80, "epochs": 40, "batch_size": 32, "evaluations": 1, "patience": 0, "keep": "last"}
STEPS = OptimisationSettings(**FEW, learning_rate=5e-3)
DOG = make("dog")


def decided(folder, scores, present, kind="object", **settings):
    """The thresholds of images with these scores, their table, and what was warned of."""
    annotated = [Annotated(f"s:{n:04d}", DOG, kind, bool(there)) for n, there in enumerate(present)]
    row = {"subgraph_key": DOG.key, "masked": False, "fold": 0}
    rows = [row | {"scene_id": one.scene_id, "p": float(p)} for one, p in zip(annotated, scores, strict=True)]
    tables.write(folder / "p.parquet", PRESENCE, rows)
    write_annotated(folder / "a.parquet", annotated)
    return set_by(folder, **settings)


def set_by(folder, **settings):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        files = folder / "a.parquet", folder / "p.parquet", folder / "t.json"
        set_thresholds(*files, ThresholdSettings(**settings), folder / "t.parquet")
    table = {row["kind"]: row for row in tables.read(folder / "t.parquet", THRESHOLDS).to_pylist()}
    return json.loads((folder / "t.json").read_text()), table, [str(one.message) for one in warned]


def test_a_filter_that_tells_images_apart_is_used(tmp_path):
    present = np.arange(100) < 20
    taus, table, warned = decided(tmp_path, 0.2 + 0.6 * present, present)
    assert taus == {"object": pytest.approx(0.2)} and warned == []
    assert (table["object"]["area"], table["object"]["found"], table["object"]["off"]) == (1, 1, "")


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_a_constant_filter_is_switched_off(tmp_path, p):
    taus, table, warned = decided(tmp_path, np.full(300, p), np.arange(300) < 40, "relation")
    assert taus == {"relation": None} and table["relation"]["area"] == 0.5
    [said] = warned
    assert said.startswith("the image filter is switched off where relations differ: on 300 annotated pairs (40 with")
    assert "ROC curve is 0.50 (0.41 to 0.59), not surely above a constant's 0.5 (floor: 0.6); annotate more" in said


@pytest.mark.parametrize("seed", range(5))
def test_a_random_filter_is_switched_off(tmp_path, seed):
    draw = np.random.default_rng(seed)
    taus, _, warned = decided(tmp_path, draw.random(300), draw.random(300) < 0.1, "attribute")
    assert taus == {"attribute": None} and "attributes differ" in warned[0]


def test_a_threshold_that_finds_nothing_is_told(tmp_path):
    """Good scores, but hardly any good image may be lost, and one is above all others."""
    present = np.arange(100) < 20
    scores = 0.2 + 0.6 * present
    scores[99] = 0.9
    taus, table, warned = decided(tmp_path, scores, present, target=0.5, most_lost=0)
    assert taus == {"object": None} and table["object"]["area"] > 0.9
    assert "its threshold finds 0.00 of the bad images, below the floor of 0.05; annotate" in warned[0]
    assert decided(tmp_path, scores, present, target=0.5, most_lost=0, least_found=0)[0] == {
        "object": pytest.approx(0.9)
    }


def test_images_of_one_kind_alone_decide_nothing(tmp_path):
    taus, table, warned = decided(tmp_path, np.linspace(0, 1, 50), np.zeros(50, bool))
    assert taus == {"object": None} and table["object"]["area"] is None
    assert "(0 with the subgraph, in 0 images) the area under its ROC curve cannot be told" in warned[0]


def test_what_is_switched_off_filters_nothing_and_leaves_the_other_kinds_theirs(tmp_path):
    (tmp_path / "t.json").write_text('{"object": 0.3, "relation": null, "attribute": 0.6}')
    settings = RelatedSettings().set_by(tmp_path / "t.json")
    assert settings.tau("1_relation") is None and settings.tau("pos") is None
    assert (settings.tau("0_name"), settings.tau("1_relation_neg_attr_root")) == (0.3, 0.6)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_filter_that_was_trained_on_shuffled_labels_is_switched_off(tmp_path, shuffled):
    """Regions tell dogs from cats, in much noise; half of the images teach it, and the other half is scored."""
    draw = random.Random(1)
    names = [draw.choice(NOUNS) for _ in range(240)]
    box = (60.0, 20.0, 50.0, 40.0)
    graphs = [SceneGraph(f"s:{n:03d}", {"0": Object("0", name, {}, box)}) for n, name in enumerate(names)]
    scenes, features = write_scenes(tmp_path / "scenes", graphs, lambda scene_id: "train"), tmp_path / "features"
    features.mkdir()
    noise = np.random.default_rng(1).normal(size=(len(names), 1, 40))
    seen = [np.append(2 * np.eye(2)[[NOUNS.index(name)]], one, axis=1) for name, one in zip(names, noise, strict=True)]
    boxes = np.array([[60, 20, 110, 60]], np.float32)
    images = [ImageRegions(g.scene_id, boxes, (640.0, 480.0), one) for g, one in zip(graphs, seen, strict=True)]
    write(features / "regions.parquet", features / "features.safetensors", images, 42, len(images))
    labels = [name == "dog" for name in names]
    if shuffled:
        draw.shuffle(labels)
    row = {"subgraph_key": DOG.key, "differs": ""}
    fold = {g.scene_id: fold_of(g.scene_id, 2) for g in graphs}
    examples = [row | {"scene_id": s, "label": label, "fold": fold[s]} for s, label in zip(fold, labels, strict=True)]
    tables.write(tmp_path / "e.parquet", EXAMPLES, examples)
    tables.write(tmp_path / "texts.parquet", TEXTS, [{"subgraph_key": DOG.key, "text": describe(DOG)}])
    files = [tmp_path / "e.parquet", tmp_path / "texts.parquet", scenes / "scenes.parquet"]
    files += [features / "regions.parquet", features / "features.safetensors"]
    training = PresenceTraining(optimisation=STEPS, zeroed=0)
    train_presence("lxmert", *files, None, 0, tmp_path / "models/0", TINY, training, seed=1)
    others = [(s, name) for s, name in zip(fold, names, strict=True) if fold[s] == 0]
    annotated = [Annotated(scene_id, DOG, "object", name == "dog") for scene_id, name in others]
    write_annotated(tmp_path / "a.parquet", annotated)
    given = Knowledge(scenes, features, tmp_path / "models")
    score_pairs(pairs_of(annotated), False, tmp_path / "p.parquet", given, PresenceSettings(method="learned", folds=2))
    taus, table, warned = set_by(tmp_path, target=0.5)
    assert (taus["object"] is None) == bool(warned) == shuffled, table
