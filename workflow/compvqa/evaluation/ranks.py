"""How two numbers of the same things go together: Spearman's rank correlation, with a permutation test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are asked for

from compvqa.seeds import stable_hash

DIGITS = 9  # after the point, beyond which a difference is rounding


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation, and the share of permutations in which it is as high, the one that was found among
    them."""

    rho: float
    p: float
    n: int


def rank_correlation(
    one: Sequence[float], other: Sequence[float], permutations: int = 4000, seed: int = 1
) -> Correlation | None:
    """How two numbers of the same things go together; None of fewer than three, or where one is the same for all."""
    if len(one) < 3 or len(set(one)) < 2 or len(set(other)) < 2:
        return None
    x, y = (standard_ranks(np.array(values, dtype=float)) for values in (one, other))
    random = np.random.default_rng(stable_hash(seed, "permutations", len(x)) & 0xFFFFFFFF)
    permuted = (random.permuted(np.tile(y, (permutations, 1)), axis=1) * x).sum(axis=1)
    rho = float((x * y).sum())
    return Correlation(rho, float((1 + (permuted >= rho - 1e-12).sum()) / (1 + permutations)), len(x))


def correlated(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Spearman's rank correlation of each row [m, n] with the same row of others; nan where either is constant."""
    with np.errstate(invalid="ignore"):
        found: np.ndarray = (standard_ranks(values) * standard_ranks(others)).sum(axis=-1)
    return found


def standard_ranks(values: np.ndarray) -> np.ndarray:
    """The ranks in each row about their mean, of length 1; what rounding alone parts has one rank."""
    ranks = scipy.stats.rankdata(np.round(values, DIGITS), axis=-1)
    ranks -= ranks.mean(axis=-1, keepdims=True)
    found: np.ndarray = ranks / np.sqrt((ranks * ranks).sum(axis=-1, keepdims=True))
    return found
