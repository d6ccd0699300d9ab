"""What nouns mean, of which kinds each meaning is and of what it is a part, as WordNet tells.

Two nouns may be said of one thing if a meaning of one is a kind of a meaning of the other (a mitt is a glove, a bag in
one of its meanings is a suitcase), or a part of it (a finger is part of a hand, so of an arm). A noun has several
meanings and nobody says which is meant: one that fits is enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")
MEANINGS = 4  # of a noun, the most frequent: later ones are rare
ABSTRACT = 5  # kinds above a meaning and itself: with so many or fewer it is too general to be shared ("artifact")
NARROWER = 2  # steps down from a noun's meaning to what may be the part: it is the car wheel that is part of a car


class SenseData(BaseModel):
    """Meanings by number: of each noun, the most frequent first; and of each meaning those that it is a kind of, and
    those of whose things it is a part or a member."""

    model_config = ConfigDict(extra="forbid")

    nouns: dict[str, list[int]] = {}
    kinds: dict[int, list[int]] = {}
    wholes: dict[int, list[int]] = {}


class Senses:
    """Answers whether two nouns may be said of one thing; what it works out for a noun is kept."""

    def __init__(self, data: SenseData):
        self.data = data
        self._narrower: dict[int, list[int]] = {}
        for meaning, kinds in data.kinds.items():
            for kind in kinds:
                self._narrower.setdefault(kind, []).append(meaning)
        self.above = lru_cache(None)(self._above)
        self._of = lru_cache(None)(self._sets)

    def overlap(self, x: tuple[str, ...], y: tuple[str, ...]) -> bool:
        """Whether what one noun is said of may be called the other, or has such a part; each noun by all the forms
        that it stands in (its singular, itself)."""
        (own_x, kinds_x, wholes_x), (own_y, kinds_y, wholes_y) = self._of(x), self._of(y)
        same = own_x & kinds_y or own_y & kinds_x
        return bool(same or wholes_x & kinds_y or wholes_y & kinds_x)

    def _sets(self, forms: tuple[str, ...]) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
        """Of a noun its meanings, those that they are kinds of, and those that they are parts of."""
        found = dict.fromkeys(meaning for form in forms for meaning in self.data.nouns.get(form, ()))
        own = frozenset(list(found)[:MEANINGS])
        kinds = {kind for meaning in own for kind in self.above(meaning) if len(self.above(kind)) > ABSTRACT}
        return own, frozenset(kinds), self._wholes(own)

    def _above(self, meaning: int) -> frozenset[int]:
        """All kinds that a meaning is of, itself included."""
        return frozenset(reached({meaning}, self.data.kinds))

    def _wholes(self, meanings: Iterable[int]) -> frozenset[int]:
        """What these meanings, somewhat narrower ones and the next wider ones are parts of, and that again of."""
        level, begin = list(meanings), {kind for meaning in meanings for kind in self.data.kinds.get(meaning, ())}
        for _ in range(NARROWER + 1):
            begin |= set(level)
            level = [narrower for meaning in level for narrower in self._narrower.get(meaning, ())]
        return frozenset(reached(begin, self.data.wholes) - begin)


def reached(begin: Collection[T], edges: Mapping[T, Iterable[T]]) -> set[T]:
    """All that is reached from these meanings, or names, along edges, themselves included."""
    reached, waiting = set(begin), list(begin)
    while waiting:
        for other in edges.get(waiting.pop(), ()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached
