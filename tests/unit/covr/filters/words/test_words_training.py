"""The word filter's training: what is held out, equal bytes, and going on after a stop."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.words.labels import LABELS
from compvqa.covr.filters.words.model import pretrained
from compvqa.covr.filters.words.settings import EncoderSettings, WordFilterSettings
from compvqa.covr.filters.words.training import HELD_OUT, SCORED, TRAIN, PhrasePairs, balanced, sides, train
from compvqa.errors import InputError
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.lexicon import Lexicon
from fixtures.trainings import stopped

SMALL = {
    "hidden_size": 32,
    "initializer_range": 0.2,
    "hidden_dropout_prob": 0.0,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}
STEPS = {"epochs": 3, "batch_size": 8, "evaluations": 3, "learning_rate": 1e-2, "precision": "float32"}
SETTINGS = WordFilterSettings(encoder=EncoderSettings(changes=SMALL), optimisation=STEPS)
NAMES = ("red", "blue", "green", "old", "new", "wet", "dry", "big", "small")
EMPTY = Lexicon(LexiconData())


def row(x, y, label="exclusive", kind="noun", annotator="Ann"):
    return {"kind": kind, "x": x, "y": y, "label": label, "annotator": annotator}


@st.composite
def labelled(draw):
    kind = draw(st.sampled_from(("noun", "relation")))
    pairs = draw(st.sets(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=40))
    people = st.sampled_from(("Ann", "rule:heads"))
    return [
        row(x, y, kind=kind, annotator=draw(people))
        for x, y in sorted(pairs)
        if x < y or (kind == "relation" != x == y)
    ]


@given(labelled(), st.integers(2, 5), st.integers(0, 3))
def test_every_pair_is_held_out_once_and_both_directions_are_on_one_side(rows, folds, seed):
    rows = [one for one in rows if one["x"] != one["y"]]
    parts = [sides(rows, "pairs", folds, fold, seed) for fold in range(folds)]
    for number, one in enumerate(rows):
        held_out = [part[number] for part in parts].count(HELD_OUT)
        assert held_out == (one["annotator"] == "Ann")
    for part in parts:
        side = {(one["x"], one["y"]): name for one, name in zip(rows, part, strict=True)}
        for (x, y), name in side.items():
            assert {name, side.get((y, x), name)} != {TRAIN, HELD_OUT}


@given(labelled(), st.integers(2, 5), st.integers(0, 3))
def test_no_word_of_a_pair_held_out_by_words_is_in_training(rows, folds, seed):
    for fold in range(folds):
        parts = sides(rows, "words", folds, fold, seed)
        words = {
            name: {one[side] for one, part in zip(rows, parts, strict=True) if part == name for side in "xy"}
            for name in (TRAIN, HELD_OUT)
        }
        assert not words[TRAIN] & words[HELD_OUT]
        assert not any(one["annotator"] != "Ann" for one, part in zip(rows, parts, strict=True) if part == HELD_OUT)


@pytest.fixture
def labels(tmp_path):
    """All pairs of nine attributes; all but red exclude each other."""
    EMPTY.dump(tmp_path / "lexicon.json")
    rows = [
        row(x, y, "overlapping" if "red" in (x, y) else "exclusive", "attribute") for x in NAMES for y in NAMES if x < y
    ]
    tables.write(tmp_path / "labels.parquet", LABELS, rows)
    return tmp_path / "labels.parquet"


def run(labels, out, settings=SETTINGS, protocol="pairs"):
    train(labels, labels.with_name("lexicon.json"), "attribute", protocol, out, settings, 1)
    return {
        name: (out / name).read_bytes()
        for name in ("model.safetensors", "history.parquet", "model.json", "scored.parquet")
    }


def test_equal_runs_give_equal_bytes(labels, tmp_path):
    assert run(labels, tmp_path / "a") == run(labels, tmp_path / "b")
    scored = tables.read(tmp_path / "a/scored.parquet", SCORED).to_pylist()
    assert {one["part"]: sum(other["part"] == one["part"] for other in scored) for one in scored} == {
        TRAIN: 28,
        HELD_OUT: 8,
    }


def test_a_stopped_run_goes_on_to_the_same_bytes(labels, tmp_path):
    whole = run(labels, tmp_path / "whole")
    with stopped(7):
        run(labels, tmp_path / "cut")
    assert run(labels, tmp_path / "cut") == whole


def test_what_was_seen_in_training_is_learnt(labels, tmp_path):
    changed = SETTINGS.optimisation.model_copy(update={"epochs": 60, "learning_rate": 5e-3})
    train(
        labels,
        labels.with_name("lexicon.json"),
        "attribute",
        "pairs",
        tmp_path,
        SETTINGS.model_copy(update={"optimisation": changed}),
        1,
    )
    scored = tables.read(tmp_path / "scored.parquet", SCORED).to_pylist()
    assert all((one["m"] > 0.5) == (one["label"] == "exclusive") for one in scored if one["part"] == TRAIN)


def test_an_epoch_draws_the_order_of_each_symmetric_pair():
    model, _ = pretrained(EncoderSettings(changes=SMALL))
    for kind, orders in (("noun", 2), ("relation", 1)):
        pairs = PhrasePairs(model, [row("red", "blue", kind=kind)], EMPTY, 1)
        seen = set()
        for epoch in range(20):
            pairs.set_epoch(epoch)
            encoding, label = pairs[0]
            assert label == model.contradiction
            seen.add(tuple(encoding.tokens))
        assert len(seen) == orders


def test_too_few_labels_are_one_sentence(labels, tmp_path):
    with pytest.raises(InputError, match="too few labelled nouns"):
        train(labels, labels.with_name("lexicon.json"), "noun", "pairs", tmp_path / "out", SETTINGS, 1)


@given(st.integers(0, 6), st.integers(0, 6))
def test_balanced_pairs_are_all_pairs_and_copies_of_the_rarer_label(exclusive, overlapping):
    rows = [row(str(n), "") for n in range(exclusive)]
    rows += [row(str(n), "", "overlapping") for n in range(exclusive, exclusive + overlapping)]
    found = balanced(rows)
    assert found[: len(rows)] == rows and all(pair in rows for pair in found)
    if exclusive and overlapping:
        number = Counter(pair["label"] for pair in found)
        assert number["exclusive"] == number["overlapping"] == max(exclusive, overlapping)
    else:
        assert found == rows
