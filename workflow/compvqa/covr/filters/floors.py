"""Floors of the filters: how surely a trained filter is better than a constant one, and why it is not to be used.

The intervals are of Wilson's kind, which are sound with few pairs and at 0 and 1: of the mean of two shares by
Newcombe's square-and-add, of the area under the ROC curve by Newcombe's fifth method (Statistics in Medicine 2006).
They take pairs for independent of each other, but of a share and an area it can be told which are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are asked for

CHANCE = 0.5  # balanced accuracy, and area under the ROC curve, of a filter that says the same of everything
LEVEL = 0.95
TINY = 1e-9  # at 0 and 1 themselves an area has no error


@dataclass(frozen=True)
class Measured:
    """A measure with its interval; None where one of the two classes is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def shortfall(self, least: float, name: str) -> str:
        """Why the measure is below its floor, in words; "" where it is not."""
        if self.value is None or self.low is None:
            return f"{name} cannot be told"
        interval = f"{name} is {self.value:.2f} ({self.low:.2f} to {self.high:.2f})"
        if self.low <= CHANCE:
            return f"{interval}, not surely above a constant's {CHANCE} (floor: {least:g})"
        return f"{interval}, below the floor of {least:g}" if self.value < least else ""


def share(k: int, n: int, level: float = LEVEL) -> Measured:
    """The share of ``k`` of ``n``, with Wilson's interval."""
    if not n:
        return Measured(None)
    between = scipy.stats.binomtest(int(k), int(n)).proportion_ci(level, method="wilson")
    return Measured(int(k) / int(n), float(between.low), float(between.high))


def share_of(held: np.ndarray, units: Sequence[str | Sequence[str]] | np.ndarray, level: float = LEVEL) -> Measured:
    """The share that is ``held`` (bool [n]), where those of one unit are alike; ``units`` [n] has one for each, or
    several, of which two with one in common are alike, more so with more (as by several clusterings at once).

    Wilson's interval, for as many independent ones as would have the same variance; of all or none, for one a unit.
    """
    n, k = len(held), int(held.sum())
    if not n:
        return Measured(None)
    each = [[unit] if np.ndim(unit) == 0 else list(unit) for unit in units]
    many = np.array([len(of) for of in each])
    _, of = np.unique(np.concatenate(each), return_inverse=True)
    own = np.repeat(held.astype(bool), many)
    sizes, hits = np.bincount(of).tolist(), np.bincount(of[own], minlength=of.max() + 1).tolist()
    value = k / n
    # whole numbers, so that no sum depends on its order
    together = sum((n * hit - k * size) ** 2 for hit, size in zip(hits, sizes, strict=True))
    alone = sum(int((many - 1)[held == side].sum()) * (n * side - k) ** 2 for side in (False, True))  # counted again
    apart = (together - alone) / n**4
    independent = min(value * (1 - value) / apart, n) if apart > 0 and 0 < value < 1 else min(len(sizes), n)
    return Measured(value, *_wilson(value, independent, level))


def _wilson(value: float, n: float, level: float) -> tuple[float, float]:
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    middle, half = value + z * z / (2 * n), z * (value * (1 - value) / n + (z / (2 * n)) ** 2) ** 0.5
    low, high = ((middle + side * half) / (1 + z * z / n) for side in (-1, 1))
    return (max(low, 0.0) if value else 0.0), (min(high, 1.0) if value < 1 else 1.0)


def balanced(said: np.ndarray, truth: np.ndarray, level: float = LEVEL) -> Measured:
    """The mean of the accuracies of both classes, of what is ``said`` (bool [n]) against the ``truth`` (bool [n])."""
    right = [(int((said[truth == side] == side).sum()), int((truth == side).sum())) for side in (False, True)]
    if not all(n for _, n in right):
        return Measured(None)
    shares = [k / n for k, n in right]
    ends = [scipy.stats.binomtest(k, n).proportion_ci(level, method="wilson") for k, n in right]
    value = sum(shares) / 2
    below = np.hypot(*(share - end.low for share, end in zip(shares, ends, strict=True))) / 2
    above = np.hypot(*(end.high - share for share, end in zip(shares, ends, strict=True))) / 2
    return Measured(value, float(value - below), float(value + above))


def area(
    scores: np.ndarray, truth: np.ndarray, level: float = LEVEL, images: Sequence[str] | np.ndarray | None = None
) -> Measured:
    """The area under the ROC curve of ``scores`` [n]: how often one of a true pair is above one of another's.

    Where ``images`` [n] are told, the interval takes all true pairs of an image for right or wrong together, and all
    others: there are as many independent ones as tell as much (Kish's effective number).
    """
    m: float = int(truth.sum())
    n: float = int((~truth).sum())
    if not m or not n:
        return Measured(None)
    value = float((scipy.stats.rankdata(scores)[truth].sum() - m * (m + 1) / 2) / (m * n))
    if images is not None:
        m, n = (_independent(np.asarray(images)[truth == side]) for side in (True, False))
    z = float(scipy.stats.norm.ppf((1 + level) / 2))

    def beyond(at: float) -> float:
        """How much farther from the value than the interval's half width a true area ``at`` is, in its own error."""
        spread = 1 + ((m + n) / 2 - 1) * ((1 - at) / (2 - at) + at / (1 + at))
        return (value - at) ** 2 - z * z * at * (1 - at) * spread / (m * n)

    low = scipy.optimize.brentq(beyond, 0, min(value, 1 - TINY)) if value else 0.0
    high = scipy.optimize.brentq(beyond, max(value, TINY), 1) if value < 1 else 1.0
    return Measured(value, float(low), float(high))


def _independent(images: np.ndarray) -> float:
    """How many independent pairs tell as much as those of these ``images`` [n], if an image's tell the same."""
    _, pairs = np.unique(images, return_counts=True)
    return float(pairs.sum() ** 2 / (pairs**2).sum())
