"""Progress of long work on standard error: a bar in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def track(items: Iterable[T], what: str, total: int | None = None, unit: str = "it") -> Iterator[T]:
    """``items``, with their progress shown under the name ``what``."""
    terminal = sys.stderr.isatty()
    return iter(
        tqdm(items, desc=what, total=total, unit=unit, mininterval=0.5 if terminal else 10, leave=terminal)
    )
