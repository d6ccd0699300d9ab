"""The search for a question: what it finds is well-posed, what it misses is not there, and no option is preferred."""

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from compvqa.clevr.analysis import is_degenerate
from compvqa.clevr.language import GROUPS
from compvqa.clevr.options import SceneOptions
from compvqa.clevr.scene import Scene
from compvqa.clevr.search import Plan, Search
from compvqa.clevr.templates import Node, Template, read_templates
from compvqa.clevr.words import Words
from compvqa.programs.rows import Row
from fixtures.clevr_scenes import OPPOSITE, WORDS, drawn_scenes, naive

VOCABULARY = Words({group: tuple(words) for group, words in WORDS.items()} | {"relation": tuple(OPPOSITE)}, {})
ANY = [True, False, *range(11), *(word for words in WORDS.values() for word in words)]


@pytest.fixture(scope="module")
def templates(root):
    return {template.name: template for template in read_templates(root / "config/templates/clevr")}


def searched(template, scene, seed=0, accepted=ANY, sets=True):
    search = Search(Plan.of(template, sets), SceneOptions(scene, VOCABULARY, seed), accepted, Random(seed))
    return search.run(), search


@pytest.mark.parametrize("kind", ["", "single_and", "compar"])
@given(drawn_scenes(least=3), st.integers(0, 89), st.integers(0, 99))
def test_what_is_found_is_well_posed_and_keeps_to_its_constraints(templates, kind, drawn, number, seed):
    scene, objects, related = drawn
    of_kind = [name for name in sorted(templates) if name.startswith(kind)]
    template = templates[of_kind[number % len(of_kind)]]
    found, _ = searched(template, scene, seed)
    assume(found is not None)
    program, answer, filled = found
    assert filled.keys() == template.slots.keys()
    assert all(filled[slot] is None for slot in template.empty)
    values = naive(program, objects, related)
    assert (values[-1], type(values[-1])) == (answer, type(answer))
    relates = [number for number, row in enumerate(program) if row.operation == "relate"]
    counted = [number for number, row in enumerate(program) if row.operation == "count"]
    if template.name.startswith("comparison"):
        assert len({values[number] for number in last_objects(program)}) == 2
    if template.name in ("compare_integer_0", "compare_integer_1", "compare_integer_2"):
        assert len({tuple(values[program[number].dependencies[0]]) for number in counted}) == 2
    if template.name.startswith("single_and"):
        for end in relates:
            without = [*program[:end], Row("scene"), *program[end + 1 :]]
            assert naive(without, objects, related)[-1] != answer


def last_objects(program):
    """The rows of the two objects that a comparison asks about."""
    return [row.dependencies[0] for row in program if row.operation.startswith("query_")]


def descriptions(objects, empty):
    """All descriptions that fit an object, with some groups left empty."""
    kept = {
        tuple(item[group] if chosen else None for group, chosen in zip(GROUPS, mask, strict=True))
        for item in objects
        for mask in product((True, False), repeat=4)
    }
    return [d for d in sorted(kept, key=str) if not any(word and void for word, void in zip(d, empty, strict=True))]


def all_questions(template, objects, related):
    """Every question of a template of ``filter_unique``, ``relate`` and functions without slots, by trying all."""
    spaces = [
        descriptions(objects, [slot in template.empty for slot in node.slots])
        if node.composite
        else [(name,) for name in OPPOSITE]
        if node.slots
        else [()]
        for node in template.nodes
    ]
    for choices in product(*spaces):
        program = template.program(choices)
        values = naive(program, objects, related)
        if values[-1] == "ill-posed" or any(same(template, choices, pair, values) for pair in template.different):
            continue
        relates = [number for number, row in enumerate(program) if row.operation == "relate"]
        without = ([*program[:number], Row("scene"), *program[number + 1 :]] for number in relates)
        if all(naive(other, objects, related)[-1] != values[-1] for other in without):
            yield choices, values[-1]


def same(template, choices, pair, values):
    """Whether two nodes give the same: their last rows are the sums of what the nodes before them take."""
    length = [
        1 if not node.composite else sum(word is not None for word in choice) + 1
        for node, choice in zip(template.nodes, choices, strict=True)
    ]
    one, other = (sum(length[: number + 1]) - 1 for number in pair)
    return values[one] == values[other]


@pytest.mark.parametrize("name", ["zero_hop_2", "comparison_0", "same_relate_16", "same_relate_0"])
@given(drawn=drawn_scenes(), seed=st.integers(0, 9), yes=st.sampled_from([ANY, [True], ["cube", "red"]]))
def test_a_question_is_found_where_trying_all_finds_one(templates, name, drawn, seed, yes):
    scene, objects, related = drawn
    assume(len(objects) <= 3)
    expected = [choices for choices, answer in all_questions(templates[name], objects, related) if answer in yes]
    found, search = searched(templates[name], scene, seed, yes)
    assert bool(found) == bool(expected)
    if found:
        assert tuple(search.choices) in expected


def scene_of_words(*objects, left=()):
    """A scene of objects such as "small red metal cube"; pairs (i, j) in ``left``: j is left of i."""
    masks = [sum(1 << j for i, j in left if i == number) for number in range(len(objects))]
    back = [sum(1 << i for i, j in left if j == number) for number in range(len(objects))]
    nothing = (0,) * len(objects)
    relations = {"left": tuple(masks), "right": tuple(back), "front": nothing, "behind": nothing}
    return Scene("s", "train", tuple(tuple(item.split()) for item in objects), relations)


THREE = scene_of_words(
    "small red metal cube", "small blue rubber cube", "large red rubber sphere", left=[(0, 1), (2, 1)]
)


def as_tables(scene):
    return [dict(zip(GROUPS, item, strict=True)) for item in scene.objects]


def test_each_description_is_as_frequent(templates):
    template = templates["zero_hop_2"]
    expected = [choices for choices, _ in all_questions(template, as_tables(THREE), set())]
    found = Counter(tuple(searched(template, THREE, seed)[1].choices) for seed in range(3000))
    assert found.keys() == set(expected)
    assert chisquare(list(found.values())).pvalue > 0.001


def test_at_each_node_the_options_that_lead_to_a_question_are_as_frequent(templates):
    template = templates["comparison_0"]
    expected = [choices for choices, answer in all_questions(template, as_tables(THREE), set()) if answer is True]
    firsts = {choices[1] for choices in expected}
    shares = {choices: 1 / len(firsts) / sum(other[1] == choices[1] for other in expected) for choices in expected}
    found = Counter(tuple(searched(template, THREE, seed, [True])[1].choices) for seed in range(4000))
    assert found.keys() == shares.keys()
    assert chisquare([found[c] for c in shares], [4000 * share for share in shares.values()]).pvalue > 0.001


def test_two_counts_must_differ_as_sets_or_as_in_the_original_as_numbers(templates):
    template = templates["compare_integer_0"]
    assert searched(template, THREE, accepted=[True])[0] is not None
    assert searched(template, THREE, accepted=[True], sets=False)[0] is None
    assert searched(template, THREE, accepted=[False], sets=False)[0] is not None


def test_why_nothing_is_found_is_told(templates):
    _, search = searched(templates["zero_hop_4"], THREE, accepted=["gray"])
    assert (search.frequent, search.degenerate) == (True, False)
    alone = scene_of_words("small red metal cube", "large red metal cube")
    _, search = searched(templates["single_and_4"], alone)
    assert (search.frequent, search.degenerate) == (False, False)


def test_a_question_is_degenerate_where_a_relation_says_nothing():
    def asked(shape):
        return [
            Row("scene"),
            Row("filter_material", ("metal",), (0,)),
            Row("unique", (), (1,)),
            Row("relate", ("left",), (2,)),
            Row("filter_shape", (shape,), (3,)),
            Row("count", (), (4,)),
        ]

    assert not is_degenerate(asked("cube"), THREE, 1)  # two cubes in all
    assert is_degenerate(asked("cylinder"), THREE, 0)


CHAIN = Template(
    "relate_twice",
    ("How many?",),
    (
        Node("scene", ()),
        Node("filter_unique", (0,), ("<Z>", "<C>", "<M>", "<S>")),
        Node("relate_filter_unique", (1,), ("<R>", "<Z2>", "<C2>", "<M2>", "<S2>")),
        Node("relate", (2,), ("<R2>",)),
        Node("count", (3,)),
    ),
    {},
)


@given(drawn_scenes(least=3), st.integers(0, 99))
def test_no_relation_says_nothing_where_a_bare_one_comes_after_others(drawn, seed):
    scene, objects, related = drawn
    found, _ = searched(CHAIN, scene, seed)
    assume(found is not None)
    program, answer, _ = found
    assert naive(program, objects, related)[-1] == answer
    for number in (number for number, row in enumerate(program) if row.operation == "relate"):
        without = [*program[:number], Row("scene"), *program[number + 1 :]]
        assert naive(without, objects, related)[-1] != answer
