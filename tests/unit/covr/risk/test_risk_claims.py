"""Which claims a question makes of its images, and which of them its answer needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.questions.references import condition_rows, matches, rows
from compvqa.covr.risk.claims import FEWER, MORE, Claims, changed, described, general
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, Subgraph, make
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.graph import Object, Relation, SceneGraph
from unit.covr.questions.question_worlds import scene, subgraphs

CUP = make("cup", "red")
MAN = make("man", None, (Edge("holding", CUP, (Modifier("in", "hand"),)),))
TALL = make("man", "tall", MAN.edges)
UNIQUE = [*rows(MAN), Row("Unique", (), (len(rows(MAN)) - 1,))]
LAST = len(UNIQUE) - 1


def of_people(*people: str) -> SceneGraph:
    """A scene of people, of whom "tall" ones and "holding" ones are so."""
    objects = {"cup": Object("cup", "cup", {"red": "color"}), "hand": Object("hand", "hand")}
    relations = []
    for number, person in enumerate(people):
        objects[str(number)] = Object(str(number), "man", {"tall": None} if "tall" in person else {})
        if "holding" in person:
            relations.append(Relation("holding", str(number), "cup", (("in", "hand"),)))
    return SceneGraph(f"people:{len(people)} {people}", objects, tuple(relations))


@pytest.mark.parametrize(
    ("program", "answer", "expected"),
    [
        ([*rows(MAN), Row("Count", (), (LAST - 1,))], "2", [MAN]),
        ([*UNIQUE, Row("VerifyAttribute", ("tall",), (LAST,))], "true", [MAN, TALL]),
        ([*UNIQUE, Row("QueryAttribute", ("size",), (LAST,))], "tall", [MAN, TALL]),
        ([Row("Find", ("man",)), Row("All", (condition_rows("tall", MAN.edges),), (0,))], "true", [make("man"), TALL]),
        (
            [Row("Find", ("man",)), Row("Scene"), Row("WithRelationObject", ("riding",), (0, 1)),
             Row("Unique", (), (2,)), Row("ChooseName", ("horse", "cow"), (3,))],
            "cow",
            [make("man", None, (Edge("riding", make(noun)),)) for noun in ("horse", "cow")],
        ),
        (
            [Row("Find", ("man",)), Row("Unique", (), (0,)), Row("Find", ("horse",)),
             Row("RelationBetween", (), (1, 2)), Row("ChooseRelation", ("riding", "leading"), (3,))],
            "riding",
            [make("man"), *(make("man", None, (Edge(relation, make("horse")),)) for relation in ("riding", "leading"))],
        ),
    ],
)  # fmt: skip
def test_a_program_speaks_of_what_it_looks_for_and_of_what_it_asks(program, answer, expected):
    assert set(described(program, answer)) == set(expected)


worlds = st.integers(0, 300).map(scene)


@given(worlds, worlds, st.data())
def test_one_more_or_none_is_what_matches_after_a_change(one, other, data):
    g = data.draw(st.sampled_from(sorted(set(subgraphs(one)), key=Subgraph.json)))
    assert described([*rows(g), Row("Count", (), (len(rows(g)) - 1,))], "1") == [g]
    assert len(matches(changed(other, g, MORE), g)) >= len(matches(other, g)) + 1
    assert matches(changed(other, g, FEWER), g) == []
    assert not general(g, make("dinosaur", g.attribute, g.edges)) and general(make(g.name), g)


def needed(program: list[Row], answer: str, *scenes: SceneGraph) -> set[tuple[int, str, Subgraph]]:
    known = {scene.scene_id: scene for scene in scenes}
    found = Claims(known.__getitem__).of(to_json(program), answer, list(known))
    return {(list(known).index(claim.scene_id), claim.change, claim.graph) for claim in found}


def test_a_number_needs_every_image_and_that_there_is_an_image_no_second_one():
    there, empty = of_people("holding"), of_people("tall")
    count = [*rows(MAN), Row("Count", (), (LAST - 1,))]
    assert needed(count, "1", there, empty) == {(0, MORE, MAN), (0, FEWER, MAN), (1, MORE, MAN)}
    images = [*rows(MAN), Row("UniqueImages", (), (LAST - 1,)), Row("Count", (), (LAST,))]
    assert needed(images, "1", there, empty) == {(0, FEWER, MAN), (1, MORE, MAN)}


def test_what_one_counterexample_decides_needs_that_one_alone():
    man, tall = make("man"), make("man", "tall")
    every = [Row("Find", ("man",)), Row("All", (condition_rows("tall", ()),), (0,))]
    right, wrong = of_people("tall"), of_people("short")
    assert needed(every, "true", right, of_people()) == {(0, MORE, man), (0, FEWER, tall), (1, MORE, man)}
    assert needed(every, "false", right, wrong) == {(1, FEWER, man)}
    assert needed(every, "false", right, wrong, of_people("small", "short")) == set()
    assert needed([Row("Find", ("man",)), Row("Some", (condition_rows("tall", ()),), (0,))], "true", right, wrong) == {
        (0, FEWER, tall)
    }


def test_a_claim_about_the_one_needs_no_second_in_any_image_whatever_its_attribute():
    verify = [*UNIQUE, Row("VerifyAttribute", ("tall",), (LAST,))]
    one, none = of_people("holding and tall"), of_people("tall")
    assert needed(verify, "true", one, none) == {(0, MORE, MAN), (0, FEWER, TALL), (1, MORE, MAN)}
