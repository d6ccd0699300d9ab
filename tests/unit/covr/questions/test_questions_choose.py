"""Which images are chosen, and how evenly distractors are dealt."""

import random
from collections import Counter
from itertools import combinations
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.questions.kinds.comparing import HOLDS, _decided
from compvqa.covr.questions.seed import MOST_IMAGES, choose, fits

POSITIVES = st.integers(0, 8).map(lambda n: [f"p{i}" for i in range(n)])
NEGATIVES = st.dictionaries(
    st.sampled_from(["0_name", "0_attr", "1_relation", "2_name"]),
    st.lists(st.integers(0, 9).map(lambda i: f"n{i}"), max_size=6, unique=True),
)
SEEDS = st.integers(0, 1000).map(random.Random)


@given(SEEDS, POSITIVES, NEGATIVES, st.integers(0, 5), st.integers(0, 5))
def test_sets_are_distinct_within_bounds_and_start_with_the_first_positive(rng, positives, negatives, a, b):
    fewest, most = sorted((a, b))
    chosen = choose(rng, positives, negatives, fewest, most)
    assert len(set(chosen)) == len(chosen) <= MOST_IMAGES
    there = [scene_id for scene_id in chosen if scene_id.startswith("p")]
    assert min(fewest, len(positives)) <= len(there) <= most
    assert not there or positives[0] in there
    distractors = {scene_id for found in negatives.values() for scene_id in found}
    assert len(chosen) == min(MOST_IMAGES, len(there) + len(distractors))


@given(SEEDS, NEGATIVES)
def test_keys_are_dealt_evenly(rng, negatives):
    disjoint = {key: [f"{key} {scene_id}" for scene_id in found] for key, found in negatives.items()}
    dealt = Counter(scene_id.split(" ")[0] for scene_id in choose(rng, [], disjoint))
    full = [key for key, found in disjoint.items() if len(found) >= 3]
    if len(full) > 1:
        assert max(dealt[key] for key in full) - min(dealt[key] for key in full) <= 1


@given(SEEDS, POSITIVES)
def test_preferred_keys_come_first_and_always_find_a_place(rng, positives):
    negatives = {"0_name": ["a1", "a2"], "0_attr": ["b1"], "0_neg_attr_root": ["c1"]}
    chosen = choose(rng, positives, negatives, fewest=1, prefer=("*_neg_attr_root",))
    assert "c1" in chosen


def test_the_number_of_positives_and_the_order_vary():
    sets = [choose(random.Random(i), list("pqrs"), {"k": list("abcde")}) for i in range(60)]
    assert {len(set(chosen) & set("pqrs")) for chosen in sets} == {1, 2, 3, 4}
    assert len({chosen.index("p") for chosen in sets}) == MOST_IMAGES


def test_patterns_of_keys():
    assert fits("0_neg_attr_root", ("*_neg_attr_root",)) and fits("0_attr", ("0_attr",))
    assert not fits("0_attr", ("*_name",)) and not fits("0_attr", ())


counts = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=5)


@given(counts, st.lists(st.integers(1, 3), min_size=1, max_size=4), st.sampled_from(sorted(HOLDS)), st.booleans())
def test_a_comparison_is_decided_only_if_all_sets_of_images_give_one_answer(positives, seconds, compare, images):
    """Each set: the first positive, others, and at least one scene with g2, five in all at most."""
    names, others = [f"p{n}" for n in range(len(positives))], [f"s{n}" for n in range(len(seconds))]
    first = dict(zip(names, [g for g, _ in positives], strict=True)) | dict.fromkeys(others, 0)
    second = dict(zip(names, [g2 for _, g2 in positives], strict=True)) | dict(zip(others, seconds, strict=True))
    answers = set()
    for size in range(5):
        for rest in combinations([*names[1:], *others], size):
            if set(rest) & set(others):
                told = [[min(of[s], 1) if images else of[s] for s in (names[0], *rest)] for of in (first, second)]
                answers.add(HOLDS[compare](*map(sum, told)))
    variant = SimpleNamespace(options={"images": images})
    if _decided(variant, compare, [first, second], names, others):
        assert len(answers) == 1
