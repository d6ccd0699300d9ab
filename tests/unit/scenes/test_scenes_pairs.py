"""Held-out pairs: the 29 of CLEVR-HOPE, their diversity, and smaller vocabularies around them."""

from collections import Counter
from itertools import combinations as every_two
from itertools import product
from math import log2

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.scenes.pairs import Among, around, combinations, diversity, informs, occurs, types_of, unseen, within
from compvqa.splits.splitters import read_definition

WORDS = {
    "size": ("small", "large"),
    "color": ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"),
    "material": ("rubber", "metal"),
    "shape": ("cube", "sphere", "cylinder"),
}
TWO = st.sampled_from([p for a, b in every_two(WORDS.values(), 2) for p in product(a, b)]).flatmap(st.permutations)


@pytest.fixture(scope="module")
def pairs(root):
    """The pairs of the files that ship, in the order of their names."""
    files = sorted((root / "config/splits/clevr").glob("hope-[0-9][0-9]-*.yaml"))
    found = [read_definition(yaml.safe_load(file.read_text())) for file in files]
    return [item for item in found if item.setup == "clevr.held-out-pair"]


def test_the_29_pairs_are_three_lines_each_and_of_the_papers_diversities(root, pairs):
    # Table 1: 4 of size and material; 5 of size and shape, 5 of material and shape; five of each type with color
    assert len({frozenset(item.pair) for item in pairs}) == len(pairs) == 29
    assert Counter(diversity(item.pair, WORDS) for item in pairs) == {4: 4, 6: 10, 16: 10, 24: 5}
    assert Counter(frozenset(types_of(item.pair, WORDS)) for item in pairs)[frozenset({"color", "shape"})] == 5
    for item in pairs:
        lines = (root / f"config/splits/clevr/{item.name}.yaml").read_text().splitlines()
        assert len(lines) == 3 and item.chain == f"pairs/{item.name}" and item.name.endswith("-".join(item.pair))


@given(TWO)
def test_diversity_is_the_product_of_the_types_numbers_and_all_combinations_are_there(pair):
    one, other = types_of(tuple(pair), WORDS)
    assert diversity(tuple(pair), WORDS) == len(WORDS[one]) * len(WORDS[other])
    assert tuple(pair) in combinations(tuple(pair), WORDS) and not unseen(tuple(pair), WORDS)
    assert within(tuple(pair), WORDS) == WORDS


@given(TWO, st.integers(2, 8), st.integers(2, 8), st.integers(4, 24))
def test_without_a_vocabulary_a_pairs_combinations_are_those_that_are_seen_around_it(pair, first, second, subset):
    pair = tuple(pair)
    kinds = types_of(pair, WORDS)
    grid = {kind: min(many, len(WORDS[kind])) for kind, many in zip(kinds, (first, second), strict=True)}
    for among in (None, Among(grid=grid)):
        there = set(combinations(pair, WORDS, among))
        assert set(around(pair, there - {pair})) == there
    there = set(combinations(pair, WORDS, Among(subset=min(subset, diversity(pair, WORDS)))))
    assert pair in around(pair, there - {pair}) and set(around(pair, there - {pair})) <= there
    assert around(pair, []) == (pair,)


@given(st.integers(1, 50), st.sampled_from(WORDS["color"]), st.sampled_from(WORDS["shape"]))
def test_grids_of_a_draw_lie_in_each_other_and_hold_the_pair(draw, color, shape):
    pair, before = (color, shape), {(color, shape)}
    for colors, shapes in ((2, 2), (4, 2), (8, 2), (8, 3)):
        among = Among(grid={"color": colors, "shape": shapes}, draw=draw)
        found = set(combinations(pair, WORDS, among))
        assert before < found and len(found) == colors * shapes and not unseen(pair, WORDS, among)
        cut = within(pair, WORDS, among)
        assert found == set(product(cut["color"], cut["shape"])) and cut["size"] == WORDS["size"]
        before = found
    assert found == set(product(WORDS["color"], WORDS["shape"]))


@given(st.integers(1, 50))
def test_subsets_lie_in_each_other_and_have_each_value_of_the_pair_twice(draw):
    pair, before = ("cyan", "cylinder"), set()
    for many in (4, 8, 16, 24):
        among = Among(subset=many, draw=draw)
        found = set(combinations(pair, WORDS, among))
        assert before < found and len(found) == many and pair in found
        assert all(sum(item[place] == pair[place] for item in found) >= 2 for place in (0, 1))
        cut = within(pair, WORDS, among)
        assert found | set(unseen(pair, WORDS, among)) == set(product(cut["color"], cut["shape"]))
        before = found


def test_draws_differ():
    found = {combinations(("cyan", "cylinder"), WORDS, Among(subset=4, draw=draw)) for draw in range(1, 9)}
    assert len(found) > 4


@pytest.mark.parametrize(
    ("pair", "among", "message"),
    [
        (("cyan", "pyramid"), None, "'pyramid', which is no value of the vocabulary"),
        (("cyan", "red"), None, "two values of one type, color"),
        (("cyan", "cube"), Among(grid={"color": 9, "shape": 2}), "has 9 values of color: give 2 to 8"),
        (("cyan", "cube"), Among(grid={"color": 4}), "tell of color and shape"),
        (("cyan", "cube"), Among(subset=3), "3 combinations: give 4 to 24"),
    ],
)
def test_what_cannot_be_is_told(pair, among, message):
    with pytest.raises(InputError, match=message):
        combinations(pair, WORDS, among)


@given(st.lists(st.tuples(*map(st.sampled_from, WORDS.values())), max_size=5), TWO)
def test_a_pair_occurs_where_one_object_has_both_values(objects, pair):
    both = [item for item in objects if item.count(pair[0]) + item.count(pair[1]) == 2]
    assert occurs(pair, objects) == (both != [])


def entropy(values) -> float:
    """Of how often each value is there, in bits."""
    counts = Counter(values)
    return -sum(n / counts.total() * log2(n / counts.total()) for n in counts.values())


@given(TWO, st.data())
def test_what_one_value_tells_of_the_other_is_their_mutual_information(pair, data):
    pair, kinds = tuple(pair), types_of(tuple(pair), WORDS)
    grid = {kind: data.draw(st.integers(2, len(WORDS[kind]))) for kind in kinds}
    for among in (None, Among(grid=grid, draw=data.draw(st.integers(1, 5)))):
        seen = [item for item in combinations(pair, WORDS, among) if item != pair]
        expected = entropy(x for x, _ in seen) + entropy(y for _, y in seen) - entropy(seen)
        assert informs(pair, WORDS, among) == pytest.approx(expected, abs=1e-9)


def test_it_falls_with_diversity_but_not_with_it_alone():
    told = {diversity(pair, WORDS): informs(pair, WORDS) for pair in (("large", "rubber"), ("large", "cube"))}
    told |= {diversity(pair, WORDS): informs(pair, WORDS) for pair in (("large", "red"), ("red", "cube"))}
    assert {many: round(bits, 2) for many, bits in told.items()} == {4: 0.25, 6: 0.17, 16: 0.06, 24: 0.05}
    grids = [Among(grid={"color": many, "shape": 2}) for many in (4, 8)]
    assert [round(informs(("red", "cube"), WORDS, among), 2) for among in grids] == [0.13, 0.06]
