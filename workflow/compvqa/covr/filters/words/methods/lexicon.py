"""m(x, y) from a lexicon's entries and rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from compvqa.scenes.lexicon import Lexicon


def scorer(lexicon: Path, models: Path | None = None) -> Callable[[str, Sequence[str], Sequence[str]], list[float]]:
    """A function that gives m for the pairs (xs[i], ys[i]) of a kind."""
    known = Lexicon.load(lexicon)

    def score(kind: str, xs: Sequence[str], ys: Sequence[str]) -> list[float]:
        return [known.exclusive(kind, x, y) for x, y in zip(xs, ys, strict=True)]

    return score
