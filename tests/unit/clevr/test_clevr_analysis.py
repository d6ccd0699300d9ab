"""The paper's analyses of programs: types, topology, relations, what places in the picture answer, degenerate ones."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compvqa.clevr import analysis
from compvqa.clevr.executor import values
from compvqa.clevr.language import from_functions
from compvqa.clevr.scene import halves
from compvqa.programs.rows import Row
from fixtures.clevr_scenes import chain, drawn_programs, drawn_scenes, naive

CORNERS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=7, max_size=7)  # in a picture of 10 x 6


def test_there_are_the_papers_13_types_and_one_more(oracle):
    asked = {from_functions(question["program"])[-1].operation for question in oracle[1]}
    assert asked == {*analysis.TYPES} - {"equal_object"} and len(asked) == 13


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ("query_color", "query"),
        ("count", "count"),
        ("exist", "exist"),
        ("less_than", "compare_integer"),
        ("equal_integer", "compare_integer"),
        ("equal_shape", "compare_attribute"),
    ],
)
def test_kinds_of_questions(last, kind):
    assert analysis.kind([Row("scene"), Row(last, (), (0,))]) == kind


def test_a_program_with_a_function_of_two_inputs_is_no_chain():
    program = chain(("filter_shape", "cube"), ("unique",), ("relate", "left"), ("count",))
    assert analysis.is_chain(program) and (analysis.relates(program), analysis.same_relates(program)) == (1, 0)
    tree = [*program[:-1], Row("scene"), Row("intersect", (), (3, 4)), Row("count", (), (5,))]
    assert not analysis.is_chain(tree)


def test_halves_of_a_picture_of_even_size_share_no_place():
    assert halves([(0, 0), (4, 2), (5, 3), (9, 5)], (10, 6)) == {
        "left": 0b0011,
        "right": 0b1100,
        "behind": 0b0011,
        "front": 0b1100,
    }


@given(drawn_scenes(), drawn_programs(near=2), CORNERS)
def test_absolute_questions_are_those_that_plain_loops_answer_by_places(drawn, program, corners):
    scene, objects, related = drawn
    wanted, numbers = naive(program, objects, related), range(len(objects))
    assume("ill-posed" not in wanted)
    lies = {
        "left": lambda x, y: x < 5,
        "right": lambda x, y: x >= 5,
        "behind": lambda x, y: y < 3,
        "front": lambda x, y: y >= 3,
    }
    by_place = {(i, name, j) for i in numbers for name, there in lies.items() for j in numbers if there(*corners[j])}
    expected = naive(program, objects, by_place)
    placed = replace(scene, halves=halves(corners[: len(objects)], (10, 6)))
    found = analysis.is_absolute(program, placed, values(program, scene)[-1])
    assert found == ("ill-posed" not in expected and expected[-1] == wanted[-1])


@given(drawn_scenes())
def test_without_places_in_the_picture_it_is_not_known(drawn):
    assert analysis.is_absolute(chain(("count",)), drawn[0], len(drawn[1])) is None


@given(drawn_scenes(), drawn_programs(near=2))
def test_a_question_is_degenerate_if_it_needs_no_relation(drawn, program):
    scene, objects, related = drawn
    wanted = naive(program, objects, related)
    assume("ill-posed" not in wanted)
    expected = False
    for number, row in enumerate(program):
        if row.operation == "relate":
            without = [*program[:number], Row("scene"), *program[number + 1 :]]
            now = naive(without, objects, related)
            expected |= "ill-posed" not in now and now[-1] == wanted[-1]
    assert analysis.is_degenerate(program, scene, values(program, scene)[-1]) == expected


def test_absolute_shares_of_the_oracles_queries(oracle, clevr_centres):
    """Of chains without a same-attribute relation, with 1, 2 and 3 relations: 60, 38 and 22 %."""
    scenes, questions = oracle
    asked, solved = Counter(), Counter()
    for question in questions:
        program, name = from_functions(question["program"]), question["image_filename"]
        if analysis.kind(program) != "query" or not analysis.is_chain(program) or analysis.same_relates(program):
            continue
        placed = replace(scenes[name], halves=halves(clevr_centres[name], (320, 240)))
        asked[analysis.relates(program)] += 1
        solved[analysis.relates(program)] += analysis.is_absolute(program, placed, question["answer"])
    assert {many: (solved[many], asked[many]) for many in asked} == {
        0: (136, 136),
        1: (82, 136),
        2: (52, 136),
        3: (31, 140),
    }


def described(program, number, through, below=frozenset()):
    """All sets of words that some way through filters up from a row gathers: by recursion, from the answer's end."""
    row = program[number]
    if row.operation.startswith("filter_"):
        words = below | {row.arguments[0]}
        return {words} | described(program, row.dependencies[0], through, words)
    if row.operation in through:
        return {below}.union(*(described(program, index, through, below) for index in row.dependencies))
    return {below}


@given(drawn_programs(), st.sampled_from(["red", "blue"]), st.sampled_from(["cube", "small", "metal"]))
def test_a_pair_occurs_where_one_way_up_through_filters_has_both_values(program, one, other):
    for occurrence, through in (("released", ()), ("strict", ("union",))):
        ways = set().union(*(described(program, number, through) for number in range(len(program))))
        expected = any({one, other} <= words for words in ways)
        assert analysis.occurs((one, other), program, occurrence) == expected


SMALL_OR_GREEN = [
    Row("scene"),
    Row("filter_color", ("green",), (0,)),
    Row("scene"),
    Row("filter_shape", ("cube",), (2,)),
    Row("union", (), (1, 3)),
    Row("filter_size", ("small",), (4,)),
    Row("count", (), (5,)),
]


@pytest.mark.parametrize(
    ("program", "pair", "released", "strict"),
    [
        (SMALL_OR_GREEN, ("small", "green"), False, True),  # small things that are green things or cubes
        (SMALL_OR_GREEN, ("green", "cube"), False, False),  # in two branches
        (
            chain(("filter_size", "small"), ("filter_color", "red"), ("filter_shape", "cube")),
            ("cube", "small"),
            *[True] * 2,
        ),
        (
            chain(("filter_color", "red"), ("unique",), ("relate", "left"), ("filter_shape", "cube")),
            ("red", "cube"),
            *[False] * 2,
        ),
        (
            chain(("filter_color", "red"), ("unique",), ("same_size",), ("filter_shape", "cube")),
            ("red", "cube"),
            *[False] * 2,
        ),
    ],
)
def test_a_pair_in_two_places_of_a_program_does_not_occur(program, pair, released, strict):
    assert analysis.occurs(pair, program) == released
    assert analysis.occurs(pair, program, "strict") == strict
