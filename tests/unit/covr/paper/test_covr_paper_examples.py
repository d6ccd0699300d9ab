"""Which questions are shown as examples, where their slots are, and what differs in a distractor."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.paper import examples
from compvqa.covr.questions.references import changes, substitute
from compvqa.covr.questions.templates import load
from compvqa.covr.subgraphs.subgraph import Edge, make
from fixtures import paper_inputs
from fixtures.subgraphs import subgraphs

TEMPLATES = {template.name: template for template in load(paper_inputs.TEMPLATES)}
VARIANTS = [(name, key) for name, template in TEMPLATES.items() for key in template.variants]
FILL = st.lists(st.sampled_from(["dogs", "red", "zebra", "wearing", "hats"]), min_size=1, max_size=3).map(" ".join)
SEEDED = [{"question_id": str(number), "text": "one " * (6 + 3 * (number % 5))} for number in range(50)]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
@given(data=st.data())
def test_what_is_underlined_is_what_filled_the_slots(name, variant, data):
    """A template's own words are never underlined, the others always are; slots side by side are one."""
    parts = re.split(r"(\{(?:[^{}]|\{[^{}]*\})*\})", TEMPLATES[name].variants[variant].text)
    text, spans = "", []
    for before, slot in zip(parts[::2], [*parts[1::2], None], strict=True):
        text += before
        if slot is not None:
            start = spans.pop()[0] if spans and not before.strip() else len(text)
            text += data.draw(FILL)
            spans.append((start, len(text)))
    assert examples.slots(TEMPLATES[name], text) == tuple(spans)


def test_slots_that_can_be_told_apart_in_two_ways_are_not_underlined():
    template, text = TEMPLATES["VERIFYSAMEATTR"], "Do the cat and the dog and the bird have the same color?"
    assert examples.slots(template, text) == ()
    assert examples.slots(template, text.replace(" and the bird", "")) == ((3, 10), (15, 22), (37, 42))


def test_a_text_of_another_template_has_no_slots():
    assert examples.slots(TEMPLATES["COUNT"], "Is the cat black?") == ()


def test_a_variant_with_more_words_of_its_own_is_tried_first():
    text = "How many images contain dogs that are on a bed?"
    ((start, end),) = examples.slots(TEMPLATES["COUNT"], text)
    assert text[start:end] == "dogs that are on a bed"


def test_short_questions_come_first_and_their_order_is_drawn():
    shown = examples.readable(SEEDED, "a thing")
    words = [len(question["text"].split()) for question in shown]
    assert set(words[:30]) == {6, 9, 12} and words[30:] == [15] * 10 + [18] * 10
    assert examples.readable(reversed(SEEDED), "a thing") == shown
    assert [q["question_id"] for q in shown] != [q["question_id"] for q in examples.readable(SEEDED, "another")]


@given(subgraphs())
def test_every_name_is_where_substitution_finds_it(g):
    names = examples.node_names(g)
    assert {node for node, _ in names} == set(range(g.size))
    for place, name in names.items():
        if name is not None:
            assert substitute(g, {place: name}) == g
            assert substitute(g, {place: "something else"}) != g


def test_what_differs_is_told_by_the_names_before_and_after():
    g = make("boy", "happy", (Edge("wearing", make("hat", "red")),))
    two = examples.Related("w:1", "2_name_neg_attr_root", (2, 0), ("shirt", "sad"))
    assert examples.differences(g, two) == ["hat → shirt", "happy → sad"]
    assert examples.differences(g, examples.Related("w:1", "2_attr", (2,), ("blue",))) == ["red → blue"]
    assert examples.differences(g, examples.Related("w:1", "no_mult", (), ())) == []
    assert changes("1_relation", [1], ["holding"]) == {(1, False): "holding"}


def test_a_scene_found_for_two_reasons_is_shown_once(world):
    found = examples.related(world.inputs, [0, 1])
    assert set(found) == {0, 1}
    assert all(scene.scene_id == scene_id for scenes in found.values() for scene_id, scene in scenes.items())
    assert sum(scene.contains for scene in found[0].values()) == len(range(0, len(found[0]), 3))


def test_neighbouring_spans_never_overlap():
    for template in TEMPLATES.values():
        for variant in template.variants.values():
            spans = examples.slots_of(variant.text)
            assert all(a[1] <= b[0] for a, b in pairwise(spans))
            assert all(variant.text[a] == "{" and variant.text[b - 1] == "}" for a, b in spans)
