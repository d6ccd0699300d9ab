"""A trained word filter no better than a constant is refused, kind by kind, and the lexicon can take its place."""

import json
import random

import pytest

from compvqa import tables
from compvqa.covr.filters.words.labels import LABELS
from compvqa.covr.filters.words.overlap import OVERLAP, SHARES, OverlapSettings, overlap
from compvqa.covr.filters.words.settings import EncoderSettings, WordFilterSettings
from compvqa.covr.filters.words.training import HELD_OUT, SCORED, TRAIN, train
from compvqa.errors import InputError
from unit.covr.filters.words.test_words_overlap import LEXICON, write

SMALL = {"hidden_size": 32, "initializer_range": 0.2, "hidden_dropout_prob": 0.0, "num_hidden_layers": 1}
SMALL |= {"num_attention_heads": 2, "intermediate_size": 16}
STEPS = {"epochs": 6, "batch_size": 16, "evaluations": 1, "learning_rate": 1e-2, "precision": "float32"}
SETTINGS = WordFilterSettings(encoder=EncoderSettings(changes=SMALL), optimisation=STEPS)
VAGUE = ("red", "old", "wet", "big", "soft", "open", "full")  # what they say may be true of anything
PLAIN = ("blue", "green", "new", "dry", "small", "hard", "closed", "empty", "long", "short", "clean", "dirty")
LEARNED = {"method": "lexicon", "methods": {"attribute": "learned"}}


@pytest.fixture
def scenes(tmp_path):
    """Scene tables with two attributes of jugs, and the lexicon."""
    write(tmp_path, [("1", "a", "jug", ["red", "blue"]), ("2", "a", "jug", ["old"])])
    return tmp_path


def judged(scenes, **settings):
    made = OverlapSettings(**settings)
    overlap(scenes, scenes / "lexicon.json", scenes / "o.parquet", made, scenes / "words", scenes / "shares.parquet")
    return tables.read(scenes / "o.parquet", OVERLAP).to_pylist()


def trained(scenes, shuffled):
    """Train a filter of attributes: plain names exclude each other, all others overlap; or by shuffled labels."""
    names = sorted((*VAGUE, *PLAIN))
    pairs = [(x, y) for x in names for y in names if x < y]
    labels = ["overlapping" if {x, y} & set(VAGUE) else "exclusive" for x, y in pairs]
    if shuffled:
        random.Random(1).shuffle(labels)
    rows = [
        {"kind": "attribute", "x": x, "y": y, "label": label, "annotator": "Ann"}
        for (x, y), label in zip(pairs, labels, strict=True)
    ]
    tables.write(scenes / "labels.parquet", LABELS, rows)
    out = scenes / "words/attribute"
    train(scenes / "labels.parquet", scenes / "lexicon.json", "attribute", "pairs", out, SETTINGS, 1)


def scored(scenes, ms, labels):
    """What a filter says of held-out pairs, as its training writes it; it is right on all that it learnt."""
    row = {"kind": "attribute", "y": "y", "annotator": "Ann"}
    rows = [
        row | {"x": f"x{n:03d}", "part": HELD_OUT, "m": m, "label": label}
        for n, (m, label) in enumerate(zip(ms, labels, strict=True))
    ]
    rows += [one | {"x": f"z{one['x']}", "part": TRAIN, "m": float(one["label"] == "exclusive")} for one in rows]
    tables.write(scenes / "words/attribute/scored.parquet", SCORED, rows)


def test_a_filter_that_has_learnt_is_taken(scenes):
    trained(scenes, shuffled=False)
    assert {row["model"] for row in judged(scenes, **LEARNED)} == {"learned:minilm"}


def test_a_filter_that_was_trained_on_shuffled_labels_is_refused(scenes):
    trained(scenes, shuffled=True)
    words = (
        r"word filter of attributes is no better than a constant: on 35 held-out pairs .* overlapping\) its balanced "
    )
    with pytest.raises(InputError, match=rf"{words}accuracy is 0\.\d\d \(0\.\d\d to 0\.\d\d\), .*\(floor: 0\.6\)"):
        judged(scenes, **LEARNED)


@pytest.mark.parametrize("m", [0.01, 0.99])
def test_a_constant_filter_is_refused_however_often_it_is_right(scenes, m):
    labels = ["exclusive"] * 54 + ["overlapping"] * 3 if m > 0.5 else ["overlapping"] * 54 + ["exclusive"] * 3
    scored(scenes, [m] * 57, labels)
    few = labels[-1]
    told = rf"57 held-out pairs .* 0\.50 .*; label more {few} pairs of attributes, or set overlap.methods: {{attribute:"
    with pytest.raises(InputError, match=told):
        judged(scenes, **LEARNED)


@pytest.mark.parametrize("seed", range(5))
def test_a_random_filter_is_refused(scenes, seed):
    draw = random.Random(seed)
    scored(scenes, [draw.random() for _ in range(80)], [draw.choice(["exclusive", "overlapping"]) for _ in range(80)])
    with pytest.raises(InputError, match="attributes is no better than a constant"):
        judged(scenes, **LEARNED)


def test_a_filter_without_one_of_the_labels_to_be_tried_on_is_refused(scenes):
    scored(scenes, [0.9] * 40, ["exclusive"] * 40)
    with pytest.raises(
        InputError, match=r"\(40 exclusive, 0 overlapping\) its balanced accuracy cannot be told; label"
    ):
        judged(scenes, **LEARNED)


def test_the_floor_is_the_configs(scenes):
    labels = ["exclusive", "overlapping"] * 100
    scored(scenes, [float((label == "exclusive") == (n % 10 < 7)) for n, label in enumerate(labels)], labels)
    with pytest.raises(InputError, match=r"0\.70 \(0\.6\d to 0\.76\), below the floor of 0\.8; label more"):
        judged(scenes, **LEARNED, least_balanced=0.8)
    with pytest.raises(InputError, match="model.json cannot be opened"):  # taken: its weights are looked for
        judged(scenes, **LEARNED)


def test_each_kind_has_its_method_and_is_told_beside_the_lexicon(tmp_path):
    """The lexicon calls red and blue exclusive, but not what is red and old."""
    relations = [("1", "0", "a", "b", "on"), ("2", "0", "a", "b", "near")]
    things = [("1", "a", "jug", ["red", "blue"]), ("1", "b", "cup", []), ("2", "a", "jug", ["old"])]
    write(tmp_path, [*things, ("2", "b", "cup", [])], relations)
    found = judged(tmp_path, method="lexicon", methods={"attribute": "none", "relation": "none"})
    by_kind = {row["kind"]: (row["model"], row["m"]) for row in found}
    assert by_kind == {"attribute": ("none", 1.0), "relation": ("none", 1.0)}
    rows = {row["kind"]: row for row in tables.read(tmp_path / "shares.parquet", SHARES).to_pylist()}
    told = {
        kind: [row[name] for name in ("pairs", "exclusive", "exclusive_beside", "alike")] for kind, row in rows.items()
    }
    assert told == {"attribute": [3, 3, 1, 1], "noun": [0, 0, 0, 0], "relation": [2, 2, 2, 2]}
    assert json.loads((tmp_path / "lexicon.json").read_text()) == LEXICON
    assert {row["beside"] for row in rows.values()} == {"lexicon"} and rows["noun"]["model"] == "lexicon"
