"""What a run learns of its surroundings, such as a server's version: a stage tells it, and its record keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_facts: ContextVar[dict[str, str] | None] = ContextVar("facts", default=None)


@contextmanager
def gathered() -> Iterator[dict[str, str]]:
    """Inside, what is told is put into the dictionary that is given."""
    facts: dict[str, str] = {}
    token = _facts.set(facts)
    try:
        yield facts
    finally:
        _facts.reset(token)


def tell(**facts: str) -> None:
    """Have these facts kept in the record of the run, if there is one; no result may depend on them."""
    known = _facts.get()
    if known is not None:
        known |= facts
