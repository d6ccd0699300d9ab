"""No filter: any two different names count as exclusive."""

from __future__ import annotations

from compvqa.covr.filters.words import overlap


def scorer(kind: str, given: overlap.Knowledge) -> overlap.Score:
    """A function that gives m = 1 for every pair."""
    return lambda xs, ys: [1.0] * len(xs)
