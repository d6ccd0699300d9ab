"""Searches for questions that have a pair of attribute values in a description, or have none of some pairs
(CLEVR-HOPE, section 3)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from compvqa.clevr import analysis
from compvqa.clevr.executor import Value
from compvqa.clevr.language import GROUPS
from compvqa.clevr.scene import Scene
from compvqa.clevr.search import Plan
from compvqa.clevr.templates import Choice, Template
from compvqa.clevr.words import Words
from compvqa.programs.rows import Row
from compvqa.scenes.pairs import Occurrence, Pair, occurs, types_of
from compvqa.seeds import generator

Found = tuple[list[Row], Value, dict[str, str | None]] | None
TRIES = 50  # of a search whose questions have what is forbidden


class Searching(Protocol):
    """A search for one question of a template in a scene."""

    @property
    def rng(self) -> random.Random: ...
    @property
    def frequent(self) -> bool: ...
    @property
    def degenerate(self) -> bool: ...
    def run(self) -> Found: ...


@dataclass
class Permitted:
    """A search that goes on while its question has a pair that is forbidden: options have none, but functions that
    follow each other may make one."""

    search: Searching
    pairs: Sequence[Pair]
    occurrence: Occurrence
    forbidden: bool = False  # whether a question was refused

    def run(self) -> Found:
        for _ in range(TRIES):
            found = self.search.run()
            if found is None or not any(analysis.occurs(pair, found[0], self.occurrence) for pair in self.pairs):
                return found
            self.forbidden = True
        return None

    @property
    def rng(self) -> random.Random:
        return self.search.rng

    @property
    def frequent(self) -> bool:
        return self.search.frequent

    @property
    def degenerate(self) -> bool:
        return self.search.degenerate


@dataclass
class Requiring:
    """Searches one after the other, each with the pair in another description, until one finds a question; their order
    is drawn."""

    searches: Sequence[Searching]
    rng: random.Random
    tried: list[Searching] = field(default_factory=list)

    def run(self) -> Found:
        for search in self.rng.sample(self.searches, len(self.searches)):
            self.tried.append(search)
            if found := search.run():
                return found
        return None

    @property
    def frequent(self) -> bool:
        return any(search.frequent for search in self.tried)

    @property
    def degenerate(self) -> bool:
        return any(search.degenerate for search in self.tried)


class PairRules:
    """Which pairs questions have not, and of which each has one, in searches over any number of scenes."""

    def __init__(
        self,
        words: Words,
        forbidden: Sequence[Pair] = (),
        required: Sequence[Pair] = (),
        occurrence: Occurrence = "released",
        sets: bool = True,
    ):
        self.forbidden, self.required, self.occurrence, self.sets = forbidden, required, occurrence, sets
        self.vocabulary = {group: words.values[group] for group in GROUPS}
        self.known: dict[tuple[str, Pair], list[Plan]] = {}

    def searching(
        self, plan: Plan, pair: Pair | None, search: Callable[[Plan], Searching], rng: random.Random
    ) -> Searching:
        """The search for a question of a plan; ``search`` begins that for any question. ``pair`` is the one that is
        required in the scene, None where there is none that could be."""
        found = search(plan)
        if self.required:
            plans = self.plans(plan.template, pair) if pair else []
            found = Requiring([search(other if plan.checked else other.unchecked) for other in plans], rng)
        return Permitted(found, self.forbidden, self.occurrence) if self.forbidden else found

    def one_of(self, scene: Scene, seed: int) -> Pair | None:
        """One of the required pairs that some object of the scene has; None where none has any."""
        there = [pair for pair in self.required if occurs(pair, scene.objects)]
        return generator(seed, "required pair", scene.scene_id).choice(there) if there else None

    def plans(self, template: Template, pair: Pair) -> list[Plan]:
        """The plans that have a pair in one of the template's full descriptions, each in another.

        A plan chooses that description before all that it does not need for it, without changing the listing. There
        are none for templates in which a type of the pair has to stay empty everywhere.
        """
        key = (template.name, pair)
        if key not in self.known:
            kinds = dict(zip(types_of(pair, self.vocabulary), pair, strict=True))
            having = tuple(kinds.get(group) for group in GROUPS)
            places = [number for number in range(len(template.nodes)) if _may_have(template, number, having)]
            self.known[key] = [_with(template, number, having, self.sets) for number in places]
        return self.known[key]


def _may_have(template: Template, number: int, having: Choice) -> bool:
    """Whether a node has a full description in which these words need not stay out."""
    node = template.nodes[number]
    slots = zip(node.slots[-len(GROUPS) :], having, strict=True) if node.composite else ()
    return bool(node.composite) and not any(word and slot in template.empty for slot, word in slots)


def _with(template: Template, number: int, having: Choice, sets: bool) -> Plan:
    """The plan in which the description of a node has these words, and is chosen as early as can be."""
    needed = {number}
    for above in range(number, -1, -1):
        if above in needed:
            needed.update(template.nodes[above].inputs)
    order = (*sorted(needed), *(other for other in range(len(template.nodes)) if other not in needed))
    plan = Plan.of(template.reordered(order), sets)
    place = order.index(number)
    steps = tuple(replace(step, having=having) if at == place else step for at, step in enumerate(plan.steps))
    return replace(plan, steps=steps, listing=order)
