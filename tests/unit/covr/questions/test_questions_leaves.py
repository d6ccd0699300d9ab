"""What templates ask of leaf triplets: as conditions of quantifiers, as objects and as relations to choose from."""

import pytest

from compvqa.covr.questions.templates import load
from compvqa.scenes.graph import Object, Relation, SceneGraph
from unit.covr.questions.seed_worlds import World, every, g, rel

HOLDING = g("man", rel("holding", "hat"), attribute="sitting")


@pytest.fixture(scope="module")
def templates(root):
    return {template.name: template for template in load(root / "config" / "templates" / "covr")}


QUANTIFIED = [
    (
        g("tree", rel("behind", g("boy", rel("wearing", "jeans")))),
        ("4_name", g("tree", rel("behind", g("boy", rel("wearing", "skirt"))))),
        {"boys with a tree behind them are wearing jeans"},
    ),
    (
        g("tree", rel("behind", g("boy", rel("in", "park"), rel("wearing", "jeans")))),
        ("4_name", g("tree", rel("behind", g("boy", rel("in", "road"), rel("wearing", "jeans"))))),
        {
            "boys that are wearing jeans and have a tree behind them are in a park",
            "boys that are in a park and have a tree behind them are wearing jeans",
            "boys with a tree behind them are in a park and are wearing jeans",
        },
    ),
    (
        g("man", rel("wears", g("hat", attribute="white"))),
        ("2_attr", g("man", rel("wears", g("hat", attribute="black")))),
        {"hats that a man wears are white", "men wear a white hat"},
    ),
    (
        g("woman", rel("lighting", "cigar", ("using", "candle"))),
        ("4_name", g("woman", rel("lighting", "cigar", ("using", "lighter")))),
        {
            "women that are lighting a cigar are lighting it using a candle",
            "women are lighting a cigar using a candle",
        },
    ),
    (
        g("man", rel("jumping from", "land", ("into", "land"))),
        ("4_name", g("man")),
        {"men are jumping from land into land"},
    ),
    (
        g("man", rel("picking up", "cup", ("with", "hand"))),
        ("4_name", g("man")),
        {"men are picking up a cup with their hands"},
    ),
]


@pytest.mark.parametrize(("own", "other", "said"), QUANTIFIED)
def test_quantifiers_cut_off_any_leaf(templates, own, other, said):
    """A leaf of the root, one of what the root leads to, and a modifier that a pronoun can come before."""
    (key, second), last = other, "an end"
    world = World(own).add(key, second, nodes=[int(key[0])], names=[last], times=2)
    made = every(world, templates["VERIFYQUANT"])
    assert {text.split(" ", 1)[1] for text in made} == said
    for text in said:
        if own.size == second.size:
            assert set(made[f"Some {text}"]) | set(made[f"No {text}"]) | set(made[f"All {text}"]) == {"true", "false"}


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (g("man", rel("wearing", "hat")), "no leaf to ask about"),
        (g("cup", rel("of", "tea")), "no leaf to ask about"),
        (g("man", rel("near", g("cat", rel("of", "girl"))), rel("holding", "cup")), "no leaf to ask about"),
        (g("man", rel("holding", "cup"), rel("holding", "pen")), "no leaf to ask about"),
        (g("cup", rel("on", g("table", attribute="wood"))), "no leaf to ask about"),
        (g("man", rel("holding", "cup")), "no distractor without such an object"),
    ],
)
def test_what_queryobject_does_not_ask(templates, own, reason):
    assert World(own).ask(templates["QUERYOBJECT"]) == ({}, [reason])


def test_the_subject_must_hold_one_thing_only(templates):
    cup, pen = rel("holding", "cup"), rel("holding", "pen")
    world = World(g("woman", cup)).add("0_name", g("man", cup), nodes=[0], names=["man"])
    objects = {str(i): Object(str(i), name) for i, name in enumerate(["woman", "cup", "pen"])}
    world.scenes["own"] = SceneGraph("own", objects, (Relation("holding", "0", "1"), Relation("holding", "0", "2")))
    assert world.ask(templates["QUERYOBJECT"]) == ({}, ["no image with one such object"])
    world.add("pos", g("woman", cup)).add("2_name", g("woman", pen), nodes=[2], names=["pen"])
    (answers,) = world.ask(templates["QUERYOBJECT"])[0].values()
    assert set(answers) == {"cup", "pen"}


def test_relations_of_which_both_hold_are_no_choice(templates):
    world = World(HOLDING).add(
        "0_attr_neg_relation_1",
        g("man", rel("wearing", "hat"), attribute="standing"),
        nodes=[0, 1],
        names=["standing", "wearing"],
    )
    objects = {"0": Object("0", "man", {"sitting": None}), "1": Object("1", "hat")}
    world.scenes["own"] = SceneGraph("own", objects, (Relation("holding", "0", "1"), Relation("wearing", "0", "1")))
    assert world.ask(templates["CHOOSEREL"]) == ({}, ["no image with one such object"])


def test_only_relations_with_the_modifiers_are_chosen_from(templates):
    """The man cuts the bread with a knife and holds it with a hand: he holds nothing with a knife."""
    with_knife = rel("cutting", "bread", ("with", "knife"))
    other = g("cook", rel("holding", "bread", ("with", "knife")))
    world = World(g("man", with_knife)).add("0_name_neg_relation_1", other, nodes=[0, 1], names=["cook", "holding"])
    objects = {str(i): Object(str(i), name) for i, name in enumerate(["man", "bread", "knife", "hand"])}
    relations = (Relation("cutting", "0", "1", (("with", "2"),)), Relation("holding", "0", "1", (("with", "3"),)))
    world.scenes["own"] = SceneGraph("own", objects, relations)
    made, dropped = world.ask(templates["CHOOSEREL"])
    assert [set(answers) for answers in made.values()] == [{"cutting"}]
    assert dropped == ["no image with the other answer"]
