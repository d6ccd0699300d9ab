"""Bootstrap intervals of accuracies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.evaluation.intervals import Resampling, accuracy_interval


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
