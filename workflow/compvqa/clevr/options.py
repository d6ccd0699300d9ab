"""What the slots of a template's node can be filled with in a scene, and what the node then gives.

The options are those of the original code: descriptions that fit objects of the scene, besides as many random ones
where a question may be about nothing, and few relations that change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from compvqa.clevr.language import GROUPS, RELATION
from compvqa.clevr.scene import Scene
from compvqa.clevr.templates import Choice, Node
from compvqa.clevr.words import Words
from compvqa.errors import InputError
from compvqa.scenes.pairs import Pair
from compvqa.seeds import generator

NOTHING = (None,) * len(GROUPS)
Described = tuple[Choice, int]  # a description, and the mask of what it fits
Drawn = tuple[list[tuple[str | None, int]], int, int]  # words with the masks of what has them; how many; and in bits
TRIVIAL = 1 / 9  # trivial options for each other one: a tenth of all


@dataclass(frozen=True)
class Options:
    """The options of a node: the mask that each gives, and what the node's slots are then filled with."""

    masks: tuple[int, ...]
    filled: tuple[Choice, ...]

    def giving(self, mask: int) -> list[Choice]:
        """The choices that give a mask."""
        return [choice for other, choice in zip(self.masks, self.filled, strict=True) if other == mask]

    @cached_property
    def choices(self) -> dict[int, list[Choice]]:
        """By mask the choices that give it."""
        found: dict[int, list[Choice]] = {}
        for mask, choice in zip(self.masks, self.filled, strict=True):
            found.setdefault(mask, []).append(choice)
        return found


class SceneOptions:
    """The options of all nodes in one scene, each computed once.

    Random ones are keyed by seed, scene, kind and input, so that they don't depend on what was asked before. No
    description has a pair of ``forbidden`` values, whether it fits an object or is drawn.
    """

    def __init__(self, scene: Scene, words: Words, seed: int, forbidden: Sequence[Pair] = ()):
        check_words(scene, words)
        self.scene, self.words, self.seed = scene, words, seed
        self.forbidden = [frozenset(pair) for pair in forbidden]
        self.described = [(words, mask) for words, mask in scene.described.items() if self._allows(words)]
        self.single = {1 << number for number in range(len(scene.objects))}
        self.all: dict[tuple[str, int, Choice], list[tuple[int, Choice]]] = {}
        self.kept: dict[tuple[str, int, tuple[bool, ...], Choice], Options] = {}

    def of(self, node: Node, given: int, empty: tuple[bool, ...], having: Choice = ()) -> Options:
        """The options of a node that is given a mask, or an object's number (relations).

        ``empty`` tells for each of the node's slots whether it has to stay empty. With ``having``, a word or None for
        each group, all its descriptions have these words, those that fit objects and those that are drawn.
        """
        key = (node.kind, given, empty, having)
        if key not in self.kept:
            self.kept[key] = self._grouped(node, given, empty, having)
        return self.kept[key]

    def fitting(self, description: Choice) -> int:
        """The mask of the objects that a description fits."""
        found = self.scene.described.get(description)
        return self.scene.fitting(description) if found is None else found

    def _allows(self, description: Choice) -> bool:
        return not any(pair <= set(description) for pair in self.forbidden)

    def _grouped(self, node: Node, given: int, empty: tuple[bool, ...], having: Choice) -> Options:
        key = (node.kind, given, having)
        if key not in self.all:
            self.all[key] = self._options(node, given, having)
        found = self.all[key]
        for place in (place for place, void in enumerate(empty) if void):
            found = [(mask, choice) for mask, choice in found if choice[place] is None]
        return Options(*zip(*found, strict=True)) if found else Options((), ())

    def _options(self, node: Node, given: int, having: Choice) -> list[tuple[int, Choice]]:
        if node.composite is None:
            return self._plain(node.kind, given)
        described = [item for item in self.described if _has(item[0], having)] if having else self.described
        if node.composite["relate"]:
            return self._related(described, given, node.composite["end"], node.kind)
        return self._filtered(described, given, node.composite["end"], node.kind, having)

    def _plain(self, kind: str, given: int) -> list[tuple[int, Choice]]:
        """Every value of the one slot of ``relate`` or of ``filter_<group>``."""
        verb, _, group = kind.partition("_")
        if verb == "relate":
            return [(masks[given], (name,)) for name, masks in self._relations()]
        having = self.scene.having[group]
        return [(given & having.get(value, 0), (value,)) for value in self.words.values[group]]

    def _relations(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(name, self.scene.relations[name]) for name in self.words.values[RELATION]]

    def _filtered(
        self, described: Sequence[Described], given: int, end: str | None, kind: str, having: Choice
    ) -> list[tuple[int, Choice]]:
        found = [(mask & given, description) for description, mask in described]
        if end is None:
            found = [(mask, description) for mask, description in found if description != NOTHING]
        single = [(mask, description) for mask, description in found if mask in self.single]
        if end == "unique":
            return single
        rng = generator(self.seed, "random descriptions", self.scene.scene_id, kind, given, *having)
        return found + self._random(rng, given, len(found) if end == "exist" else len(single), having)

    def _random(self, rng: Random, given: int, many: int, having: Choice) -> list[tuple[int, Choice]]:
        """Descriptions of which each group's value is drawn, whatever they fit; one that is forbidden is drawn anew."""
        getrandbits = rng.getrandbits  # as rng.choice draws, whose call takes three times as long
        drawn = [self._only(place, word) if word else self._drawn[place] for place, word in enumerate(having)]
        found: list[tuple[int, Choice]] = []
        while len(found) < many:
            mask, description = given, []
            for values, many_values, bits in drawn or self._drawn:
                number = getrandbits(bits)
                while number >= many_values:
                    number = getrandbits(bits)
                value, having_it = values[number]
                mask &= having_it
                description.append(value)
            if not self.forbidden or self._allows(tuple(description)):
                found.append((mask, tuple(description)))
        return found

    def _only(self, place: int, word: str) -> Drawn:
        """What is drawn for a group where it has to be a word."""
        return [(word, self.scene.having[GROUPS[place]].get(word, 0))], 1, 1

    @cached_property
    def _drawn(self) -> list[Drawn]:
        """For each group its values and none, with the masks of what has them; how many these are; and in bits."""
        found = []
        for group in GROUPS:
            having = self.scene.having[group]
            values: list[tuple[str | None, int]] = [(v, having.get(v, 0)) for v in self.words.values[group]]
            values.append((None, self.scene.everything))
            found.append((values, len(values), len(values).bit_length()))
        return found

    def _related(
        self, described: Sequence[Described], given: int, end: str | None, kind: str
    ) -> list[tuple[int, Choice]]:
        telling, trivial = [], []
        for name, masks in self._relations():
            related = masks[given]
            found = [(mask & related, mask, description) for description, mask in described]
            if end == "unique":
                found = [item for item in found if item[0] in self.single]
            elif end is None:
                found = [item for item in found if item[0]]
            telling += [(both, (name, *description)) for both, mask, description in found if both != mask]
            trivial += [(both, (name, *description)) for both, mask, description in found if both == mask]
        rng = generator(self.seed, "trivial relations", self.scene.scene_id, kind, given)
        return telling + rng.sample(trivial, min(round(len(telling) * TRIVIAL), len(trivial)))


def _has(description: Choice, having: Choice) -> bool:
    """Whether a description has all these words, each in its group's place."""
    return all(word is None or word == other for word, other in zip(having, description, strict=True))


def check_words(scene: Scene, words: Words) -> None:
    """Raise InputError where a scene has an attribute, or lacks a relation, that the words have otherwise."""
    for group in GROUPS:
        if unknown := scene.having[group].keys() - set(words.values[group]):
            raise InputError(
                f"The scene {scene.scene_id} has an object of the {group} {min(unknown)!r}, which is none of the words "
                f"for questions ({', '.join(words.values[group])}): add it to them."
            )
    if missing := set(words.values[RELATION]) - scene.relations.keys():
        raise InputError(
            f"The scene {scene.scene_id} has no direction {min(missing)!r}, which is among the words for questions: "
            "take it out, or add the direction to the scene's file."
        )
