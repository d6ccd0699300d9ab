"""Which claims a question makes of its images, and which of them its answer needs."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compvqa.covr.executor import ProgramError, answer_text, execute
from compvqa.covr.questions.references import alike_branches, condition_rows, matches, rows, with_edges
from compvqa.covr.risk.claims import FEWER, MORE, Claims, changed, described, general
from compvqa.covr.subgraphs.subgraph import Edge, Held, Modifier, Reference, Subgraph, make
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.graph import Object, Relation, SceneGraph
from unit.covr.questions.question_worlds import scene, subgraphs

CUP = make("cup", "red")
MAN = make("man", None, (Edge("holding", CUP, (Modifier("in", "hand"),)),))
TALL = make("man", "tall", MAN.edges)
WORN = Held(make("girl", "standing"), Edge("wearing", make("hat")))  # hats with a standing girl wearing them
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
            [*rows(WORN), Row("None", (condition_rows("red", ()),), (len(rows(WORN)) - 1,))],
            "true",
            [WORN, Held(WORN.subject, Edge("wearing", make("hat", "red")))],
        ),
        (
            [*rows(WORN), Row("Some", (condition_rows(None, (Edge("on", make("table")),)),), (len(rows(WORN)) - 1,))],
            "true",
            [WORN, Held(WORN.subject, Edge("wearing", make("hat", None, (Edge("on", make("table")),))))],
        ),
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


@given(worlds, worlds, st.data())
def test_one_more_of_what_is_held_or_none_is_what_matches_after_a_change(one, other, data):
    held = data.draw(st.sampled_from(sorted({g for g in subgraphs(one) if g.edges}, key=Subgraph.json)))
    assume(not alike_branches(held))
    g = Held(with_edges(held, held.edges[1:]), held.edges[0])
    program = [*rows(g), Row("Count", (), (len(rows(g)) - 1,))]
    assert described(program, "1") == [g]
    n = execute(program, [other])
    assert execute(program, [changed(other, g, MORE)]) == n + 1 and execute(program, [changed(other, g, FEWER)]) == 0
    bare = Held(g.subject, Edge(g.edge.name, make(g.name), g.edge.modifiers))
    assert general(bare, g) and general(make(g.name), g) and not general(g, held.edges[0].target)


def asked_of(g: Reference, other: Reference, kind: str) -> list[Row]:
    """A program that asks about two references: compares their numbers, or how many of the one the other's name has."""
    first = rows(g)
    if kind == "compare":
        second = rows(other, len(first) + 1)
        counted = Row("Count", (), (len(first) - 1,)), Row("Count", (), (len(first) + len(second),))
        return [*first, counted[0], *second, counted[1], Row("gt", (), (len(first), len(first) + len(second) + 1))]
    if kind == "all":
        root = other.edge.target if isinstance(other, Held) else other
        return [*first, Row("All", (condition_rows(root.attribute or "red", root.edges),), (len(first) - 1,))]
    return [*first, Row("Count", (), (len(first) - 1,))]


@given(
    st.lists(st.tuples(worlds, worlds, st.sampled_from(["compare", "all", "count"]), st.data()), min_size=2, max_size=6)
)
@settings(max_examples=60, deadline=None)
def test_what_a_question_needs_hangs_on_no_other_question(drawn):
    questions, known = [], {}
    for one, other, kind, data in drawn:
        g, h = (_reference(data, subgraphs(world)) for world in (one, other))
        program = asked_of(g, h, kind)
        scenes = {one.scene_id: one, other.scene_id: other}
        known |= scenes
        try:
            answer = answer_text(execute(program, list(scenes.values())))
        except ProgramError:
            continue
        questions.append((to_json(program), answer, list(scenes)))
    for order in (questions, questions[::-1]):
        together = Claims(known.__getitem__)
        for question in order:
            assert list(together.of(*question)) == list(Claims(known.__getitem__).of(*question))


def _reference(data, found) -> Reference:
    g = data.draw(st.sampled_from(sorted(set(found), key=Subgraph.json)))
    return Held(with_edges(g, g.edges[1:]), g.edges[0]) if g.edges and data.draw(st.booleans()) else g


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
