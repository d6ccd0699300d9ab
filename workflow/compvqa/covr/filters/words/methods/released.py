"""m(x, y) as COVR's authors released what their own word filters predicted; the lexicon's of names that they lack."""

from __future__ import annotations

from collections.abc import Sequence

from compvqa.covr.filters.words import overlap
from compvqa.covr.filters.words.released import predictions
from compvqa.errors import InputError


def scorer(kind: str, given: overlap.Knowledge) -> overlap.Score:
    """A function that gives m for the pairs (xs[i], ys[i])."""
    if given.released is None:
        raise InputError("overlap.method: released needs what the authors released; name it as overlap.released.")
    known, rules = predictions(given.released, kind), overlap.by_lexicon(kind, given.known)

    def score(xs: Sequence[str], ys: Sequence[str]) -> list[float]:
        pairs = zip(known(xs, ys), rules(xs, ys), strict=True)
        return [rule if m is None else m for m, rule in pairs]

    return score
