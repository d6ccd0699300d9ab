"""Effective questions: the paper's worked example, the oracle's figures, and a search of all cuts with plain sets."""

from dataclasses import replace
from itertools import chain as joined
from itertools import combinations
from statistics import mean

import pytest
from hypothesis import assume, given

from compvqa.clevr.effective import all_cuts, effective, pruned, set_values
from compvqa.clevr.executor import values
from compvqa.clevr.language import GROUPS, LANGUAGE, from_functions
from compvqa.programs.rows import Row
from fixtures.clevr_scenes import chain, drawn_programs, drawn_scenes, scene_of

MOST_CUTS = 9  # of which all sets are tried
FIGURE_10 = scene_of(
    {
        "image_filename": "figure.png",
        "split": "val",
        "objects": [
            dict(zip(GROUPS, words, strict=True))
            for words in (
                ("small", "brown", "rubber", "cube"),  # in front
                ("large", "gray", "rubber", "cylinder"),
                ("large", "brown", "rubber", "cube"),  # at the back
            )
        ],
        "relationships": {"behind": [[1, 2], [2], []]},
    }
)
CUBE_BEHIND_THE_CYLINDER = chain(
    ("filter_shape", "cylinder"),
    ("unique",),
    ("relate", "behind"),
    ("filter_shape", "cube"),
    ("unique",),
    ("query_color",),
)


@pytest.mark.parametrize("cuts", ["any", "one"])
def test_the_effective_question_of_figure_10(cuts):
    assert values(CUBE_BEHIND_THE_CYLINDER, FIGURE_10)[-1] == "brown"
    smallest = effective(CUBE_BEHIND_THE_CYLINDER, FIGURE_10, "brown", cuts)
    assert smallest == chain(("filter_shape", "cube"), ("unique",), ("query_color",))


@pytest.mark.parametrize(
    ("cut", "left", "colors"),
    [
        ((2, 0), 6, {"brown"}),  # the cylinder becomes any thing: the cube and the cylinder are behind something
        ((3, 0), 5, {"brown"}),
        ((4, 0), 4, {"brown"}),  # "what color is the cube?", of which there are two
        ((5, 0), 3, {"brown", "gray"}),
    ],
)
def test_the_steps_to_it(cut, left, colors):
    program = pruned(CUBE_BEHIND_THE_CYLINDER, [cut])
    assert len(program) == left
    assert set_values(program, FIGURE_10)[-1] == colors


def test_two_cuts_may_give_less_than_any_one():
    """What color is the cube behind the small thing and behind the cylinder? The cube that is behind anything."""
    small = [Row("filter_size", ("small",), (0,)), Row("unique", (), (1,)), Row("relate", ("behind",), (2,))]
    cylinder = [Row("filter_shape", ("cylinder",), (4,)), Row("unique", (), (5,)), Row("relate", ("behind",), (6,))]
    end = [Row("intersect", (), (3, 7)), Row("filter_shape", ("cube",), (8,)), Row("unique", (), (9,))]
    program = [Row("scene"), *small, Row("scene"), *cylinder, *end, Row("query_color", (), (10,))]
    front, *others = FIGURE_10.objects
    scene = replace(FIGURE_10, objects=((front[0], "gray", *front[2:]), *others))
    assert values(program, scene)[-1] == "brown"
    assert len(effective(program, scene, "brown", "one")) == 9
    assert effective(program, scene, "brown") == [
        *(Row("scene"), Row("scene"), Row("relate", ("behind",), (1,)), Row("intersect", (), (0, 2))),
        *(Row("filter_shape", ("cube",), (3,)), Row("unique", (), (4,)), Row("query_color", (), (5,))),
    ]


def plain(program, number, cuts, objects, related):
    """What a row gives with sets of objects' numbers, and of values; and the rows and cuts that it needs."""
    row, needed, given_ = program[number], {number}, []
    for place, above in enumerate(row.dependencies):
        if (number, place) in cuts:
            given_.append(set(range(len(objects))))
            needed |= {(number, place)}
        else:
            value, more = plain(program, above, cuts, objects, related)
            given_.append(value)
            needed |= more
    word = row.arguments[0] if row.arguments else None
    verb, _, group = row.operation.partition("_")
    if verb == "scene":
        value = set(range(len(objects)))
    elif verb == "unique":
        value = given_[0]
    elif verb == "filter":
        value = {i for i in given_[0] if objects[i][group] == word}
    elif verb == "relate":
        value = {j for j in range(len(objects)) if any((i, word, j) in related for i in given_[0])}
    elif verb == "same":
        value = {j for i in given_[0] for j in range(len(objects)) if j != i and objects[i][group] == objects[j][group]}
    elif verb == "query":
        value = {objects[i][group] for i in given_[0]}
    elif verb in ("union", "intersect"):
        value = given_[0] | given_[1] if verb == "union" else given_[0] & given_[1]
    elif verb in ("count", "exist"):
        value = len(given_[0]) if verb == "count" else bool(given_[0])
    elif verb == "equal" and group != "integer":
        value = {one == other for one in given_[0] for other in given_[1]}
    else:
        one, other = given_
        value = {"equal": one == other, "less": one < other, "greater": one > other}[verb]
    return value, needed


def as_plain(found, program):
    """A value of the executor as those of :func:`plain`."""
    if LANGUAGE.operators[program[-1].operation].output in ("object", "objects"):
        return {i for i in range(found.bit_length()) if found >> i & 1}
    return set(found) if isinstance(found, frozenset) else found


@given(drawn_scenes(), drawn_programs(near=3))
def test_programs_run_with_sets_as_plain_loops_do(drawn, program):
    scene, objects, related = drawn
    expected, _ = plain(program, len(program) - 1, set(), objects, related)
    assert as_plain(set_values(program, scene)[-1], program) == expected


def edges_of(program):
    """What may be cut."""
    kinds = [LANGUAGE.operators[row.operation].inputs for row in program]
    return [
        (number, place)
        for number, row in enumerate(program)
        for place, above in enumerate(row.dependencies)
        if kinds[number][place][0] in ("object", "objects") and program[above].operation != "scene"
    ]


def smallest_sizes(program, objects, related):
    """The sizes of the smallest programs, by how many cuts may be made: every set of cuts is tried, those too of which
    some are of no use."""
    edges = edges_of(program)
    whole, _ = plain(program, len(program) - 1, set(), objects, related)
    sizes: dict[str, list[int]] = {"any": [], "one": []}
    for cuts in joined.from_iterable(combinations(edges, many) for many in range(len(edges) + 1)):
        value, needed = plain(program, len(program) - 1, set(cuts), objects, related)
        if value == whole:
            sizes["any"].append(len(needed))
            if len(cuts) <= 1:
                sizes["one"].append(len(needed))
    return {cuts: min(possible) for cuts, possible in sizes.items()}


@given(drawn_scenes(least=1), drawn_programs(10, near=2))
def test_no_cuts_give_a_smaller_program_with_the_answer(drawn, program):
    scene, objects, related = drawn
    assume(len(edges_of(program)) <= MOST_CUTS)
    answer = set_values(program, scene)[-1]
    if isinstance(answer, frozenset):
        assume(len(answer) == 1)
        (answer,) = answer
    for cuts, size in smallest_sizes(program, objects, related).items():
        smallest = effective(program, scene, answer, cuts)
        assert len(smallest) == size
        assert set_values(smallest, scene)[-1] in (answer, frozenset({answer}))


def test_no_cuts_do_so_in_the_original_codes_questions(oracle):
    """A short question of each family."""
    scenes, questions = oracle
    short = {}
    for question in questions:
        program = from_functions(question["program"])
        if len(edges_of(program)) <= MOST_CUTS:
            short.setdefault((question["template_filename"], question["question_family_index"]), (question, program))
    for question, program in short.values():
        scene = scenes[question["image_filename"]]
        objects = [dict(zip(GROUPS, attributes, strict=True)) for attributes in scene.objects]
        pairs = [(i, j) for i in range(len(objects)) for j in range(len(objects))]
        related = {(i, name, j) for name, masks in scene.relations.items() for i, j in pairs if masks[i] >> j & 1}
        for cuts, size in smallest_sizes(program, objects, related).items():
            assert len(effective(program, scene, question["answer"], cuts)) == size
    assert len(short) > 40


@given(drawn_programs(near=2))
def test_cuts_are_told_with_the_size_of_what_they_leave(program):
    found = list(all_cuts(program))
    assert len({frozenset(cuts) for _, cuts in found}) == len(found)
    for size, cuts in found[:50]:
        assert len(pruned(program, cuts)) == size


def test_the_sizes_of_the_oracles_queries(oracle):
    """Of 680 without a same-attribute relation: mean effective size 7.24 by one cut, 6.98 by any, 90 differ."""
    scenes, questions = oracle
    sizes: dict[bool, list[tuple[int, int, int]]] = {True: [], False: []}
    for question in questions:
        program, scene = from_functions(question["program"]), scenes[question["image_filename"]]
        if program[-1].operation.startswith("query_"):
            found = [len(effective(program, scene, question["answer"], cuts)) for cuts in ("one", "any")]
            same = any(row.operation.startswith("same_") for row in program)
            sizes[same].append((len(program), *found))
    plain_ones, same_ones = sizes[False], sizes[True]
    assert (len(plain_ones), max(size for size, *_ in plain_ones)) == (680, 21)
    assert max(size for size, *_ in same_ones) == 10
    assert mean(one for _, one, _ in plain_ones) == pytest.approx(7.24, abs=0.005)
    assert mean(any_ for *_, any_ in plain_ones) == pytest.approx(6.98, abs=0.005)
    assert sum(one != any_ for _, one, any_ in plain_ones) == 90
    assert all(one == any_ for _, one, any_ in same_ones)
