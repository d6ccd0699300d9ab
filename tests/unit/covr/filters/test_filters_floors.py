"""Floors of the filters: intervals that hold the truth, and a constant or random filter below the floor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from compvqa.covr.filters.floors import Measured, area, balanced, share, share_of

PAIRS = st.lists(st.tuples(st.sampled_from((0.1, 0.2, 0.3)), st.booleans()), min_size=1, max_size=20)


@given(PAIRS)
def test_the_area_is_how_often_a_true_pair_is_above_another(pairs):
    scores, truth = (np.array(column) for column in zip(*pairs, strict=True))
    found = area(scores, truth)
    wins = [(a > b) + (a == b) / 2 for a in scores[truth] for b in scores[~truth]]
    if not wins:
        assert found == Measured(None)
    else:
        assert found.value == pytest.approx(np.mean(wins))
        assert 0 <= found.low <= found.value + 1e-9 and found.value - 1e-9 <= found.high <= 1
        mirrored = area(-scores, truth)
        assert (1 - mirrored.high, 1 - mirrored.low) == (pytest.approx(found.low), pytest.approx(found.high))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_balanced_accuracy_is_the_mean_over_both_classes(pairs):
    said, truth = (np.array(column) for column in zip(*pairs, strict=True))
    found = balanced(said, truth)
    if truth.all() or not truth.any():
        assert found == Measured(None)
    else:
        assert found.value == pytest.approx((said[truth].mean() + (~said)[~truth].mean()) / 2)
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize("measure", [balanced, area])
def test_the_intervals_hold_the_truth_about_as_often_as_they_say(measure):
    """200 draws of 60 pairs, of filters whose true measure is 0.7 in both ways."""
    random = np.random.default_rng(1)
    truth, held = np.arange(60) < 20, 0
    for _ in range(200):
        if measure is balanced:
            found = balanced((random.random(60) < 0.7) == truth, truth)
        else:  # normal scores that lie so far apart
            found = area(random.normal(size=60) + 0.7416 * truth, truth)
        held += found.low <= 0.7 <= found.high
    assert 180 <= held <= 200


@pytest.mark.parametrize("pairs", [[5] * 60, [1, 1, 1, 1, 11] * 12])
def test_pairs_of_one_image_are_right_or_wrong_together_in_the_interval_of_an_area(pairs):
    """200 draws of 60 images, of each of which all pairs say the same, by a filter whose true area is 0.7."""
    random = np.random.default_rng(1)
    truth, images = np.repeat(np.arange(60) < 20, pairs), np.repeat([f"s:{n}" for n in range(60)], pairs)
    held = {True: 0, False: 0}
    for _ in range(200):
        scores = np.repeat(random.normal(size=60), pairs) + 0.7416 * truth
        for told in held:
            found = area(scores, truth, images=images if told else None)
            held[told] += found.low <= 0.7 <= found.high
    assert 180 <= held[True] <= 200 and held[False] < 160
    apart = [f"s:{n}" for n in range(len(truth))]
    assert area(scores, truth, images=apart) == area(scores, truth)


@given(st.lists(st.booleans(), min_size=2, max_size=60), st.integers(1, 5))
def test_a_share_of_alike_ones_has_the_interval_of_one_a_unit(found, copies):
    """Copies tell nothing; where each is a unit of its own, all count."""
    units = [f"unit {n}" for n in range(len(found))]
    one = share(sum(found), len(found))
    told = share_of(np.repeat(found, copies), np.repeat(units, copies))
    assert (told.value, told.low, told.high) == pytest.approx((one.value, one.low, one.high), abs=1e-9)


PLACED = st.lists(st.tuples(st.booleans(), st.sets(st.sampled_from("abcde"), min_size=1)), min_size=2, max_size=30)


@given(PLACED)
def test_the_variance_of_a_share_is_that_of_all_pairs_with_a_unit_in_common(rows):
    held, units = np.array([held for held, _ in rows]), [sorted(of) for _, of in rows]
    away, n, value = held - held.mean(), len(rows), held.mean()
    pairs = np.array([[len({*a} & {*b}) if i != j else 1 for j, b in enumerate(units)] for i, a in enumerate(units)])
    variance, told, plain = (away @ pairs @ away) / n**2, share_of(held, units), share(int(held.sum()), n)
    assert told.value == value and told.low <= plain.low + 1e-9 and plain.high <= told.high + 1e-9
    if 0 < value < 1 and variance > value * (1 - value) / n:
        effective = value * (1 - value) / variance
        z = norm.ppf(0.975)
        middle = (value + z * z / (2 * effective)) / (1 + z * z / effective)
        assert (told.low + told.high) / 2 == pytest.approx(middle, abs=1e-6)


def test_the_interval_of_a_share_holds_the_truth_where_those_of_a_unit_are_alike():
    """Of 40 units of 1 to 9 with shares of their own, about .1: as often as it says, and Wilson's of all does not."""
    random, held = np.random.default_rng(0), {"units": 0, "all": 0}
    for _ in range(400):
        units = np.repeat(np.arange(40), random.integers(1, 10, 40))
        found = random.random(len(units)) < random.beta(0.1, 0.9, 40)[units]
        for name, told in (("units", share_of(found, units)), ("all", share(int(found.sum()), len(found)))):
            held[name] += told.low <= 0.1 <= told.high
    assert held["units"] > 0.9 * 400 > held["all"]


def test_a_constant_and_all_but_a_few_random_filters_are_below_the_floor():
    random = np.random.default_rng(1)
    for truth in (np.arange(80) < 8, np.arange(400) < 100):
        for said in (True, False):
            assert (
                balanced(np.full(len(truth), said), truth)
                .shortfall(0.6, "it")
                .endswith("above a constant's 0.5 (floor: 0.6)")
            )
            assert (
                area(np.full(len(truth), 0.9), truth)
                .shortfall(0.6, "it")
                .endswith("above a constant's 0.5 (floor: 0.6)")
            )
        drawn = [random.random(len(truth)) for _ in range(100)]
        assert sum(not balanced(one > 0.5, truth).shortfall(0.6, "it") for one in drawn) <= 6
        assert sum(not area(one, truth).shortfall(0.6, "it") for one in drawn) <= 6


def test_what_is_surely_better_than_a_constant_may_still_be_below_the_floor():
    truth = np.arange(10_000) < 5000
    said = np.where(np.arange(10_000) % 20 < 11, truth, ~truth)  # right on 55 %
    assert balanced(said, truth).shortfall(0.6, "it") == "it is 0.55 (0.54 to 0.56), below the floor of 0.6"
    assert balanced(said, truth).shortfall(0.55, "it") == ""
    assert Measured(None).shortfall(0.6, "it") == "it cannot be told"


def test_few_pairs_say_little_even_if_all_are_right():
    assert area(np.array([0.9, 0.1]), np.array([True, False])).shortfall(0.6, "it")
    truth = np.arange(40) < 4
    assert not area(truth * 1.0, truth).shortfall(0.6, "it") and not balanced(truth, truth).shortfall(0.6, "it")
