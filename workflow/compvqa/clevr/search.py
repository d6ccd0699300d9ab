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

from compvqa.clevr.executor import FUNCTIONS, Value, only
from compvqa.clevr.options import Options, SceneOptions
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

    node: Node
    empty: tuple[bool, ...]  # its slots that stay empty
    convert: Callable[[int], Value | None] | None  # from what the node's filters give to what the node gives
    differs: tuple[int, ...]  # nodes above that must give something else
    sees: tuple[int, ...]  # nodes above whose values matter from here on
    late: bool  # whether its very choice decides if a question is degenerate
    as_set: bool  # whether what it counts, not the number, must differ from another node's
    having: Choice = ()  # words that its description has to have: for each group one or None


@dataclass(frozen=True)
class Plan:
    """A template made ready for searching."""

    template: Template
    steps: tuple[Step, ...]
    checked: bool  # whether a relate is bare: then the answer must be another without any relate
    listing: tuple[int, ...] = ()  # of each node its place in the listing; where it is empty, in that order

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
                    node,
                    tuple(slot in template.empty for slot in node.slots),
                    CONVERT.get(node.composite["end"] or "") if node.composite else None,
                    tuple(one for one, other in template.different if other == number),
                    tuple(seen),
                    bool(node.slots) and number in late,
                    sets and number in counted,
                )
            )
        return cls(template, tuple(steps), checked)

    def listed(self, choices: Sequence[Choice]) -> tuple[Template, list[Choice]]:
        """The template as it is listed, and the nodes' choices in that order."""
        if not self.listing:
            return self.template, list(choices)
        back = sorted(range(len(self.listing)), key=self.listing.__getitem__)
        return self.template.reordered(back), [choices[place] for place in back]

    @cached_property
    def unchecked(self) -> Plan:
        """The same, where a question may be degenerate: much is then alike."""
        return replace(self, steps=tuple(replace(step, late=False) for step in self.steps), checked=False)

    @cached_property
    def relates(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Each node that relates, with the nodes below that give something else where it does not."""
        found = []
        for number, node in enumerate(self.template.nodes):
            if node.kind == "relate" or (node.composite and node.composite["relate"]):
                moved = {number}
                for below, other in enumerate(self.template.nodes):
                    if moved.intersection(other.inputs):
                        moved.add(below)
                found.append((number, tuple(sorted(moved - {number}))))
        return tuple(found)


def _counts(node: Node) -> bool:
    return bool(node.composite and node.composite["end"] == "count")


def _late(template: Template) -> set[int]:
    """The nodes that give something else where a relate is left out: all that take what it gives, at once or by others,
    and a composite that has it within. Of a bare relate itself only the outcome counts."""
    found, moved = set[int](), set[int]()
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
        template, choices = self.plan.listed(self.choices)
        pairs = zip(template.nodes, choices, strict=True)
        filled = {slot: word for node, words in pairs for slot, word in zip(node.slots, words, strict=True)}
        return template.program(choices), self.given[-1], filled

    def _from(self, number: int) -> bool:
        """Whether the nodes from ``number`` on can be filled; they then are."""
        steps, given, scene = self.plan.steps, self.given, self.options.scene
        while number < len(steps):
            step = steps[number]
            node = step.node
            if node.slots:
                return self._choose(number, step)
            value = FUNCTIONS[node.kind](scene, [given[i] for i in node.inputs], ())
            if value is None:
                return False
            given[number] = value
            if step.differs and not self._differs(number, step):
                return False
            number += 1
        return self._accept()

    def _choose(self, number: int, step: Step) -> bool:
        steps = self.plan.steps
        state = (number, *[self.masks[i] if steps[i].as_set else self.given[i] for i in step.sees])
        if self.plan.checked:
            state += tuple(self._told(steps[i], self.choices[i]) for i in range(number) if steps[i].late)
        if state in self.failed:
            return False
        found = self.options.of(step.node, self.given[step.node.inputs[0]], step.empty, step.having)
        if not (self._each(number, step, found) if step.late else self._any(number, step, found)):
            self.failed.add(state)
            return False
        return True

    def _any(self, number: int, step: Step, found: Options) -> bool:
        """Choose where options lead to the same if they give the same, which is tried once."""
        left, tried = list(found.masks), set()
        while left:
            mask = left[int(self.rng.random() * len(left))]
            told = mask if step.as_set or step.convert is None else step.convert(mask)
            if told not in tried:
                if self._enter(number, step, mask):
                    self.choices[number] = self.rng.choice(found.giving(mask))
                    return True
                tried.add(told)
            left = [other for other in left if other != mask]
        return False

    def _each(self, number: int, step: Step, found: Options) -> bool:
        """Choose where it also matters what an option's words fit without its relation."""
        left = [(mask, choice) for mask, same in found.choices.items() for choice in same]
        self.rng.shuffle(left)
        tried = set()
        for mask, choice in left:
            told = (mask, *self._told(step, choice))
            if told not in tried:
                self.choices[number] = choice
                if self._enter(number, step, mask):
                    return True
                tried.add(told)
        return False

    def _told(self, step: Step, choice: Choice) -> tuple:
        """What of a choice matters where a relate above may be left out, or its own."""
        if step.node.composite is None:
            return choice
        words = choice[1:] if step.node.composite["relate"] else choice
        return *choice[: -len(words)], self.options.fitting(words)

    def _enter(self, number: int, step: Step, mask: int) -> bool:
        self.given[number] = step.convert(mask) if step.convert else mask
        self.masks[number] = mask
        return (not step.differs or self._differs(number, step)) and self._from(number + 1)

    def _differs(self, number: int, step: Step) -> bool:
        return all(self._seen(number) != self._seen(other) for other in step.differs)

    def _seen(self, number: int) -> Value:
        """What tells a node's outcome apart."""
        return self.masks[number] if self.plan.steps[number].as_set else self.given[number]

    def _accept(self) -> bool:
        if self.given[-1] not in self.accepted:
            self.frequent = True
            return False
        if self.plan.checked and self._degenerate():
            self.degenerate = True
            return False
        return True

    def _degenerate(self) -> bool:
        """What :func:`compvqa.clevr.analysis.is_degenerate` tells of the program, without making it: only what follows
        from a relate is computed again."""
        for number, below in self.plan.relates:
            values = self.given.copy()
            values[number] = self._value(number, values, related=False)
            for other in below:
                if values[number] is None:  # ill-posed, which is another answer
                    break
                number, values[other] = other, self._value(other, values)
            if values[number] == self.given[-1]:
                return True
        return False

    def _value(self, number: int, values: Sequence[Value], related: bool = True) -> Value | None:
        """What a node gives with its choice; without ``related``, where all objects stand in its relation."""
        scene, step, words = self.options.scene, self.plan.steps[number], self.choices[number]
        node = step.node
        if node.kind == "relate" and not related:
            return scene.everything
        inputs = [values[i] for i in node.inputs]
        if node.composite is None:
            return FUNCTIONS[node.kind](scene, inputs, words)
        mask = inputs[0]
        if node.composite["relate"]:
            mask = scene.relations[str(words[0])][mask] if related else scene.everything
            words = words[1:]
        mask &= self.options.fitting(words)
        return step.convert(mask) if step.convert else mask
