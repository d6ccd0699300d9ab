"""Bootstrap intervals of accuracies, and of numbers that are made of several."""

from __future__ import annotations

from functools import cache

import numpy as np
from pydantic import Field, PositiveInt

from compvqa.seeds import stable_hash
from compvqa.settings import Settings


class Resampling(Settings):
    """How intervals are made: by drawing the questions anew, with replacement."""

    resamples: PositiveInt = Field(2000, description="bootstrap resamples of the questions")
    level: float = Field(0.95, gt=0, lt=1, description="share of the resamples inside the interval")


def accuracy_interval(right: int, n: int, settings: Resampling, seed: int) -> tuple[float, float]:
    """The bootstrap interval of the accuracy on ``n`` questions of which ``right`` are answered right.

    The draws depend on these numbers and the seed alone, so that rows of the same questions have the same interval.
    """
    return _accuracy_interval(right, n, settings.resamples, settings.level, seed)


@cache
def _accuracy_interval(right: int, n: int, resamples: int, level: float, seed: int) -> tuple[float, float]:
    settings = Resampling(resamples=resamples, level=level)
    outcomes, counts = np.array([[1.0], [0.0]]), np.array([right, n - right])
    return interval(resampled(outcomes, counts, settings, seed, right, n)[:, 0], level)


def interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """The middle ``level`` of ``values``."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled(outcomes: np.ndarray, counts: np.ndarray, settings: Resampling, seed: int, *key: object) -> np.ndarray:
    """Means [resamples, k] of bootstrap resamples of questions.

    ``counts`` [m] questions have the ``outcomes`` [m, k]. Drawing how often each outcome occurs is the same
    as drawing the questions, and far cheaper. ``key`` says what the draws are for.
    """
    random = np.random.default_rng(stable_hash(seed, "bootstrap", *key) & 0xFFFFFFFF)
    n = int(counts.sum())
    return random.multinomial(n, counts / n, size=settings.resamples) @ outcomes / n
