"""The linter finds what is known to be wrong with official templates, what is made wrong here, and nothing in ours."""

import copy
import json

import pytest

from compvqa.clevr.lint import DOUBLE, NEVER, ONE_ANSWER, REPEATED, lint, sampled
from compvqa.clevr.templates import read_file, read_templates
from compvqa.errors import InputError

GROUPS = {"Z": "Size", "C": "Color", "M": "Material", "S": "Shape"}


@pytest.fixture(scope="module")
def scenes(words):
    return sampled(words, 30)


def found(findings):
    return [(item.template, item.fault, item.scenes is None) for item in findings]


def slots(number=""):
    return [f"<{letter}{number}>" for letter in GROUPS]


def family(text, *nodes, constraints=(), **more):
    """A template of nodes such as ("filter_unique", [0], ["<Z>", …])."""
    made = [{"type": kind, "inputs": list(inputs), "side_inputs": list(given)} for kind, inputs, given in nodes]
    used = [slot for *_, given in nodes for slot in given]
    params = [{"name": slot, "type": GROUPS.get(slot[1], "Relation")} for slot in used]
    pairs = [{"type": kind, "params": list(params)} for kind, params in constraints]
    return {"text": [text] if isinstance(text, str) else text, "nodes": made, "params": params, "constraints": pairs}


THE = ("filter_unique", [0], slots())
SCENE = ("scene", [], [])
COLOR = family("Which color has the <Z> <C> <M> <S>?", SCENE, THE, ("query_color", [1], []))


def linted(tmp_path, words, scenes, *entries, **changes):
    path = tmp_path / "made.json"
    path.write_text(json.dumps(list(entries)))
    return lint(read_file(path), words, scenes, **changes)


def test_ours_have_nothing(templates, words, scenes):
    assert lint(templates, words, scenes) == []


def test_what_is_known_of_the_official_ones_is_found(clevr, words, scenes):
    """Issues 24 and 37 of facebookresearch/clevr-dataset-gen."""
    official = read_templates(clevr / "CLEVR_1.0_templates")
    texts = [("comparison_0", REPEATED, True), ("zero_hop_2", REPEATED, True)]
    assert found(lint(official, words, scenes)) == texts
    assert found(lint(official, words, scenes, sets=False)) == [("compare_integer_0", ONE_ANSWER, True), *texts]


def test_a_text_that_stands_twice_is_found_by_what_can_be_said(tmp_path, words, scenes):
    short, long = "Which color has the <Z> <C> <M> <S>?", "Which color has [just] the <Z> <C>  <M> <S>?"
    [finding] = linted(tmp_path, words, scenes, COLOR | {"text": [short, "Of which color is the <Z> <S>?", long]})
    assert str(finding) == f"made_0: repeated text: text 2 (counted from 0) is text 0 again: {long} (proved)"


def test_a_text_that_two_families_share_is_found_whatever_their_slots_are_called(tmp_path, words, scenes):
    shape = family("What is the <Z2> <C2> <M2> <S2>?", SCENE, (*THE[:2], slots(2)), ("query_shape", [1], []))
    [finding] = linted(tmp_path, words, scenes, COLOR | {"text": ["What is the <Z> <C> <M> <S>?"]}, shape)
    assert str(finding) == "made_1: repeated text: text 0 (counted from 0) is also text 0 of made_0 (proved)"


def test_a_family_that_is_another_or_a_part_of_it_is_a_double(tmp_path, words, scenes):
    renamed = json.loads(json.dumps(COLOR).replace(">", "9>"))
    narrow = copy.deepcopy(COLOR) | {"constraints": [{"type": "NULL", "params": ["<C>"]}]}
    other = family("Name the color of the <Z> <C> <M> <S>.", SCENE, THE, ("query_color", [1], []))
    assert [item for item in found(linted(tmp_path, words, scenes, COLOR, renamed)) if item[1] == DOUBLE] == [
        ("made_1", DOUBLE, True)
    ]
    assert found(linted(tmp_path, words, scenes, COLOR, narrow)) == [("made_1", DOUBLE, True)]
    assert found(linted(tmp_path, words, scenes, COLOR, other)) == []


def test_a_family_with_fewer_nodes_that_asks_the_same_is_found_by_its_questions(tmp_path, words, scenes):
    text = "How many <Z2> <C2> <M2> <S2>s share the size of the <Z> <C> <M> <S>?"
    same = ("same_size", [1], [])
    bare = family(text.replace("<Z2> <C2> <M2> <S2>", "thing"), SCENE, THE, same, ("count", [2], []))
    filtered = family(text, SCENE, THE, same, ("filter_count", [2], slots(2)))
    [finding] = linted(tmp_path, words, scenes, bare, filtered)
    assert (finding.template, finding.fault, finding.scenes) == ("made_0", DOUBLE, 30)
    assert finding.detail.endswith("of made_1 too")


TWO = [SCENE, THE, ("query_color", [1], [])]
COUNTS = [SCENE, ("filter_count", [0], slots()), SCENE, ("count", [2], [])]
RELATE = [SCENE, THE, ("relate", [1], ["<R>"])]


@pytest.mark.parametrize(
    ("nodes", "constraints", "expected", "why"),
    [
        ([*TWO, ("query_color", [1], []), ("equal_color", [2, 3], [])], [], (ONE_ANSWER, True), "yes, since equal_col"),
        ([*TWO, ("query_color", [1], []), ("equal_color", [2, 3], [])], [("OUT_NEQ", [2, 3])], (NEVER, True), "always"),
        ([*COUNTS, ("less_than", [1, 3], [])], [], None, ""),
        ([*COUNTS, ("less_than", [3, 1], [])], [], (ONE_ANSWER, False), "only no was found"),
        ([*COUNTS, ("equal_integer", [1, 3], [])], [("OUT_NEQ", [1, 3])], (ONE_ANSWER, True), "no, since the nodes 1"),
        ([SCENE, ("count", [0], [])], [], (NEVER, False), "nothing fits"),
        (
            [*RELATE, ("union", [0, 2], []), ("exist", [3], [])],
            [],
            (NEVER, False),
            "the answer is the same without a relation",
        ),
    ],
)
def test_what_has_one_answer_or_none_is_found(tmp_path, words, scenes, nodes, constraints, expected, why):
    text = "Is it so of <R> <Z> <C> <M> <S>?"
    used = {slot for *_, given in nodes for slot in given}
    said = " ".join(word for word in text.removesuffix("?").split() if "<" not in word or word in used)
    entry = family(f"{said}?", *nodes, constraints=constraints)
    most = {"most_counted": 2} if nodes[-1][0] == "count" else {}
    findings = linted(tmp_path, words, scenes, entry, **most)
    assert [item[1:] for item in found(findings)] == ([expected] if expected else [])
    assert all(why in item.detail for item in findings)


def test_one_word_for_a_group_is_one_answer(tmp_path, words, scenes):
    few = type(words)({**words.values, "color": ("red",)}, words.synonyms)
    [finding] = linted(tmp_path, few, sampled(few, 2), COLOR)
    assert finding.detail == "red, since there is no other word for it"


def test_relations_that_no_scene_of_ours_has_are_told(words):
    strange = type(words)({**words.values, "relation": ("left", "above")}, {})
    with pytest.raises(InputError, match=r"^No scenes can be sampled that have the relation 'above' \(behind, front"):
        sampled(strange, 1)
