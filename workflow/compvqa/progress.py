"""Progress of long work on standard error: a bar in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def track(items: Iterable[T], what: str, total: int | None = None, unit: str = "it") -> Iterator[T]:
    """``items``, with their progress shown under the name ``what``."""
    if sys.stderr.isatty():
        return iter(tqdm(items, desc=what, total=total, unit=unit, leave=False))
    return iter(tqdm(items, desc=what, total=total, unit=unit, mininterval=10, ncols=90, file=_Lines()))


class _Lines:
    """Standard error for logs: each state of a bar is a line of its own."""

    def write(self, text: str) -> None:
        text = text.replace("\r", "").strip()
        if text:
            sys.stderr.write(text + "\n")

    def flush(self) -> None:
        sys.stderr.flush()
