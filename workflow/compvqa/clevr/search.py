"""Depth-first search for one question of a template in a scene.

At each node an option is drawn uniformly among those that lead to a question, as the original code does by trying all
in random order. What fails depends only on what later nodes see, so that options which give the same are tried once,
and a state that failed is not entered again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from compvqa.clevr.analysis import is_degenerate
from compvqa.clevr.executor import FUNCTIONS, Value, only
from compvqa.clevr.options import SceneOptions
from compvqa.clevr.templates import Choice, Node, Template
from compvqa.programs.rows import Row

CONVERT: dict[str, Callable[[int], Value | None]] = {
    "unique": only,
    "count": int.bit_count,
    "exist": bool,
}


@dataclass(frozen=True)
class Step:
    """What the search knows of a node beforehand."""

    empty: tuple[bool, ...]  # its slots that stay empty
    convert: Callable[[int], Value | None] | None  # from what the node's filters give to what the node gives
    differs: tuple[int, ...]  # nodes above that must give something else
    sees: tuple[int, ...]  # nodes above whose values matter from here on
    late: bool  # whether its very choice decides if a question is degenerate
    as_set: bool  # whether what it counts, not the number, must differ from another node's


@dataclass(frozen=True)
class Plan:
    """A template made ready for searching."""

    template: Template
    steps: tuple[Step, ...]
    checked: bool  # whether a relate is bare: then the answer must be another without any relate

    @classmethod
    def of(cls, template: Template, sets: bool = True) -> Plan:
        """The plan for a template.

        With ``sets``, two counts that must differ are counts of different sets; without, different numbers, as in the
        original code, where the question whether they are equal then can only be answered by no.
        """
        nodes = template.nodes
        checked = any(node.kind == "relate" for node in nodes)
        late = _late(template) if checked else set()
        needed = {i for number in late for i in nodes[number].inputs}
        pairs = [pair for pair in template.different if all(_counts(nodes[i]) for i in pair)]
        counted = {i for pair in pairs for i in pair}
        steps = []
        for number, node in enumerate(nodes):
            later = {i for other in nodes[number:] for i in other.inputs}
            later |= {one for one, other in template.different if other >= number}
            seen = sorted(i for i in later | needed if i < number)
            steps.append(
                Step(
                    tuple(slot in template.empty for slot in node.slots),
                    CONVERT.get(node.composite["end"] or "") if node.composite else None,
                    tuple(one for one, other in template.different if other == number),
                    tuple(seen),
                    bool(node.slots) and number in late,
                    sets and number in counted,
                )
            )
        return cls(template, tuple(steps), checked)

    @cached_property
    def unchecked(self) -> Plan:
        """The same, where a question may be degenerate: much is then alike."""
        return replace(self, steps=tuple(replace(step, late=False) for step in self.steps), checked=False)


def _counts(node: Node) -> bool:
    return bool(node.composite and node.composite["end"] == "count")


def _late(template: Template) -> set[int]:
    """The nodes that give something else where a relate is left out: all that take what it gives, at once or by others,
    and a composite that has it within. Of a bare relate itself only the outcome counts."""
    found: set[int] = set()
    moved: set[int] = set()
    for number, node in enumerate(template.nodes):
        if moved.intersection(node.inputs) or (node.composite and node.composite["relate"]):
            found.add(number)
        if number in found or node.kind == "relate":
            moved.add(number)
    return found


@dataclass
class Search:
    """One search; afterwards ``frequent`` and ``degenerate`` tell why questions were refused."""

    plan: Plan
    options: SceneOptions
    accepted: Container[Value]
    rng: random.Random
    given: list[Value] = field(default_factory=list)  # what each node gives
    masks: list[int] = field(default_factory=list)  # what the filters of a node with slots give
    choices: list[Choice] = field(default_factory=list)
    failed: set[tuple] = field(default_factory=set)
    frequent: bool = False
    degenerate: bool = False

    def run(self) -> tuple[list[Row], Value, dict[str, str | None]] | None:
        """A question's program, its answer and what its slots are filled with; None where the scene has none."""
        nodes = self.plan.template.nodes
        self.given, self.masks, self.choices = [0] * len(nodes), [0] * len(nodes), [()] * len(nodes)
        if not self._from(0):
            return None
        pairs = zip(nodes, self.choices, strict=True)
        filled = {slot: word for node, words in pairs for slot, word in zip(node.slots, words, strict=True)}
        return self.plan.template.program(self.choices), self.given[-1], filled

    def _from(self, number: int) -> bool:
        """Whether the nodes from ``number`` on can be filled; they then are."""
        if number == len(self.plan.steps):
            return self._accept()
        step = self.plan.steps[number]
        state = (number, *[self._seen(i) for i in step.sees])
        if self.plan.checked:
            state += tuple(c for c, s in zip(self.choices[:number], self.plan.steps, strict=False) if s.late)
        if state in self.failed:
            return False
        done = self._choose(number, step) if self.plan.template.nodes[number].slots else self._compute(number, step)
        if not done:
            self.failed.add(state)
        return done

    def _seen(self, number: int) -> Value:
        """What tells a node's outcome apart."""
        return self.masks[number] if self.plan.steps[number].as_set else self.given[number]

    def _compute(self, number: int, step: Step) -> bool:
        node = self.plan.template.nodes[number]
        value = FUNCTIONS[node.kind](self.options.scene, [self.given[i] for i in node.inputs], ())
        if value is None:
            return False
        self.given[number] = value
        return self._differs(number, step) and self._from(number + 1)

    def _choose(self, number: int, step: Step) -> bool:
        node = self.plan.template.nodes[number]
        found = self.options.of(node, self.given[node.inputs[0]], step.empty)
        if step.late:
            return self._choose_each(number, step, found.choices)
        left: Sequence[int] = found.masks
        while left:
            mask = left[int(self.rng.random() * len(left))]
            self.choices[number] = found.choices[mask][0]  # any: they lead to the same
            if self._enter(number, step, mask):
                self.choices[number] = self.rng.choice(found.choices[mask])
                return True
            left = [other for other in left if other != mask]
        return False

    def _choose_each(self, number: int, step: Step, choices: dict[int, list[Choice]]) -> bool:
        left = [(mask, choice) for mask, same in choices.items() for choice in same]
        self.rng.shuffle(left)
        for mask, choice in left:
            self.choices[number] = choice
            if self._enter(number, step, mask):
                return True
        return False

    def _enter(self, number: int, step: Step, mask: int) -> bool:
        self.given[number] = step.convert(mask) if step.convert else mask
        self.masks[number] = mask
        return self._differs(number, step) and self._from(number + 1)

    def _differs(self, number: int, step: Step) -> bool:
        return all(self._seen(number) != self._seen(other) for other in step.differs)

    def _accept(self) -> bool:
        if self.given[-1] not in self.accepted:
            self.frequent = True
            return False
        if self.plan.checked:
            program = self.plan.template.program(self.choices)
            if is_degenerate(program, self.options.scene, self.given[-1]):
                self.degenerate = True
                return False
        return True
