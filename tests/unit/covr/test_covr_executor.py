"""What programs answer on scenes, by example and against a search written in another way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.executor import ProgramError, answer_text, execute, trace
from compvqa.covr.questions.references import condition_rows, matches, rows
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from compvqa.programs.rows import Row
from compvqa.scenes.graph import Object, Relation, SceneGraph

KITCHEN = SceneGraph(
    "kitchen",
    {
        "1": Object("1", "cup", {"red": "color", "small": "size"}),
        "2": Object("2", "cup", {"blue": "color"}),
        "3": Object("3", "table", {"wood": "material"}),
        "4": Object("4", "man", {"tall": None}),
        "5": Object("5", "spoon"),
    },
    (
        Relation("on", "1", "3"),
        Relation("on", "2", "3"),
        Relation("stirring", "4", "1", (("with", "5"),)),
    ),
)
GARDEN = SceneGraph(
    "garden",
    {"1": Object("1", "table", {"green": "color", "white": "color"}), "2": Object("2", "cup")},
    (Relation("on", "2", "1"),),
)
EMPTY = SceneGraph("empty", {})
BOTH = [KITCHEN, GARDEN]


def ask(scenes, *program, lexicon=None):
    return execute(list(program), scenes, lexicon)


CUPS = Row("Find", ("cup",))


def test_sets_are_found_filtered_and_related_scene_by_scene():
    tables, cups = Row("Find", ("table",)), Row("Find", ("cup",))
    on = Row("WithRelation", ("on",), (1, 0))
    assert trace([tables, cups, on], BOTH)[2] == [["1", "2"], ["2"]]
    assert trace([tables, cups, Row("WithRelationObject", ("on",), (1, 0))], BOTH)[2] == [["3"], ["1"]]
    assert trace([cups, Row("Filter", ("red",), (0,))], BOTH)[1] == [["1"], []]


def test_a_relation_modifier_must_hold():
    finds = [Row("Find", (name,)) for name in ("cup", "spoon", "man", "table")]
    stirring = Row("WithRelation", ("stirring", "with"), (2, 0, 1))
    assert ask(BOTH, *finds, stirring, Row("Count", (), (4,))) == 1
    assert ask(BOTH, *finds, Row("WithRelation", ("stirring", "with"), (2, 0, 3)), Row("Count", (), (4,))) == 0
    assert ask(BOTH, *finds, Row("WithRelation", ("stirring", "in"), (2, 0, 1)), Row("Count", (), (4,))) == 0


def test_a_modifier_leads_to_its_object_by_the_names_of_both(shared_names=("stirring with", "stirring in")):
    man = [Row("Find", ("man",)), Row("Scene")]
    led = [trace([*man, Row("WithRelationObject", (name,), (0, 1))], BOTH)[2] for name in shared_names]
    assert [[list(ids) for ids in found] for found in led] == [[["5"], []], [[], []]]


def test_counting_objects_images_and_groups():
    assert ask(BOTH, CUPS, Row("Count", (), (0,))) == 3
    assert ask([*BOTH, EMPTY], CUPS, Row("UniqueImages", (), (0,)), Row("Count", (), (1,))) == 2
    for name, number, expected in [("Eq", 2, 1), ("Gt", 1, 1), ("Lt", 2, 1), ("Geq", 1, 2), ("Leq", 2, 2)]:
        keep = Row(f"KeepIfValuesCount{name}", (number,), (1,))
        assert ask(BOTH, CUPS, Row("GroupByImages", (), (0,)), keep, Row("Count", (), (2,))) == expected
    assert ask([EMPTY], CUPS, Row("Exists", (), (0,))) is False
    assert ask([EMPTY], CUPS, Row("UniqueImages", (), (0,)), Row("Exists", (), (1,))) is False
    assert ask([KITCHEN], Row("Scene"), Row("Count", (), (0,))) == 5


def test_comparisons_take_a_number_or_a_second_row():
    count = [CUPS, Row("Count", (), (0,)), Row("Find", ("man",)), Row("Count", (), (2,))]
    for name, expected in [("eq", False), ("gt", True), ("lt", False), ("geq", True), ("leq", False)]:
        assert ask(BOTH, *count, Row(name, (), (1, 3))) is expected
        assert ask(BOTH, *count, Row(name, (1,), (1,))) is expected
    assert ask(BOTH, *count[:1], Row("Exists", (), (0,)), Row("And", (), (1, 1)), Row("Or", (), (1, 2))) is True


@pytest.mark.parametrize(
    ("quantifier", "attribute", "answer"),
    [("All", "red", False), ("Some", "red", True), ("None", "red", False), ("None", "pink", True)],
)
def test_quantifiers_ask_each_object(quantifier, attribute, answer):
    assert ask(BOTH, CUPS, Row(quantifier, (condition_rows(attribute, ()),), (0,))) is answer


def test_a_condition_is_about_the_object_under_test_only():
    on_a_table = condition_rows(None, (Edge("on", make("table")),))
    assert ask(BOTH, CUPS, Row("All", (on_a_table,), (0,))) is True
    assert ask(BOTH, Row("Find", ("man",)), Row("None", (on_a_table,), (0,))) is True


def test_names_of_the_one_object():
    man = [Row("Find", ("man",)), Row("Unique", (), (0,))]
    assert ask(BOTH, *man, Row("QueryName", (), (1,))) == "man"
    assert ask(BOTH, *man, Row("ChooseName", ("man", "woman"), (1,))) == "man"
    assert ask(BOTH, *man, Row("VerifyAttribute", ("tall",), (1,))) is True
    assert ask(BOTH, *man, Row("ChooseAttribute", ("short", "tall"), (1,))) == "tall"
    between = Row("RelationBetween", (), (1, 2))
    assert trace([*man, CUPS, between], BOTH)[-1] == ["stirring"]
    assert ask(BOTH, *man, CUPS, between, Row("ChooseRelation", ("holding", "stirring"), (3,))) == "stirring"
    for modifier, found in (("spoon", ["stirring"]), ("table", [])):
        between = Row("RelationBetween", ("with",), (1, 2, 3))
        assert trace([*man, CUPS, Row("Find", (modifier,)), between], BOTH)[-1] == found
    table = [Row("Find", ("table",)), Row("Unique", (), (0,)), Row("QueryAttribute", ("material",), (1,))]
    assert ask([KITCHEN], *table) == "wood"
    assert ask([KITCHEN], Row("Find", ("table",)), Row("AllSame", ("material",), (0,))) is True
    assert ask([KITCHEN], CUPS, Row("AllSame", ("color",), (0,))) is False


def test_the_one_objects_relation_leads_to_what_it_asks_for():
    man = [Row("Find", ("man",)), Row("AssertUnique", (), (0,)), Row("Scene")]
    stirring = Row("WithRelationObject", ("stirring",), (1, 2))
    assert ask(BOTH, *man, stirring, Row("Unique", (), (3,)), Row("QueryName", (), (4,))) == "cup"
    assert [list(ids) for ids in trace(man[:2], BOTH)[1]] == [["4"], []]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ([CUPS, Row("AssertUnique", (), (0,))], "not unique"),
        ([Row("Find", ("cat",)), Row("AssertUnique", (), (0,))], "nothing there"),
        (
            [
                *(Row("Find", ("man",)), Row("Unique", (), (0,)), CUPS, Row("RelationBetween", (), (1, 2))),
                Row("ChooseRelation", ("on", "holding"), (3,)),
            ],
            "no such",
        ),
        (
            [
                *(Row("Find", ("man",)), Row("Unique", (), (0,)), CUPS, Row("RelationBetween", (), (1, 2))),
                Row("ChooseRelation", ("stirring", "stirring"), (3,)),
            ],
            "both",
        ),
        ([CUPS, Row("Unique", (), (0,))], "not unique"),
        ([Row("Find", ("cat",)), Row("Unique", (), (0,))], "nothing there"),
        ([Row("Find", ("cat",)), Row("All", (condition_rows("red", ()),), (0,))], "empty scope"),
        ([Row("Find", ("cat",)), Row("AllSame", ("color",), (0,))], "empty scope"),
        ([CUPS, Row("AllSame", ("color",), (0,))], "no value in the group"),
        (
            [Row("Find", ("man",)), Row("Unique", (), (0,)), Row("QueryAttribute", ("color",), (1,))],
            "no value",
        ),
        (
            [Row("Find", ("man",)), Row("Unique", (), (0,)), Row("ChooseName", ("cat", "dog"), (1,))],
            "no such",
        ),
        ([Row("Find", ("man",)), Row("Unique", (), (0,)), Row("ChooseName", ("man", "man"), (1,))], "both"),
    ],
)
def test_without_an_answer_the_reason_is_given(program, reason):
    with pytest.raises(ProgramError) as caught:
        execute(program, BOTH)
    assert caught.value.reason.startswith(reason)


def test_two_values_of_one_group_are_no_answer():
    table = [Row("Find", ("table",)), Row("Unique", (), (0,)), Row("QueryAttribute", ("color",), (1,))]
    with pytest.raises(ProgramError, match="two values in one group"):
        execute(table, [GARDEN])


class Entails:
    """A lexicon in which all men are people, all red is reddish, and what stirs touches."""

    def entailed(self, kind, name):
        more = {
            ("noun", "person"): "man",
            ("attribute", "reddish"): "red",
            ("relation", "touching"): "stirring",
        }
        return frozenset({name, more.get((kind, name), name)})


def test_with_a_lexicon_names_match_what_entails_them():
    def touching(noun, relation, attribute):
        g = make(noun, None, (Edge(relation, make("cup", attribute)),))
        return [*rows(g), Row("Count", (), (len(rows(g)) - 1,))]

    assert execute(touching("person", "touching", "reddish"), BOTH, Entails()) == 1
    assert execute(touching("person", "touching", "reddish"), BOTH) == 0
    assert execute(touching("person", "on", "reddish"), BOTH, Entails()) == 0


def test_answers_as_text():
    assert [answer_text(value) for value in (True, False, 3, "red")] == ["true", "false", "3", "red"]


NOUNS, ATTRIBUTES, RELATIONS = ["a", "b"], ["red", "old"], ["on", "by"]


@st.composite
def scenes(draw):
    ids = [str(i) for i in range(draw(st.integers(1, 5)))]
    some = st.lists(st.sampled_from(ATTRIBUTES), max_size=2, unique=True)
    objects = {i: Object(i, draw(st.sampled_from(NOUNS)), dict.fromkeys(draw(some))) for i in ids}
    one = st.sampled_from(ids)
    modifiers = st.lists(st.tuples(st.just("with"), one), max_size=1).map(tuple)
    relation = st.builds(Relation, st.sampled_from(RELATIONS), one, one, modifiers)
    return SceneGraph("s", objects, tuple(draw(st.lists(relation, max_size=6))))


@st.composite
def references(draw, depth=2):
    edge = st.tuples(st.sampled_from(RELATIONS), st.booleans())
    return make(
        draw(st.sampled_from(NOUNS)),
        draw(st.none() | st.sampled_from(ATTRIBUTES)),
        tuple(
            Edge(
                name,
                draw(references(depth=depth - 1)),
                (Modifier("with", draw(st.sampled_from(NOUNS))),) * mod,
            )
            for name, mod in draw(st.lists(edge, max_size=2 if depth else 0))
        ),
    )


def is_one(scene, item, g):
    """Whether the object is what ``g`` says, looked up node by node."""
    return (
        item.name == g.name
        and (g.attribute is None or g.attribute in item.attributes)
        and all(
            any(
                r.subject_id == item.object_id
                and r.name == edge.name
                and is_one(scene, scene.objects[r.object_id], edge.target)
                and all(any(n == m.name and scene.objects[o].name == m.noun for n, o in r.modifiers) for m in mods)
                for r in scene.relations
            )
            for edge in g.edges
            for mods in [edge.modifiers]
        )
    )


@given(st.lists(scenes(), min_size=1, max_size=3), references())
def test_a_reference_finds_the_objects_that_it_describes(worlds, g):
    expected = [[i for i, item in scene.objects.items() if is_one(scene, item, g)] for scene in worlds]
    assert [list(ids) for ids in trace(rows(g), worlds)[-1]] == expected
    assert [matches(scene, g) for scene in worlds] == expected
