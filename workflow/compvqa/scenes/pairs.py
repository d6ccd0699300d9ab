"""Held-out pairs of attribute values: their types' diversity, where a pair occurs, and smaller vocabularies around it.

A vocabulary says the values of each type: ``{"color": ["gray", …], "shape": […], …}``. A pair has values of two types,
such as ``("cyan", "cylinder")``; a *combination* has one value of each of the pair's types, in the pair's order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from math import fsum, log2
from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from compvqa.errors import InputError
from compvqa.seeds import by_rank
from compvqa.settings import Settings

Pair = tuple[str, str]
Vocabulary = Mapping[str, Sequence[str]]
Occurrence = Literal["released", "strict"]  # of a pair in a program
LEAST = 4  # combinations in a subset


class Among(Settings):
    """A part of the vocabulary, around a pair, outside which scenes and questions have nothing: it sets how many
    combinations the pair is one of (diversity-controlled sets, section 4.4)."""

    grid: dict[str, PositiveInt] = Field(
        {},
        description="for each of the pair's types, how many of its values there are: a smaller grid is part of a "
        "larger one of the same draw",
    )
    subset: PositiveInt | None = Field(
        None,
        description="how many of the combinations there are, at random, each value of the pair in two of them at "
        "least; a smaller subset is part of a larger one of the same draw",
    )
    draw: int = Field(1, description="which of the draws of these values or combinations")

    @model_validator(mode="after")
    def _one(self) -> Among:
        if bool(self.grid) == bool(self.subset):
            raise ValueError("give either a grid or a subset")
        return self


def types_of(pair: Pair, vocabulary: Vocabulary) -> tuple[str, str]:
    """The types of a pair's values; :class:`InputError` where a value is of none, or both are of one."""
    found = []
    for value in pair:
        of = [kind for kind, values in vocabulary.items() if value in values]
        if not of:
            known = ", ".join(value for values in vocabulary.values() for value in values)
            raise InputError(f"the pair {' '.join(pair)} has {value!r}, which is no value of the vocabulary ({known}).")
        found.append(of[0])
    one, other = found
    if one == other:
        raise InputError(f"the pair {' '.join(pair)} has two values of one type, {one}: give values of two.")
    return one, other


def combinations(pair: Pair, vocabulary: Vocabulary, among: Among | None = None) -> tuple[Pair, ...]:
    """All combinations of the pair's types that there are, the pair among them; the others are what a model sees."""
    one, other = types_of(pair, vocabulary)
    whole = [(x, y) for x, y in product(vocabulary[one], vocabulary[other])]
    if among is None:
        return tuple(whole)
    if among.grid:
        kept = _grid(pair, (one, other), vocabulary, among)
        return tuple((x, y) for x, y in whole if x in kept[0] and y in kept[1])
    chosen = _subset(pair, whole, among)
    return tuple(item for item in whole if item in chosen)


def diversity(pair: Pair, vocabulary: Vocabulary, among: Among | None = None) -> int:
    """P: how many combinations of the pair's types there are, the pair counted."""
    return len(combinations(pair, vocabulary, among))


def informs(pair: Pair, vocabulary: Vocabulary, among: Among | None = None) -> float:
    """What one value tells of the other where the pair is missing, in bits: their mutual information over the other
    combinations, each as frequent. It falls as diversity rises, but not with it alone: a rival of what it explains."""
    return told_without(pair, combinations(pair, vocabulary, among))


def told_without(pair: Pair, there: Iterable[Pair]) -> float:
    """The same where these combinations are there, to nine digits: the same on all versions of Python."""
    seen = [item for item in there if item != pair]
    of = [Counter(item[place] for item in seen) for place in (0, 1)]
    told = fsum(log2(len(seen) / (of[0][one] * of[1][other])) for one, other in seen)
    return round(told / len(seen), 9)


def around(pair: Pair, seen: Collection[Pair]) -> tuple[Pair, ...]:
    """The combinations that a pair is one of where no vocabulary says them: of those ``seen`` the ones whose first
    value goes with the pair's second there and whose second with its first, and the pair. Of a vocabulary,
    whole or cut to a grid, these are its combinations."""
    ones = {one for one, other in seen if other == pair[1]} | {pair[0]}
    others = {other for one, other in seen if one == pair[0]} | {pair[1]}
    return tuple(sorted({item for item in seen if item[0] in ones and item[1] in others} | {pair}))


def within(pair: Pair, vocabulary: Vocabulary, among: Among | None = None) -> dict[str, tuple[str, ...]]:
    """The vocabulary of the pair's types cut to the values that any combination has."""
    kinds = types_of(pair, vocabulary)
    there = [{item[place] for item in combinations(pair, vocabulary, among)} for place in (0, 1)]
    cut = dict(zip(kinds, there, strict=True))
    return {
        kind: tuple(value for value in values if value in cut.get(kind, values)) for kind, values in vocabulary.items()
    }


def unseen(pair: Pair, vocabulary: Vocabulary, among: Among | None = None) -> tuple[Pair, ...]:
    """The combinations of values that are there which themselves are not, besides the pair itself."""
    one, other = types_of(pair, vocabulary)
    cut, there = within(pair, vocabulary, among), set(combinations(pair, vocabulary, among))
    return tuple(item for item in product(cut[one], cut[other]) if item not in there)


def occurs(pair: Collection[str], objects: Iterable[Collection[str]]) -> bool:
    """Whether one of the objects, of which each is told by its values, has both values of a pair."""
    return any(set(pair) <= set(values) for values in objects)


def _grid(pair: Pair, kinds: tuple[str, str], vocabulary: Vocabulary, among: Among) -> tuple[list[str], list[str]]:
    if set(among.grid) != set(kinds):
        raise InputError(
            f"the grid around {' '.join(pair)} tells of {', '.join(among.grid)}: tell of {kinds[0]} and {kinds[1]}."
        )
    kept = []
    for value, kind in zip(pair, kinds, strict=True):
        many, values = among.grid[kind], vocabulary[kind]
        if not 2 <= many <= len(values):
            raise InputError(f"the grid around {' '.join(pair)} has {many} values of {kind}: give 2 to {len(values)}.")
        others = by_rank(among.draw, f"grid {kind} {' '.join(pair)}", [item for item in values if item != value])
        kept.append([value, *others[: many - 1]])
    return kept[0], kept[1]


def _subset(pair: Pair, whole: Sequence[Pair], among: Among) -> set[Pair]:
    """The first of all combinations in an order that is drawn anew until the first four have each value of the pair
    twice: so a smaller subset is part of a larger one of the same draw."""
    many = among.subset or 0
    if not LEAST <= many <= len(whole):
        raise InputError(f"the subset around {' '.join(pair)} has {many} combinations: give {LEAST} to {len(whole)}.")
    others, attempt = [item for item in whole if item != pair], 0
    while True:
        order = [pair, *by_rank(among.draw, f"subset {' '.join(pair)} {attempt}", others)]
        if all(sum(item[place] == pair[place] for item in order[:LEAST]) > 1 for place in (0, 1)):
            return set(order[:many])
        attempt += 1
