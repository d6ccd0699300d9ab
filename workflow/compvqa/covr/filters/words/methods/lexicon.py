"""m(x, y) from a lexicon's entries and rules."""

from __future__ import annotations

from compvqa.covr.filters.words import overlap


def scorer(kind: str, given: overlap.Knowledge) -> overlap.Score:
    """A function that gives m for the pairs (xs[i], ys[i])."""
    return overlap.by_lexicon(kind, given.known)
