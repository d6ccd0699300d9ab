"""Thresholds of presence: by kind, on annotated images, right often enough and no dearer than allowed."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.filters.images.thresholds import (
    Annotated,
    ThresholdSettings,
    pairs_of,
    read_annotated,
    set_thresholds,
    threshold,
    write_annotated,
)
from compvqa.covr.subgraphs.related import RelatedSettings
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.errors import InputError

SCORED = st.lists(st.tuples(st.integers(0, 10).map(lambda n: n / 10), st.booleans()), min_size=1, max_size=30)


def kept_at(scored, tau):
    """Share of the kept that are right, and share of the good that are lost."""
    kept = [present for score, present in scored if score <= tau]
    good = [score for score, present in scored if not present]
    right = kept.count(False) / len(kept) if kept else 1.0
    return right, sum(score > tau for score in good) / max(len(good), 1)


@example([(0.0, False)] * 7 + [(0.1, False)] * 3, 0.5, 0.3)  # 1 - 7 / 10 is more than 0.3
@given(SCORED, st.sampled_from([0.5, 0.8, 0.95]), st.sampled_from([0.0, 0.1, 0.3]))
def test_a_threshold_is_the_best_that_is_allowed(scored, target, most_lost):
    scores, present = (np.array(column) for column in zip(*scored, strict=True))
    tau = threshold(scores, present, ThresholdSettings(target=target, most_lost=most_lost))
    allowed = {t: kept_at(scored, t) for t in set(scores.tolist())}
    enough = [t for t, (right, _) in allowed.items() if right >= target]
    cheap = [t for t in enough if allowed[t][1] <= most_lost]
    assert tau == (min(cheap) if cheap else max(enough, default=0.0))


def test_all_false_ones_are_found_where_scores_tell_them_apart():
    settings = ThresholdSettings(target=0.95, most_lost=0.0)
    assert threshold(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]), settings) == 0.2


@pytest.fixture
def annotated():
    g = make("dog", "old", (Edge("near", make("cat")),))
    return [
        Annotated("s:1", g, "object", False),
        Annotated("s:2", g, "object", True),
        Annotated("s:3", make("dog"), "attribute", False),
    ]


def test_annotated_pairs_are_read_as_written(tmp_path, annotated):
    write_annotated(tmp_path / "a.parquet", annotated)
    assert read_annotated(tmp_path / "a.parquet") == annotated


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("s:1,dog,object,1", "line 2: 'dog' is no subgraph's tree"),
        ('s:1,"[""dog"",null,[]]",noun,1', "line 2: differs must be one of object, relation, attribute"),
        ('s:1,"[""dog"",null,[]]",object,yes', "line 2: differs .* and label 0 or 1"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, words):
    path = tmp_path / "a.csv"
    path.write_text(f"scene_id,tree,differs,label\n{line}\n")
    with pytest.raises(InputError, match=words):
        read_annotated(path)


def test_other_columns_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("image,text,label\n")
    with pytest.raises(InputError, match="lacks the column scene_id: name scene_id, tree, differs, label in its first"):
        read_annotated(path)


def test_thresholds_go_by_the_least_score_and_reach_the_related_images(tmp_path, annotated):
    scores = {"s:1": 0.2, "s:2": 0.9, "s:3": 0.4}
    rows = {
        (scene, part.key): {
            "scene_id": scene,
            "subgraph_key": part.key,
            "masked": False,
            "p": scores[scene] if part.attribute else 0.95,
            "fold": 0,
        }
        for scene, part in pairs_of(annotated)
    }
    tables.write(tmp_path / "p.parquet", PRESENCE, list(rows.values()))
    write_annotated(tmp_path / "a.parquet", annotated)
    out = tmp_path / "thresholds.json"
    settings = ThresholdSettings(most_lost=0, level=0.01)
    with pytest.warns(match="switched off where attributes differ: on 1 annotated"):
        counts = set_thresholds(tmp_path / "a.parquet", tmp_path / "p.parquet", out, settings)
    assert json.loads(out.read_text()) == {"object": pytest.approx(0.2), "attribute": None}  # no image has the latter
    assert counts["in"] == 3 and counts["object: others found, per mille"] == 1000
    settings = RelatedSettings().set_by(out)
    assert settings.tau("0_name") == pytest.approx(0.2)
    assert settings.tau("1_relation") == RelatedSettings().tau_relation  # nobody annotated one
    assert settings.tau("1_name_neg_attr_root") == pytest.approx(0.2)
    assert RelatedSettings().set_by(None) == RelatedSettings()
