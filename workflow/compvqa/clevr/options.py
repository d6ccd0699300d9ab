"""What the slots of a template's node can be filled with in a scene, and what the node then gives.

The options are those of the original code: descriptions that fit objects of the scene, besides as many random ones
where a question may be about nothing, and few relations that change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from compvqa.clevr.language import GROUPS, RELATION
from compvqa.clevr.scene import Scene
from compvqa.clevr.templates import Choice, Node
from compvqa.clevr.words import Words
from compvqa.errors import InputError
from compvqa.seeds import generator

NOTHING = (None,) * len(GROUPS)
TRIVIAL = 1 / 9  # trivial options for each other one: a tenth of all


@dataclass(frozen=True)
class Options:
    """The options of a node: the mask that each gives, and by mask the choices that give it."""

    masks: tuple[int, ...]  # one an option
    choices: dict[int, list[Choice]]


class SceneOptions:
    """The options of all nodes in one scene, each computed once.

    Random ones are keyed by seed, scene, kind and input, so that they don't depend on what was asked before.
    """

    def __init__(self, scene: Scene, words: Words, seed: int):
        self.scene, self.words, self.seed = scene, words, seed
        self.all: dict[tuple[str, int], list[tuple[int, Choice]]] = {}
        self.kept: dict[tuple[str, int, tuple[bool, ...]], Options] = {}
        check_words(scene, words)

    def of(self, node: Node, given: int, empty: tuple[bool, ...]) -> Options:
        """The options of a node that is given a mask, or an object's number (relations).

        ``empty`` tells for each of the node's slots whether it has to stay empty.
        """
        key = (node.kind, given, empty)
        if key not in self.kept:
            self.kept[key] = self._grouped(node, given, empty)
        return self.kept[key]

    def _grouped(self, node: Node, given: int, empty: tuple[bool, ...]) -> Options:
        key = (node.kind, given)
        if key not in self.all:
            self.all[key] = self._options(node, given)
        found = self.all[key]
        for place in (place for place, void in enumerate(empty) if void):
            found = [(mask, choice) for mask, choice in found if choice[place] is None]
        choices: dict[int, list[Choice]] = {}
        for mask, choice in found:
            choices.setdefault(mask, []).append(choice)
        return Options(tuple(mask for mask, _ in found), choices)

    def _options(self, node: Node, given: int) -> list[tuple[int, Choice]]:
        if node.composite is None:
            return self._plain(node.kind, given)
        if node.composite["relate"]:
            return self._related(given, node.composite["end"], node.kind)
        return self._filtered(given, node.composite["end"], node.kind)

    def _plain(self, kind: str, given: int) -> list[tuple[int, Choice]]:
        """Every value of the one slot of ``relate`` or of ``filter_<group>``."""
        verb, _, group = kind.partition("_")
        if verb == "relate":
            return [(masks[given], (name,)) for name, masks in self._relations()]
        having = self.scene.having[group]
        return [(given & having.get(value, 0), (value,)) for value in self.words.values[group]]

    def _relations(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(name, self.scene.relations[name]) for name in self.words.values[RELATION]]

    def _filtered(self, given: int, end: str | None, kind: str) -> list[tuple[int, Choice]]:
        found = [(mask & given, description) for description, mask in self.scene.described.items()]
        if end is None:
            found = [(mask, description) for mask, description in found if description != NOTHING]
        single = [(mask, description) for mask, description in found if mask.bit_count() == 1]
        if end == "unique":
            return single
        rng = generator(self.seed, "random descriptions", self.scene.scene_id, kind, given)
        for _ in range(len(found) if end == "exist" else len(single)):
            values = ((*self.words.values[group], None) for group in GROUPS)
            description = tuple(rng.choice(words) for words in values)
            found.append((given & self.scene.fitting(description), description))
        return found

    def _related(self, given: int, end: str | None, kind: str) -> list[tuple[int, Choice]]:
        telling: list[tuple[int, Choice]] = []
        trivial: list[tuple[int, Choice]] = []
        for name, related in self._relations():
            for description, mask in self.scene.described.items():
                both = mask & related[given]
                if both.bit_count() == 1 if end == "unique" else both or end:
                    (trivial if both == mask else telling).append((both, (name, *description)))
        rng = generator(self.seed, "trivial relations", self.scene.scene_id, kind, given)
        return telling + rng.sample(trivial, min(round(len(telling) * TRIVIAL), len(trivial)))


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
