"""Replies in many styles mean what a reader takes them to mean, and what cannot be told is said to be so."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from compvqa.asking.parsing import FOUND, OTHER, REFUSED, SEVERAL, UNFINISHED, UNPARSED, Parser

STYLES = yaml.safe_load((Path(__file__).parents[2] / "fixtures/replies.yaml").read_text(encoding="utf-8"))
FRAMED = [
    (STYLES["questions"][kind], frame.format(word), answer)
    for kind, said in STYLES["said"].items()
    for word, answer in said.items()
    for frame in STYLES["frames"]
]
SINGLE = [(STYLES["questions"].get(kind, kind), reply, answer) for kind, reply, answer in STYLES["replies"]]


@pytest.fixture(scope="module")
def parser():
    return Parser(STYLES["answers"])


def test_the_styles_are_many():
    assert len({reply for _, reply, _ in FRAMED}) > 500 and len(SINGLE) > 120
    assert len(STYLES["frames"]) * len(STYLES["said"]) + len(SINGLE) >= 400


@pytest.mark.parametrize("styles", [FRAMED, SINGLE], ids=["framed", "single"])
def test_a_reply_means_what_it_says(parser, styles):
    wrong = [
        f"{question} {reply!r}: {found.answer!r} ({found.how}), not {answer!r}"
        for question, reply, answer in styles
        if (found := parser.parse(reply, question)).answer != answer
    ]
    assert not wrong, f"{len(wrong)} of {len(styles)}:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("reply", "how"),
    [
        ("I cannot say.", REFUSED),
        ("Nobody knows.", REFUSED),
        ("red or blue", SEVERAL),
        ("<think>it is red", UNFINISHED),
        ("violet", OTHER),
        ("The dog is red.", FOUND),
    ],
)
def test_how_it_was_found_is_told(parser, reply, how):
    found = parser.parse(reply, "What is the color of the dog?")
    assert found.how == how and found.known == (how not in UNPARSED)


def test_yes_is_true_only_where_true_is_an_answer():
    assert Parser(["yes", "no"]).parse("True").answer == "yes"
    assert Parser(["true", "false"]).parse("Yes.").answer == "true"
    assert Parser(["red", "blue"]).parse("Yes.", "Which color?").answer == "yes"


def test_synonyms_are_words_for_answers():
    clevr = Parser(["sphere", "cube", "metal", "rubber"], {"ball": "sphere", "shiny": "metal"})
    assert [clevr.parse(reply, "What?").answer for reply in ("a ball", "Balls.", "shiny", "It is a shiny thing")] == [
        "sphere",
        "sphere",
        "metal",
        "metal",
    ]


def test_prepositions_are_answers_only_where_they_are_offered():
    relations = Parser(["on", "in", "next to", "red", "brown"])
    asked = "What is the color of the dog?"
    for reply in ("It is red in image 2.", "Looking at the pictures, I focus on the dog in front. It is red.", "Red"):
        assert relations.parse(reply, asked).answer == "red"
    assert relations.parse("It is on the box in image 2.", "Is the cup on or next to the box?").answer == "on"
    assert relations.parse("In", "Is the cup on or in the box?").answer == "in"


def test_behind_the_cue_stands_the_answer(parser):
    reply = "I see 2 dogs, and 3 chairs.\nVerdict: 2\nThank you for asking about 4 things."
    assert parser.parse(reply, "How many dogs are there?").answer == "4"
    assert parser.parse(reply, "How many dogs are there?", cue="Verdict:").answer == "2"


@given(st.sampled_from(STYLES["answers"]), st.sampled_from(["{}", "{}.", "The answer is {}.", "**{}**"]))
def test_every_answer_is_read_back(parser, answer, frame):
    assert parser.parse(frame.format(answer)).answer == answer


@given(reply=st.text(), question=st.text())
def test_any_reply_is_read_and_either_it_gives_an_answer_or_the_reason_why_not(parser, reply, question):
    found = parser.parse(reply, question)
    assert bool(found.answer) == found.known
    assert found.how == OTHER or found.answer in {"", *STYLES["answers"]}
    assert not re.search(r"\n", found.answer)
