"""Splits of small data sets, and the guard against leaks."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.properties import predicate
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.tables import SCENES
from compvqa.splits.held import HeldOut
from compvqa.splits.leaks import check_leaks
from compvqa.splits.setups import find_setup
from compvqa.splits.splitters import KEPT, SPLITS, SplitSettings, read_definition, split

COUNT = to_json([Row("Find", ("cat",)), Row("Count", (), (0,))])
COUNT_RED = to_json([Row("Find", ("cat",)), Row("Filter", ("red",), (0,)), Row("Count", (), (1,))])
ZERO = {"name": "red-counts", "setup": "zero-shot", "property": "HAS-COUNT and HAS-ATTR"}
FEW = {"name": "red-counts", "setup": "few-shot", "property": "HAS-ATTR", "m": 3}


def held(expression: str) -> HeldOut:
    return HeldOut(predicate(expression))


def question(number: int, part: str, red: bool) -> dict:
    side = "train" if part == "train" else "val"
    row = {
        "question_id": f"{number:05d}",
        "testbed": "covr",
        "split": side,
        "part": part,
        "template": "COUNT",
    }
    row |= {"text": f"{part} text {number}", "annotator_text": "", "program": COUNT_RED if red else COUNT}
    row |= {"answer": "1", "scene_ids": [f"{side}:1", f"{side}:2"], "seed": number, "subgraph_key": 1}
    return row | {"start_scene": f"{side}:1", "tree": '["cat",null,[]]', "size": 1, "depth": 1}


@pytest.fixture
def make(tmp_path):
    """A split of a data set of (part, whether red) for each question: its parts, its counts."""

    def made(questions, definition, settings=None, seed=0, lexicon=None, dataset=tmp_path / "dataset.parquet"):
        tables.write(dataset, DATASET, [question(n, *given) for n, given in enumerate(questions)])
        out = tmp_path / "split.parquet"
        counts = split(dataset, definition, lexicon, out, settings or SplitSettings(), seed)
        parts: dict[str, set[str]] = {}
        for row in tables.read(out, SPLITS).to_pylist():
            assert row["split_name"] == definition["name"]
            parts.setdefault(row["part"], set()).add(row["question_id"])
        return parts, counts

    return made


PLAIN = [(part, red) for part in ("train", "dev", "test") for red in (True, True, True, True, True, False, False)]


def ids(part: str, red: bool | None = None) -> set[str]:
    return {f"{n:05d}" for n, (p, r) in enumerate(PLAIN) if p == part and red in (None, r)}


def test_iid_takes_everything(make):
    parts, counts = make(PLAIN, {"name": "iid", "setup": "iid"})
    assert parts == {part: ids(part) for part in ("train", "dev", "test")}
    assert counts["in"] == counts["out"] == len(PLAIN)


def test_zero_shot_keeps_nothing_that_has_the_property(make):
    parts, counts = make(PLAIN, ZERO)
    assert parts["train"] == ids("train", False)
    assert parts["dev_iid"] == ids("dev", False)
    assert parts["dev_comp"] == ids("dev", True)
    assert parts["test_comp"] == ids("test", True)
    assert len(parts["train_size"]) == len(parts["train"]) and parts["train_size"] <= ids("train")
    assert counts["filtered from train"] == counts["with the property: train"] == 5


def test_few_shot_keeps_m_more(make):
    parts, counts = make(PLAIN, FEW)
    assert len(parts["train"] & ids("train", True)) == 3
    assert parts["train"] >= ids("train", False)
    assert len(parts["train_size"]) == 5 and counts["filtered from train"] == 2


def test_a_few_shot_split_says_how_many_it_keeps(make, tmp_path):
    """M as it came out: scaled, or all that there are where M is more."""
    for definition, scale, kept in ((FEW, 1, "3"), (FEW | {"m": 20}, 0.1, "2"), (FEW | {"m": 20}, 1, "5")):
        make(PLAIN, definition, SplitSettings(m_scale=scale))
        assert tables.metadata(tmp_path / "split.parquet")[KEPT] == kept
    make(PLAIN, ZERO)
    assert KEPT not in tables.metadata(tmp_path / "split.parquet")


def test_more_shots_contain_fewer(make):
    shots = [make(PLAIN, FEW | {"m": m})[0]["train"] for m in range(5)]
    assert all(a < b for a, b in zip(shots, shots[1:], strict=False))


def test_m_is_scaled(make):
    parts, _ = make(PLAIN, FEW | {"m": 20}, SplitSettings(m_scale=0.1))
    assert len(parts["train"] & ids("train", True)) == 2


def test_other_seeds_choose_others(make):
    chosen = {frozenset(make(PLAIN, FEW | {"m": 1}, seed=seed)[0]["train"]) for seed in range(10)}
    assert len(chosen) > 1


def test_an_empty_part_says_why(make):
    _, counts = make([("train", False), ("dev", False), ("test", False)], ZERO)
    assert counts["out: test_comp"] == 0
    assert "empty: test_comp, because no question of test has the property" in counts
    _, counts = make([("train", True)], FEW)
    assert counts["few-shot: train has fewer than M = 3"] == 1


def test_a_lexicon_tells_the_group_of_an_attribute(make, tmp_path):
    lexicon = tmp_path / "lexicon.json"
    lexicon.write_text(json.dumps({"nouns": {}, "attributes": {"red": {"group": "color"}}, "relations": {}}))
    parts, _ = make(PLAIN, ZERO | {"property": "HAS-ATTR-COLOR"}, lexicon=lexicon)
    assert parts["test_comp"] == ids("test", True)


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.sampled_from(["train", "dev", "test"]), st.booleans()), max_size=30),
    st.sampled_from([ZERO, FEW]),
    st.integers(0, 5),
)
def test_parts_do_not_leak(tmp_path_factory, questions, definition, seed):
    folder = tmp_path_factory.mktemp("split")
    dataset, out = folder / "dataset.parquet", folder / "split.parquet"
    tables.write(dataset, DATASET, [question(n, *given) for n, given in enumerate(questions)])
    split(dataset, definition, None, out, SplitSettings(), seed)
    parts = {"train": [], "dev_iid": [], "dev_comp": [], "test_comp": []}
    for row in tables.read(out).to_pylist():
        parts.setdefault(row["part"], []).append(row["question_id"])
    few = read_definition(definition).few(SplitSettings())
    check_leaks(dataset, "red-counts", find_setup(definition["setup"]), parts, held(definition["property"]), few)
    assert len(set(parts["dev_iid"]) | set(parts["dev_comp"])) == sum(part == "dev" for part, _ in questions)


class TestLeaks:
    """Each leak put in by hand is found and named."""

    @pytest.fixture
    def check(self, tmp_path):
        def check(rows, parts, setup="few-shot", **more):
            tables.write(tmp_path / "dataset.parquet", DATASET, rows)
            check_leaks(tmp_path / "dataset.parquet", "mine", find_setup(setup), parts, **more)

        return check

    def test_an_image_on_both_sides(self, check):
        rows = [question(0, "train", False), question(1, "dev", False) | {"scene_ids": ["val:1", "train:2"]}]
        with pytest.raises(InputError, match="mine leaks: train and dev share the image 'train:2'"):
            check(rows, {"train": ["00000"], "dev_comp": ["00001"]})

    def test_two_scenes_of_one_image(self, check, tmp_path):
        empty = {"source": "s", "split": "train", "width": None, "height": None}
        scenes = [{"scene_id": f"{side}:{n}", "image": f"vg:{n}"} | empty for side in ("train", "val") for n in (1, 2)]
        tables.write(tmp_path / "scenes.parquet", SCENES, scenes)
        rows = [question(0, "train", False), question(1, "test", False)]
        parts = {"train": ["00000"], "test_comp": ["00001"]}
        check(rows, parts)
        with pytest.raises(InputError, match="train and test share the image 'vg:1'"):
            check(rows, parts, scenes=tmp_path / "scenes.parquet")

    def test_a_text_in_dev_and_test(self, check):
        rows = [question(n, part, False) | {"text": "How many?"} for n, part in enumerate(("dev", "test"))]
        with pytest.raises(InputError, match="dev and test share the text 'How many\\?'"):
            check(rows, {"dev": ["00000"], "test": ["00001"]}, "iid")

    def test_the_property_in_train(self, check):
        rows = [question(n, "train", n < 3) for n in range(5)]
        parts = {"train": ["00001", "00002", "00003", "00004"]}
        check(rows, parts, held_out=held("HAS-ATTR"), few=2)
        with pytest.raises(InputError, match="2 questions in train have the held-out property instead of 1"):
            check(rows, parts, held_out=held("HAS-ATTR"), few=1)

    @pytest.mark.parametrize(("part", "red", "verb"), [("dev_iid", True, "has"), ("dev_comp", False, "lacks")])
    def test_the_property_on_the_wrong_side_of_dev(self, check, part, red, verb):
        with pytest.raises(InputError, match=f"question 00000 in {part} {verb} the held-out property"):
            check([question(0, "dev", red)], {"train": [], part: ["00000"]}, held_out=held("HAS-ATTR"))

    def test_a_question_that_is_not_there(self, check):
        with pytest.raises(InputError, match="names 1 train questions"):
            check([question(0, "train", False)], {"train": ["00000", "00009"]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"setup": "some-shot"},
            "split red-counts, setup: there is no setup 'some_shot': use one of few_shot, held_out_pair, iid",
        ),
        ({"setup": None}, "split red-counts, setup"),
        ({"size": 3}, "split red-counts, size"),
        ({"property": ""}, "holds out one thing"),
        ({"setup": "iid"}, "split red-counts, property"),
        ({"m": 3}, "split red-counts, m"),
    ],
)
def test_a_wrong_definition_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        read_definition(ZERO | change)


def test_the_splits_of_the_repository_can_be_read(root):
    paths = sorted((root / "config" / "splits").glob("*.yaml"))
    assert {
        "iid",
        "has-quant-all",
        "has-compar",
        "has-num-3",
        "tpl-verifyattr",
        "has-count-and-has-attr",
    } <= {path.stem for path in paths}
    for path in paths:
        definition = read_definition(yaml.safe_load(path.read_text(encoding="utf-8")))
        assert definition.name == path.stem
        if isinstance(definition.held_out(), str):
            predicate(definition.held_out())
