"""The search of the original code with its very draws: all of one stream, in the original's order.

Given Python's ``random`` with the same seed, the same scenes and the same templates, it finds the questions that
Johnson et al.'s generator finds. Nothing can be skipped, since whatever is tried draws, and nothing runs in parallel:
it is ten times slower than :mod:`compvqa.clevr.search`. One thing is not the original's: a filter takes the objects
that have the attribute, not also those that have one of which it is a part of the name.
"""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from dataclasses import dataclass

from compvqa.clevr.analysis import is_degenerate
from compvqa.clevr.executor import FUNCTIONS, Value
from compvqa.clevr.language import GROUPS, OBJECT, OBJECTS, OPERATORS
from compvqa.clevr.options import NOTHING, TRIVIAL, check_words
from compvqa.clevr.scene import Scene
from compvqa.clevr.search import Plan
from compvqa.clevr.templates import Choice, Node, Template
from compvqa.clevr.words import Words
from compvqa.errors import InputError
from compvqa.programs.rows import Row

FRESH: Choice = ()  # a description that is drawn when its turn comes


class SceneChoices:
    """What nodes can be filled with in one scene, in the original's order; ``relations``: their order in its file."""

    def __init__(self, scene: Scene, words: Words, relations: Sequence[str] = ()):
        check_words(scene, words)
        self.scene, self.words = scene, words
        names = [name for name in relations or scene.relations if name in scene.relations]
        self.relations = {name: scene.relations[name] for name in names}
        self.fresh = [(*words.values[group], None) for group in GROUPS]
        self.known: dict[tuple[str, int], tuple[list[Choice], list[Choice]]] = {}

    def drawn(self, node: Node, given: int, rng: random.Random) -> list[Choice]:
        """The choices of a node in a random order; ``given`` is the mask, or the object's number, right above it."""
        if node.composite is None:
            found: list[Choice] = [(word,) for word in self.words.values[node.kind.partition("_")[2] or "relation"]]
        else:
            key = (node.kind, given)
            if key not in self.known:
                make = self._related if node.composite["relate"] else self._filtered
                self.known[key] = make(given, node.composite["end"])
            certain, trivial = self.known[key]
            trivial = trivial.copy()
            if node.composite["relate"]:
                rng.shuffle(trivial)
                trivial = trivial[: round(len(certain) * TRIVIAL)]
            found = certain + trivial
        rng.shuffle(found)
        return found

    def description(self, rng: random.Random) -> Choice:
        """One of all descriptions, whether or not anything fits it."""
        return tuple([rng.choice(words) for words in self.fresh])

    def _filtered(self, given: int, end: str | None) -> tuple[list[Choice], list[Choice]]:
        found = {choice: mask & given for choice, mask in self.scene.described.items()}
        if end is None:
            found.pop(NOTHING, None)
        single = [choice for choice, mask in found.items() if mask.bit_count() == 1]
        if end == "unique":
            return single, []
        return list(found), [FRESH] * len(found if end == "exist" else single)

    def _related(self, given: int, end: str | None) -> tuple[list[Choice], list[Choice]]:
        telling: list[Choice] = []
        trivial: list[Choice] = []
        for name, related in self.relations.items():
            for choice, mask in self.scene.described.items():
                both = mask & related[given]
                if both.bit_count() == 1 if end == "unique" else both or end:
                    (trivial if both == mask else telling).append((name, *choice))
        return telling, trivial


@dataclass
class InOrder:
    """One search in the original's order; its fields and what it gives are those of ``search.Search``."""

    plan: Plan
    options: SceneChoices
    accepted: Container[Value]
    rng: random.Random
    frequent: bool = False
    degenerate: bool = False

    def run(self) -> tuple[list[Row], Value, dict[str, str | None]] | None:
        """A question's program, its answer and what its slots are filled with; None where the scene has none."""
        nodes, steps, rng = self.plan.template.nodes, self.plan.steps, self.rng
        waiting: list[tuple[tuple[Value, ...], tuple[Choice, ...], Choice]] = [((), (), ())]
        while waiting:
            given, choices, choice = waiting.pop()
            number = len(given)
            value = self._value(nodes[number], given, choice)
            if value is None:
                continue
            given, choices = (*given, value), (*choices, choice)
            if any(self._same(given, choices, number, other) for other in steps[number].differs):
                continue
            number += 1
            if number == len(nodes):
                if program := self._accepted(given[-1], choices):
                    pairs = zip(nodes, choices, strict=True)
                    filled = {s: word for node, words in pairs for s, word in zip(node.slots, words, strict=True)}
                    return program, given[-1], filled
            elif not nodes[number].slots:
                waiting.append((given, choices, ()))
            else:
                empty = [place for place, void in enumerate(steps[number].empty) if void]
                for option in self.options.drawn(nodes[number], given[-1], rng):
                    option = option or self.options.description(rng)
                    if all(option[place] is None for place in empty):
                        waiting.append((given, choices, option))
        return None

    def _value(self, node: Node, given: Sequence[Value], choice: Choice) -> Value | None:
        """What a node gives; None where it is ill-posed."""
        scene, inputs = self.options.scene, [given[i] for i in node.inputs]
        if node.composite is None:
            return FUNCTIONS[node.kind](scene, inputs, choice)
        mask, words = inputs[0], choice
        if node.composite["relate"]:
            mask, words = scene.relations[choice[0] or ""][mask], choice[1:]
        end = node.composite["end"]
        if not end and words == choice == NOTHING:
            return given[-1]
        mask &= self._fitting(words)
        return FUNCTIONS[end](scene, [mask], ()) if end else mask

    def _fitting(self, words: Choice) -> int:
        known = self.options.scene.described.get(words)
        return self.options.scene.fitting(words) if known is None else known

    def _same(self, given: Sequence[Value], choices: Sequence[Choice], one: int, other: int) -> bool:
        """Whether two nodes give the same; where counts differ as sets, what they count."""
        if self.plan.steps[one].as_set:
            return self._counted(given, choices, one) == self._counted(given, choices, other)
        return given[one] == given[other]

    def _counted(self, given: Sequence[Value], choices: Sequence[Choice], number: int) -> Value | None:
        node = self.plan.template.nodes[number]
        bare = Node(node.kind.removesuffix("_count"), node.inputs, node.slots)
        return self._value(bare, given[:number], choices[number])

    def _accepted(self, answer: Value, choices: Sequence[Choice]) -> list[Row] | None:
        if answer not in self.accepted:
            self.frequent = True
            return None
        program = self.plan.template.program(choices, last=True)
        if self.plan.checked and is_degenerate(program, self.options.scene, answer):
            self.degenerate = True
            return None
        return program


def check_order(template: Template) -> None:
    """Raise InputError where the original code cannot search by a template: it takes a composite's objects, and the
    row that ends it, from the node right above, whatever the template says."""
    kinds = [OPERATORS[_last(node)].output for node in template.nodes]
    for number, node in enumerate(template.nodes):
        if node.composite is None or node.inputs[0] == number - 1:
            continue
        if node.composite["end"] or kinds[number - 1] != (OBJECT if node.composite["relate"] else OBJECTS):
            raise InputError(
                f"Node {number} of the template {template.name}, {node.kind}, does not take the node right above it, "
                "which the original code cannot do: use mode keyed, or put the two together."
            )


def _last(node: Node) -> str:
    """The function of a node's last row."""
    if node.composite is None:
        return node.kind
    return node.composite["end"] or f"filter_{GROUPS[0]}"
