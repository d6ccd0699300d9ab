"""The word filter's scores: intervals, baselines and what they are fitted on."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.words.model import pretrained
from compvqa.covr.filters.words.scores import WORD_SCORES, best_threshold, cosines, measured, word_scores
from compvqa.covr.filters.words.settings import EncoderSettings, WordFilterSettings
from compvqa.covr.filters.words.training import SCORED
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.lexicon import Lexicon


@given(st.lists(st.tuples(st.sampled_from((0.1, 0.2, 0.3, 0.4)), st.booleans()), min_size=1, max_size=12))
def test_no_threshold_parts_the_values_better(pairs):
    values, truth = np.array([v for v, _ in pairs]), np.array([t for _, t in pairs])
    best = max(((values < cut) == truth).sum() for cut in (0.05, 0.15, 0.25, 0.35, 0.45))
    assert ((values < best_threshold(values, truth)) == truth).sum() == best


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_interval_is_wilsons(pairs):
    said, truth = (np.array(column) for column in zip(*pairs, strict=True))
    found = measured(said, truth)
    n, p, z = len(pairs), float((said == truth).mean()), 1.959964
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (found["low"], found["high"]) == (
        pytest.approx(middle - half, abs=1e-6),
        pytest.approx(middle + half, abs=1e-6),
    )
    assert found["right"] == round(p * n)


def test_balanced_accuracy_needs_both_labels():
    truth = np.array([True, True, True, False])
    assert measured(np.array([True, True, True, True]), truth)["balanced"] == 0.5
    assert measured(np.array([True]), np.array([True]))["balanced"] is None


def test_baselines_learn_from_the_training_part_alone(tmp_path):
    """Trained on overlapping twins and exclusive strangers; held out is one of each; the filter is wrong on one."""
    rows = [("cat", "cats", "overlapping", "train", 0.1), ("dog", "dogs", "overlapping", "train", 0.1)]
    rows += [("cat", "engine", "exclusive", "train", 0.9), ("dog", "lamp", "exclusive", "train", 0.9)]
    rows += [("dogs", "engine", "exclusive", "train", 0.9)]
    rows += [("cats", "kitten", "overlapping", "held_out", 0.9), ("engine", "poodle", "exclusive", "held_out", 0.9)]
    columns = ("x", "y", "label", "part", "m")
    common = {"kind": "noun", "annotator": "Ann"}
    tables.write(tmp_path / "scored.parquet", SCORED, [common | dict(zip(columns, one, strict=True)) for one in rows])
    Lexicon(LexiconData.model_validate({"nouns": {"kitten": {"hypernyms": ["cat"]}, "cat": {}}})).dump(
        tmp_path / "l.json"
    )
    word_scores(
        [("pairs", tmp_path / "scored.parquet")], tmp_path / "l.json", tmp_path / "s.parquet", WordFilterSettings(), 1
    )
    found = {one["method"]: one for one in tables.read(tmp_path / "s.parquet", WORD_SCORES).to_pylist()}
    assert {name: one["right"] for name, one in found.items()} == {
        "cosine": 2,
        "learned": 1,
        "lexicon": 2,
        "majority": 1,
    }
    assert all((one["n"], one["trained_on"], one["annotators"]) == (2, 5, "Ann") for one in found.values())


def test_cosines_are_of_the_untrained_encoder():
    model, _ = pretrained(EncoderSettings())
    near, far, same = cosines(
        model, [{"x": "cat", "y": "kitten"}, {"x": "cat", "y": "engine"}, {"x": "cat", "y": "cat"}]
    )
    assert far < near < same == pytest.approx(1)
