"""No filter: any two different names count as exclusive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path


def scorer(lexicon: Path, models: Path | None = None) -> Callable[[str, Sequence[str], Sequence[str]], list[float]]:
    """A function that gives m = 1 for every pair."""
    return lambda kind, xs, ys: [1.0] * len(xs)
