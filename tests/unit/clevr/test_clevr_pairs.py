"""Questions without a pair of attribute values, and questions with one in a description."""

from collections import Counter
from itertools import product

import pytest

from compvqa.clevr import analysis, executor
from compvqa.clevr.generate import GenerateSettings, of_block, plans_of
from compvqa.clevr.language import GROUPS
from compvqa.clevr.lint import sampled
from compvqa.clevr.options import SceneOptions
from compvqa.clevr.pairs import PairRules
from compvqa.clevr.templates import Node
from compvqa.clevr.words import cut
from compvqa.errors import InputError
from compvqa.programs.rows import from_json
from compvqa.scenes.pairs import occurs

PAIRS = [("cyan", "cylinder"), ("large", "rubber"), ("metal", "red")]
SLOTS = ("<Z>", "<C>", "<M>", "<S>")


@pytest.fixture(scope="module")
def scenes(words):
    return sampled(words, 60, 3)


def asked(scenes, templates, words, **changes):
    """The questions of some scenes, each with its program and its scene; and what was dropped."""
    settings, dropped = GenerateSettings(**{"per_scene": 9} | changes), Counter()
    words = cut(words, settings.values)
    rows = of_block(scenes, plans_of(templates, settings), words, settings, 1, dropped)
    by_id = {scene.scene_id: scene for scene in scenes}
    return [(row, from_json(row["program"]), by_id[row["scene_ids"][0]]) for row in rows], dropped


@pytest.mark.parametrize("pair", PAIRS)
def test_no_description_has_a_forbidden_pair_whether_its_scene_has_it_or_not(pair, scenes, templates, words):
    questions, _ = asked(scenes, templates, words, forbidden=[pair])
    assert any(occurs(pair, scene.objects) for *_, scene in questions)
    assert not any(analysis.occurs(pair, program) for _, program, _ in questions)
    free, _ = asked(scenes, templates, words)
    assert any(analysis.occurs(pair, program) for _, program, _ in free)
    assert len(questions) == len(free) == 9 * len(scenes)


def test_strict_leaves_out_what_an_outer_filter_over_a_union_joins(scenes, templates, words):
    unions, pair = [template for template in templates if template.file == "single_or"], ("small", "rubber")
    many = {"per_scene": 8, "forbidden": [pair]}
    released, _ = asked(scenes, unions, words, **many)
    strict, _ = asked(scenes, unions, words, **many, occurrence="strict")
    assert not any(analysis.occurs(pair, program) for _, program, _ in released)
    assert any(analysis.occurs(pair, program, "strict") for _, program, _ in released)
    assert len(strict) > 0.9 * len(released)
    assert not any(analysis.occurs(pair, program, "strict") for _, program, _ in strict)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_required_pair_is_in_every_question_whose_scene_has_it(pair, scenes, templates, words):
    questions, _ = asked(scenes, templates, words, per_scene=2, required=[pair])
    with_it = [scene for scene in scenes if occurs(pair, scene.objects)]
    assert len(questions) == 2 * len(with_it) and 0 < len(with_it) < len(scenes)
    for row, program, scene in questions:
        assert analysis.occurs(pair, program) and executor.answer(program, scene) == row["answer"]
        assert "<" not in row["text"]


def test_a_required_pair_is_one_that_the_scene_has_and_none_that_is_forbidden(scenes, templates, words):
    forbidden, seen = ("cyan", "cylinder"), [(c, s) for c, s in product(words.values["color"], words.values["shape"])]
    seen.remove(forbidden)
    without = [scene for scene in scenes if not occurs(forbidden, scene.objects)]
    questions, _ = asked(without, templates, words, per_scene=1, required=seen, forbidden=[forbidden])
    assert len(questions) == len(without)
    told = Counter()
    for _, program, scene in questions:
        assert not analysis.occurs(forbidden, program)
        there = [pair for pair in seen if occurs(pair, scene.objects) and analysis.occurs(pair, program)]
        assert there
        told.update(there)
    assert len(told) > 12


def test_a_required_pair_does_not_change_the_listing_of_a_program(scenes, templates, words):
    """Each question's program is that of its template with all filters of a description in order."""
    pair = ("cyan", "cylinder")
    by_name = {template.name: template for template in templates}
    questions, _ = asked(scenes, templates, words, per_scene=40, required=[pair])
    late = 0
    for row, program, _ in questions:
        template = by_name[row["template"]]
        bare = [op.operation for op in program if not op.operation.startswith("filter_")]
        full = template.program([tuple("x" for _ in node.slots) for node in template.nodes])
        assert bare == [op.operation for op in full if not op.operation.startswith("filter_")]
        halves = [op for op in program if op.operation == "filter_color" and op.arguments == ("cyan",)]
        late += halves[-1:] != [] and program.index(halves[-1]) > len(program) / 2
    assert late > 20  # the pair is also in descriptions that are listed last


def test_the_order_of_choosing_is_by_what_the_description_needs(templates, words):
    """The description with the pair is chosen before all nodes that it does not take."""
    rules = PairRules(words)
    for template in templates:
        for plan in rules.plans(template, ("red", "cube")):
            (at,) = [number for number, step in enumerate(plan.steps) if step.having]
            above = {at}
            for number in range(at, -1, -1):
                above.update(plan.template.nodes[number].inputs if number in above else ())
            assert above == set(range(at + 1))
            assert plan.listed([()] * len(template.nodes))[0] == template


def test_options_with_words_are_those_descriptions_and_as_many_drawn_ones_that_have_them(scenes, words):
    node, free, having = Node("filter_exist", (0,), SLOTS), (False,) * 4, (None, "cyan", None, "cylinder")
    for scene in scenes[:20]:
        found = SceneOptions(scene, words, 1).of(node, scene.everything, free, having)
        real = {
            tuple(value if kept else None for value, kept in zip(item, mask, strict=True))
            for item in scene.objects
            for mask in product((True, False), (True,), (True, False), (True,))
            if item[1] == "cyan" and item[3] == "cylinder"
        }
        assert len(found.filled) == 2 * len(real) and real <= set(found.filled)
        for mask, choice in zip(found.masks, found.filled, strict=True):
            assert choice[1] == "cyan" and choice[3] == "cylinder" and mask == scene.fitting(choice)


def test_drawn_descriptions_are_all_but_the_forbidden_ones(scenes, words):
    node, free, pair = Node("filter_exist", (0,), SLOTS), (False,) * 4, ("large", "rubber")
    found = Counter()
    for scene in scenes:
        for seed in range(30):
            found.update(SceneOptions(scene, words, seed, [pair]).of(node, scene.everything, free).filled)
    whole = set(product(*((*words.values[group], None) for group in GROUPS)))
    assert set(found) == {words for words in whole if not {*pair} <= {*words}}


def test_words_outside_a_cut_vocabulary_appear_nowhere(templates, words):
    values = {"color": ("cyan", "red"), "shape": ("cylinder", "cube")}
    small = cut(words, values)
    scenes = sampled(small, 40, 5)
    questions, _ = asked(scenes, templates, words, values=values)
    others = {*words.values["color"], *words.values["shape"]} - {"cyan", "red", "cylinder", "cube"}
    for row, program, _ in questions:
        assert not others & {word for op in program for word in op.arguments} and row["answer"] not in others
    assert {row["answer"] for row, *_ in questions} >= {"cyan", "red", "cylinder", "cube", "metal"}
    with pytest.raises(InputError, match="color"):
        cut(words, {"color": ("pink",)})


def test_the_original_order_of_draws_knows_no_pairs():
    with pytest.raises(ValueError, match="take the mode keyed"):
        GenerateSettings(mode="compat", forbidden=[("red", "cube")])
