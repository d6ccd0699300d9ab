"""Forms of words, as the library ``inflect`` knows them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inflect


@lru_cache(maxsize=1)
def inflector() -> inflect.engine:
    """What knows plurals and articles; it is imported when it is first asked for."""
    import typeguard

    # inflect has its own calls checked, and rewriting them for that takes nine tenths of the seconds of its import
    checking: Any = typeguard
    checked, checking.typechecked = checking.typechecked, lambda function: function
    try:
        import inflect
    finally:
        typeguard.typechecked = checked
    return inflect.engine()


@lru_cache(maxsize=200_000)
def singular(noun: str) -> str:
    """The singular of a noun; itself where it is none, or has none ("pants")."""
    *rest, head = noun.split() or [noun]
    if not head.isalpha() or len(head) < 3 or head.endswith(("ss", "us", "is")):
        return noun
    found = inflector().singular_noun(head)
    return " ".join([*rest, found]) if found else noun
