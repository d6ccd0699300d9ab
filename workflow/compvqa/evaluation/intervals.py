"""Bootstrap intervals of accuracies, and of numbers that are made of several."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Literal

import numpy as np
from pydantic import Field, PositiveInt

from compvqa.seeds import stable_hash
from compvqa.settings import Settings

Resampled = Literal["questions", "images"]


class Resampling(Settings):
    """How intervals are made: by drawing the questions anew, with replacement, or the images that they are about."""

    resamples: PositiveInt = Field(2000, description="bootstrap resamples of the questions")
    resample: Resampled | None = Field(
        None,
        description="what is drawn: questions, each by itself, or images, all questions about the same ones together "
        "(cluster bootstrap): their intervals are wider where answers about an image are right or wrong together; "
        "null: as the questions' language says (covr: questions, clevr: images)",
    )
    level: float = Field(0.95, gt=0, lt=1, description="share of the resamples inside the interval")


def accuracy_interval(right: int, n: int, settings: Resampling, seed: int) -> tuple[float, float]:
    """The bootstrap interval of the accuracy on ``n`` questions of which ``right`` are answered right.

    Where that is all or none of them it is the exact one (Clopper and Pearson's): 0 to 15 % for 0 of 23. The draws
    depend on these numbers and the seed alone, so that rows of the same questions have the same interval.
    """
    return _accuracy_interval(right, n, settings.resamples, settings.level, seed)


@cache
def _accuracy_interval(right: int, n: int, resamples: int, level: float, seed: int) -> tuple[float, float]:
    if right in (0, n):
        return alike(right / n, n, level)
    settings = Resampling(resamples=resamples, level=level)
    outcomes, counts = np.array([[1.0], [0.0]]), np.array([right, n - right])
    return interval(resampled(outcomes, counts, settings, seed, right, n)[:, 0], level)


def interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """The middle ``level`` of ``values``."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def clustered_interval(
    patterns: Iterable[tuple[int, int, int]], settings: Resampling, seed: int
) -> tuple[float, float]:
    """The bootstrap interval of an accuracy where groups of questions are drawn.

    ``patterns``: of how many questions so many are answered right in how many groups: (right, n, groups). The draws
    depend on these and the seed alone. Where all groups have one accuracy, no draw has another: the interval then
    leaves room for groups such as were not seen, as :func:`accuracy_interval` does.
    """
    return _clustered_interval(tuple(sorted(map(tuple, patterns))), settings.resamples, settings.level, seed)


@cache  # parts of several splits are often of the same questions
def _clustered_interval(
    ordered: tuple[tuple[int, int, int], ...], resamples: int, level: float, seed: int
) -> tuple[float, float]:
    right, n, groups = np.array(ordered).T
    if (share := right / n).min() == share.max():
        return alike(float(share[0]), int(groups.sum()), level)
    settings = Resampling(resamples=resamples, level=level)
    drawn = resampled(right[:, None], groups, settings, seed, *np.ravel(ordered).tolist(), sizes=n)
    return interval(drawn[:, 0], level)


def alike(share: float, units: int, level: float) -> tuple[float, float]:
    """The share of all units that so many draws miss altogether in (1 - level) / 2 of all cases: it is hardly more."""
    seen = 1 - unseen(units, level)
    return share * seen, 1 - (1 - share) * seen


def unseen(units: int, level: float) -> float:
    """The share of all units that so many draws miss altogether in (1 - level) / 2 of all cases, so likely no more."""
    missed: float = 1 - ((1 - level) / 2) ** (1 / units)
    return missed


def resampled(
    outcomes: np.ndarray,
    counts: np.ndarray,
    settings: Resampling,
    seed: int,
    *key: object,
    sizes: np.ndarray | None = None,
) -> np.ndarray:
    """Means [resamples, k] of bootstrap resamples of questions, or of groups of questions.

    ``counts`` [m] questions have the ``outcomes`` [m, k]. Drawing how often each outcome occurs is the same
    as drawing the questions, and far cheaper. Where groups are drawn, so many groups of ``sizes`` [m] questions have
    the outcomes, which are then sums over a group. ``key`` says what the draws are for. Outcomes are whole numbers, so
    that no sum depends on its order, which BLAS chooses by processor.
    """
    random = np.random.default_rng(stable_hash(seed, "bootstrap", *key) & 0xFFFFFFFF)
    n = int(counts.sum())
    drawn = random.multinomial(n, counts / n, size=settings.resamples)
    means: np.ndarray = drawn @ outcomes / (n if sizes is None else (drawn @ sizes)[:, None])
    return means
