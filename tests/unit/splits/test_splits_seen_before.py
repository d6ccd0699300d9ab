"""What a model has seen of a split before it is trained on it."""

import re
import sys

import pytest

from compvqa import tables
from compvqa.covr.pretraining.asked import ASKED
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.features.seen import write_seen
from compvqa.programs.rows import Row, to_json
from compvqa.questions.asked import asked_schema
from compvqa.scenes.tables import SCENES
from compvqa.splits import setups
from compvqa.splits.seen_before import SEEN_BEFORE, kept_from, seen_before
from compvqa.splits.setups import find_setup
from compvqa.splits.splitters import SplitSettings, _Held, split

CAT, RED = [Row("Find", ("cat",))], [Row("Find", ("cat",)), Row("Filter", ("red",), (0,))]
COUNT, COUNT_RED = ([*rows, Row("Count", (), (len(rows) - 1,))] for rows in (CAT, RED))
ANY_RED = [*RED, Row("Exists", (), (1,))]
PROGRAMS = {"plain": COUNT, "red": COUNT_RED, "any": ANY_RED}
ZERO = {"name": "red-counts", "setup": "zero-shot", "property": "HAS-COUNT and HAS-ATTR"}
FEW = {"name": "counts", "setup": "few-shot", "property": "HAS-COUNT", "m": 1}
IID = {"name": "iid", "setup": "iid"}
UNNAMED = """
from dataclasses import replace

from compvqa.splits.setups import zero_shot


class Pair(zero_shot.SETUP.definition):
    pair: tuple[str, str]

    def unnamed(self):
        return frozenset(self.pair)


SETUP = replace(zero_shot.SETUP, definition=Pair)
"""


@pytest.fixture
def guard(tmp_path):
    """The guard of a split of six questions, each about an image of its own, against what a pretraining asked."""
    questions = [(part, kind) for part in ("train", "dev", "test") for kind in ("plain", "red")]
    rows = []
    for number, (part, kind) in enumerate(questions):
        row = dict.fromkeys(DATASET.fields.names) | {
            "question_id": f"q{number}",
            "part": part,
            "text": f"text {number}",
        }
        row |= {"template": "COUNT", "program": to_json(PROGRAMS[kind]), "tree": '["cat",null,[]]', "answer": "1"}
        rows.append(row | {"scene_ids": [f"{part}:{number}"]})
    tables.write(tmp_path / "questions.parquet", DATASET, rows)
    shown = [scene for row in rows for scene in row["scene_ids"]]
    scenes = [dict.fromkeys(SCENES.fields.names) | {"scene_id": scene, "image": f"i:{scene}"} for scene in shown]
    tables.write(tmp_path / "scenes.parquet", SCENES, scenes)

    def guarded(definition, asked=None, saw=(), policy="mark", schema=ASKED, named=()):
        dataset, made, out = (tmp_path / f"{name}.parquet" for name in ("questions", "split", "seen"))
        split(dataset, definition, None, made, SplitSettings(), 1)
        write_seen(tmp_path / "saw.parquet", saw, named)
        blank = {"template": "COUNT", "answer": "1", "tree": '["cat",null,[]]', "properties": None}
        told = [blank | {"program": to_json(PROGRAMS[kind]), "n": n} for kind, n in (asked or {}).items()]
        tables.write(tmp_path / "asked.parquet", schema, told)
        given = (None, tmp_path / "scenes.parquet", [tmp_path / "saw.parquet"])
        was_asked = None if asked is None else tmp_path / "asked.parquet"
        seen_before("tiny", dataset, made, definition, *given, was_asked, out, policy, 1)
        return {(row["variant"], row["property"]): row["asked"] for row in tables.read(out, SEEN_BEFORE).to_pylist()}

    return guarded


def test_examples_with_what_is_held_out_are_counted(guard):
    assert guard(ZERO, {"plain": 5, "red": 7, "any": 9}) == {("comp", "HAS-COUNT and HAS-ATTR"): 7}
    assert guard(ZERO, {"plain": 5, "any": 9}) == {("comp", "HAS-COUNT and HAS-ATTR"): 0}
    assert guard(FEW, {"plain": 5, "red": 7, "any": 9}) == {("comp", "HAS-COUNT"): 12, ("m", "HAS-COUNT"): 12}
    assert guard(ZERO) == {("comp", "HAS-COUNT and HAS-ATTR"): 0}  # no pretraining of ours


def test_what_is_drawn_from_the_data_is_asked_of_the_pretraining_too(guard):
    drawn = {"name": "some", "setup": "zero-shot", "drawn": {"kind": "programs", "share": 1.0 - 1e-9}}
    assert guard(drawn, {"plain": 5, "red": 7, "any": 9}) == {("comp", "programs"): 12}  # of all programs, any is none


def test_runs_that_are_trained_on_all_questions_are_not_asked_about(guard):
    assert guard(IID, {"plain": 5, "red": 7}) == {}
    assert {name: kept_from(find_setup(name)) for name in ("iid", "zero-shot", "few-shot")} == {
        "iid": [],
        "zero-shot": ["comp"],
        "few-shot": ["comp", "m"],
    }


def test_a_pretraining_with_what_is_held_out_is_refused_where_the_config_says_so(guard):
    with pytest.raises(InputError) as refused:
        guard(ZERO, {"plain": 5, "red": 7000}, policy="refuse")
    said = "split red-counts holds out HAS-COUNT and HAS-ATTR, and 7,000 examples of the pretraining of tiny have it: "
    assert str(refused.value).startswith(said) and str(refused.value).endswith("or write models.seen_before: mark.")
    assert guard(ZERO, {"plain": 5, "any": 9}, policy="refuse") == guard(ZERO, {"plain": 5, "any": 9})


@pytest.mark.parametrize("definition", [IID, ZERO, FEW])
@pytest.mark.parametrize("policy", ["mark", "refuse"])
def test_an_image_of_dev_or_test_that_was_seen_is_refused(guard, definition, policy):
    guard(definition, saw=["i:train:0", "i:train:1", "i:elsewhere"], policy=policy)
    for image in ("i:dev:3", "i:test:5"):
        with pytest.raises(InputError, match=f"split {definition['name']}: .* was trained on image {image}"):
            guard(definition, saw=["i:train:0", image], policy=policy)


def test_a_property_that_looks_at_scenes_is_not_told(guard, monkeypatch):
    looks = lambda name: lambda question: any(question.scenes)  # noqa: E731
    monkeypatch.setattr("compvqa.covr.properties.named", looks)
    monkeypatch.setattr("compvqa.splits.splitters._Held.read", lambda *_: _Held.none(6))
    monkeypatch.setattr("compvqa.splits.splitters.check_leaks", lambda *_: {})
    assert guard(ZERO, {"plain": 5}) == {("comp", "HAS-COUNT and HAS-ATTR"): None}


def test_a_pretraining_in_another_language_is_refused(guard):
    with pytest.raises(InputError, match="programs in the language toy, those of .* are covr"):
        guard(ZERO, {"plain": 5}, schema=asked_schema("toy", ASKED.fields.remove(ASKED.fields.get_field_index("n"))))


@pytest.fixture
def unnamed(tmp_path, monkeypatch):
    """A split whose setup, a file of somebody's own, wants what a split holds out unnamed."""
    (tmp_path / "unnamed.py").write_text(UNNAMED)
    monkeypatch.setattr(setups, "__path__", [*setups.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "compvqa.splits.setups.unnamed", raising=False)
    return {"name": "red-cats", "setup": "unnamed", "property": "HAS-COUNT", "pair": ["red", "cat"]}


@pytest.mark.parametrize(("named", "words"), [(["red", "dog", "cat"], "cat and red"), (["red"], "red")])
def test_an_encoder_that_was_taught_to_name_what_is_held_out_is_refused(guard, unnamed, named, words):
    with pytest.raises(InputError) as refused:
        guard(unnamed, saw=["i:elsewhere"], named=named)
    said = (
        f"split red-cats holds out HAS-COUNT, and the encoder of .* was trained on our pictures to name {words}: take"
    )
    assert re.match(said, str(refused.value)) and str(refused.value).endswith("or leave the split out.")


def test_an_encoder_that_names_other_words_or_none_and_splits_that_do_not_mind_are_let_through(guard, unnamed):
    untold = guard(unnamed)
    assert guard(unnamed, saw=["i:elsewhere"], named=["dog"]) == untold == guard(unnamed, saw=["i:elsewhere"])
    assert guard(ZERO, named=["red", "cat"]) == guard(ZERO)
