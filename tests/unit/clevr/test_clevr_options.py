"""What a node's slots can be filled with: the original's options, by plain loops over the objects."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.clevr.language import GROUPS
from compvqa.clevr.options import SceneOptions
from compvqa.clevr.scene import Scene
from compvqa.clevr.templates import Node
from compvqa.clevr.words import Words
from compvqa.errors import InputError
from fixtures.clevr_scenes import OPPOSITE, WORDS, drawn_scenes

VOCABULARY = Words({group: tuple(words) for group, words in WORDS.items()} | {"relation": tuple(OPPOSITE)}, {})
DESCRIPTION = ("<Z>", "<C>", "<M>", "<S>")
FREE = (False,) * 4


def fits(description, item):
    return all(word in (None, item[group]) for group, word in zip(GROUPS, description, strict=True))


def fitting(objects):
    """By each description of an object, the numbers of those it fits."""
    found = {}
    for item, mask in product(objects, product((True, False), repeat=4)):
        key = tuple(item[group] if chosen else None for group, chosen in zip(GROUPS, mask, strict=True))
        found[key] = {i for i, other in enumerate(objects) if fits(key, other)}
    return found


def numbers(mask):
    return {i for i in range(mask.bit_length()) if mask >> i & 1}


def options(scene, kind, given_):
    slots = ("<R>", *DESCRIPTION) if kind.startswith("relate") else DESCRIPTION
    return SceneOptions(scene, VOCABULARY, 0).of(Node(kind, (0,), slots), given_, (False,) * len(slots))


def listed(found):
    return Counter({(frozenset(numbers(m)), c): n for m, cs in found.choices.items() for c, n in Counter(cs).items()})


@given(drawn_scenes(), st.integers(0, 127))
def test_descriptions_are_those_of_objects_and_as_many_random_ones_as_the_kind_has(drawn, mask):
    scene, objects, _ = drawn
    given_ = mask & scene.everything
    here = numbers(given_)
    plain = Counter({(frozenset(where & here), key): 1 for key, where in fitting(objects).items()})
    single = Counter({key: 1 for key in plain if len(key[0]) == 1})
    assert listed(options(scene, "filter_unique", given_)) == single
    for kind, certain, more in (
        ("filter_exist", plain, len(plain)),
        ("filter_count", plain, len(single)),
        ("filter", Counter(key for key in plain if any(key[1])), sum(any(key[1]) for key in single)),
    ):
        found = listed(options(scene, kind, given_))
        extra = found - certain
        assert not certain - found
        assert extra.total() == more
        for where, description in extra:
            assert where == {i for i in here if fits(description, objects[i])}


@given(drawn_scenes(least=1), st.data())
def test_relations_that_say_nothing_are_a_tenth_at_most(drawn, data):
    scene, objects, related = drawn
    start = data.draw(st.integers(0, len(objects) - 1))
    for kind, wanted in (
        ("relate_filter", lambda where: where),
        ("relate_filter_unique", lambda where: len(where) == 1),
        ("relate_filter_count", lambda _: True),
        ("relate_filter_exist", lambda _: True),
    ):
        telling, trivial = set(), set()
        for name, (key, where) in product(OPPOSITE, fitting(objects).items()):
            both = frozenset(j for j in where if (start, name, j) in related)
            if wanted(both):
                (trivial if both == where else telling).add((both, (name, *key)))
        found = listed(options(scene, kind, start))
        assert set(found.values()) <= {1}
        assert telling <= found.keys() <= telling | trivial
        assert len(found) == len(telling) + min(round(len(telling) / 9), len(trivial))


@pytest.mark.parametrize("kind", ["filter_exist", "relate_filter_count"])
@given(drawn=drawn_scenes(least=2), seed=st.integers(0, 9))
def test_options_are_the_same_whatever_was_asked_before_and_empty_slots_only_take_away(kind, drawn, seed):
    scene, _, _ = drawn
    slots = ("<R>", *DESCRIPTION) if kind.startswith("relate") else DESCRIPTION
    node, free = Node(kind, (0,), slots), (False,) * len(slots)
    fresh = SceneOptions(scene, VOCABULARY, seed).of(node, 1, free)
    asked = SceneOptions(scene, VOCABULARY, seed)
    asked.of(Node("filter_count", (0,), DESCRIPTION), 1, FREE)
    without = asked.of(node, 1, (*free[:-1], True))
    assert asked.of(node, 1, free) == fresh
    assert listed(without) == Counter({key: n for key, n in listed(fresh).items() if key[1][-1] is None})


@pytest.mark.parametrize(
    ("attributes", "relations", "words"),
    [
        (("small", "pink", "metal", "cube"), OPPOSITE, "has an object of the color 'pink', which is none of the words"),
        (("small", "red", "metal", "cube"), ["left", "right", "front"], "has no direction 'behind', which is among"),
    ],
)
def test_words_that_scenes_and_questions_do_not_share_are_told(attributes, relations, words):
    scene = Scene("clevr:a", "train", (attributes,), {name: (0,) for name in relations})
    with pytest.raises(InputError, match=f"The scene clevr:a {words}"):
        SceneOptions(scene, VOCABULARY, 0)


@given(drawn_scenes(least=1))
def test_a_bare_filter_takes_every_value_and_a_bare_relation_every_relation(drawn):
    scene, objects, related = drawn
    of = SceneOptions(scene, VOCABULARY, 0).of
    found = of(Node("filter_color", (0,), ("<C>",)), scene.everything, (False,))
    expected = {word: {i for i, item in enumerate(objects) if item["color"] == word} for word in WORDS["color"]}
    assert {c[0]: numbers(m) for m, cs in found.choices.items() for c in cs} == expected
    found = of(Node("relate", (0,), ("<R>",)), 0, (False,))
    expected = {name: {j for j in range(len(objects)) if (0, name, j) in related} for name in OPPOSITE}
    assert {c[0]: numbers(m) for m, cs in found.choices.items() for c in cs} == expected
