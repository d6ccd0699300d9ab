"""Bootstrap intervals of accuracies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from compvqa.evaluation.intervals import Resampling, accuracy_interval, clustered_interval


@given(st.integers(1, 200), st.floats(0, 1), st.integers(0, 9))
def test_intervals_hold_the_accuracy(n, share, seed):
    correct = round(share * n)
    low, high = accuracy_interval(correct, n, Resampling(resamples=500), seed)
    assert 0 <= low <= correct / n <= high <= 1


def test_intervals_are_as_wide_as_theory_says():
    low, high = accuracy_interval(700, 1000, Resampling(resamples=20_000), 0)
    half = 1.96 * (0.7 * 0.3 / 1000) ** 0.5
    assert (low, high) == (pytest.approx(0.7 - half, abs=0.002), pytest.approx(0.7 + half, abs=0.002))


def test_an_interval_is_what_drawing_questions_one_by_one_gives():
    drawn = np.random.default_rng(0).choice([1.0] * 30 + [0.0] * 10, size=(20_000, 40)).mean(axis=1)
    expected = np.quantile(drawn, (0.025, 0.975))
    assert accuracy_interval(30, 40, Resampling(resamples=20_000), 0) == pytest.approx(tuple(expected), abs=0.026)


def test_an_interval_of_images_is_what_drawing_them_one_by_one_gives():
    groups = [(3, 4)] * 10 + [(0, 2)] * 5 + [(1, 1)] * 15  # right, n
    drawn = np.random.default_rng(0).integers(len(groups), size=(20_000, len(groups)))
    right, n = np.array(groups).T
    expected = np.quantile(right[drawn].sum(axis=1) / n[drawn].sum(axis=1), (0.025, 0.975))
    found = clustered_interval([(3, 4, 10), (0, 2, 5), (1, 1, 15)], Resampling(resamples=20_000), 0)
    assert found == pytest.approx(tuple(expected), abs=0.01)


def test_answers_that_are_right_or_wrong_together_widen_an_interval_of_images():
    settings = Resampling(resamples=20_000)
    low, high = accuracy_interval(500, 1000, settings, 0)
    together = clustered_interval([(10, 10, 50), (0, 10, 50)], settings, 0)
    assert (together[1] - together[0]) / (high - low) == pytest.approx(10**0.5, rel=0.05)
    apart = clustered_interval([(1, 1, 500), (0, 1, 500)], settings, 0)
    assert apart == pytest.approx((low, high), abs=0.003)


@given(st.integers(1, 500), st.booleans(), st.sampled_from([0.5, 0.9, 0.95]))
def test_an_interval_where_all_or_none_are_right_is_the_exact_one(n, all_right, level):
    settings = Resampling(level=level)
    low, high = accuracy_interval(n * all_right, n, settings, 0)
    exact = binomtest(n * all_right, n).proportion_ci(level, "exact")
    assert (low, high) == (pytest.approx(exact.low, abs=1e-9), pytest.approx(exact.high, abs=1e-9))
    images = clustered_interval([(3 * all_right, 3, n - n // 2), (2 * all_right, 2, n // 2)], settings, 0)
    assert images == pytest.approx((low, high))


def test_images_that_are_all_half_right_leave_room_for_others():
    low, high = clustered_interval([(5, 10, 20)], Resampling(), 0)
    assert low == pytest.approx(0.416, abs=0.001) and high == pytest.approx(1 - low)
    assert clustered_interval([(1, 2, 1)], Resampling(), 0) == pytest.approx((0.0125, 0.9875))
