"""A seed as templates see it: its subgraph, its related scenes, and how to choose images among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from itertools import cycle, islice, zip_longest
from typing import NamedTuple

from compvqa.covr.executor import Value
from compvqa.covr.questions.easy import RandomScenes
from compvqa.covr.questions.readings import Readings
from compvqa.covr.questions.references import in_distractor, matches, unclear
from compvqa.covr.questions.templates import Template, Variant, Wording
from compvqa.covr.subgraphs.simple import closest_subgraphs
from compvqa.covr.subgraphs.subgraph import Reference, Subgraph
from compvqa.scenes.graph import SceneGraph
from compvqa.seeds import shuffle

Others = Callable[[str, Subgraph], bool]
FEWEST_IMAGES, MOST_IMAGES = 2, 5
RANDOM_SCENES = 10  # for the questions about the same references, at most
REFERENCES, SCENES = 4_000, 10_000  # of which it is remembered what they refer to, and of each in how many scenes
MULTI = range(2, 5)  # instances in the start scene of a multi seed


class Negative(NamedTuple):
    """A distractor scene, the nodes that differ there (for an attribute, its object), the names found."""

    scene_id: str
    nodes: tuple[int, ...]
    names: tuple[str, ...]


class Draft(NamedTuple):
    """A question to be checked: on ``scenes`` its program must answer, and answer ``wanted`` where given."""

    wording: Wording
    scenes: list[str]
    wanted: Value | None = None


class Dropped(NamedTuple):
    """A question, or the other answer of a pair, that could not be made."""

    reason: str


@dataclass(frozen=True)
class Pool:
    """The scenes a variant may choose from: positives (the start scene first), negatives by key.

    ``multiples`` are the scenes with several instances (the start scene first), which only multi seeds have.
    """

    positives: list[str]
    multiples: list[str]
    negatives: dict[str, list[Negative]]

    def scenes(self, keep: Callable[[str], bool]) -> dict[str, list[str]]:
        """The negative scenes that ``keep`` takes, by key."""
        return {
            key: [negative.scene_id for negative in found if keep(negative.scene_id)]
            for key, found in self.negatives.items()
        }


class Numbers(dict[str, int]):
    """How many objects a reference refers to in a scene, by the scene's id, found when first asked for."""

    def __init__(self, g: Reference, scene: Callable[[str], SceneGraph]):
        super().__init__()
        self._g, self._scene = g, scene

    def __missing__(self, scene_id: str) -> int:
        if len(self) == SCENES:
            self.clear()
        found = self[scene_id] = len(matches(self._scene(scene_id), self._g))
        return found


class Clarity(dict[str, bool]):
    """Whether a reference refers to as many objects of a scene if its names are read otherwise, by the scene's id."""

    def __init__(self, g: Reference, scene: Callable[[str], SceneGraph], numbers: Numbers, readings: Readings):
        super().__init__()
        self._g, self._scene, self._numbers, self._readings = g, scene, numbers, readings
        self._others = readings.read_as(g)

    def __missing__(self, scene_id: str) -> bool:
        if len(self) == SCENES:
            self.clear()
        scene = self._scene(scene_id)
        found = self[scene_id] = (
            self._others.isdisjoint(scene.names)
            or len(matches(scene, self._g, self._readings)) == self._numbers[scene_id]
        )
        return found


class Memory:
    """What was found of references in scenes, kept for the seeds to come: of those asked for last."""

    def __init__(self, scene: Callable[[str], SceneGraph], readings: Readings | None = None):
        self._scene, self._readings = scene, readings
        self.numbers: Callable[[Reference], Numbers] = lru_cache(maxsize=REFERENCES)(self._numbers)
        self.clarity: Callable[[Reference], Clarity | None] = lru_cache(maxsize=REFERENCES)(self._clarity)

    def _numbers(self, g: Reference) -> Numbers:
        return Numbers(g, self._scene)

    def _clarity(self, g: Reference) -> Clarity | None:
        """None: its names have no other reading."""
        if self._readings is None or not self._readings.read_as(g):
            return None
        return Clarity(g, self._scene, self.numbers(g), self._readings)


class Seed:
    """One seed with its related scenes.

    ``others(scene_id, part)`` is the "others exist" check (App. B): whether the scene's image seems
    to hold more instances of a simple subgraph than are annotated. None: there are no scores to ask.
    ``random_scenes(references)`` gives scenes without them, to stand in the place of distractors; None: these stay.
    ``memory`` is what was found before; with readings, scenes where another reading of a reference's names makes a
    difference are left out.
    """

    def __init__(
        self,
        number: int,
        graph: Subgraph,
        scene_id: str,
        n_instances: int,
        positives: Iterable[str],
        negatives: Mapping[str, Sequence[Negative]],
        scene: Callable[[str], SceneGraph],
        others: Others | None = None,
        multiples: Iterable[str] = (),
        random_scenes: RandomScenes | None = None,
        memory: Memory | None = None,
    ):
        self.number, self.graph, self.scene_id, self.n_instances = number, graph, scene_id, n_instances
        self.multi = n_instances in MULTI
        self.positives = list(dict.fromkeys([scene_id, *positives]))
        self.multiples = list(dict.fromkeys([scene_id, *multiples])) if self.multi else []
        self.negatives = {key: list(negatives[key]) for key in sorted(negatives) if negatives[key]}
        self.scene = scene
        self._others, self._random_scenes = others, random_scenes
        self._memory = memory or Memory(scene)
        self._pools: dict[tuple, Pool] = {}

    def numbers(self, g: Reference) -> Numbers:
        """By scene the number of objects that ``g`` refers to."""
        return self._memory.numbers(g)

    def values(self, g: Reference, scene_id: str, group: str) -> list[str | None]:
        """The attribute of the group that each object ``g`` refers to in the scene has, None where not just one."""
        scene = self.scene(scene_id)
        found = [
            [name for name, of in scene.objects[item].attributes.items() if of == group] for item in matches(scene, g)
        ]
        return [names[0] if len(names) == 1 else None for names in found]

    def found_in(self, key: str, negative: Negative) -> Subgraph:
        """The subgraph that a distractor was chosen for: the seed's with the names found there."""
        return _in_distractor(self.graph, key, negative.nodes, negative.names)

    @cached_property
    def group(self) -> str | None:
        """The group of the root's attribute, as annotated in the start scene."""
        scene = self.scene(self.scene_id)
        found = matches(scene, self.graph)
        attribute = self.graph.attribute
        return scene.objects[found[0]].attributes[attribute] if found and attribute else None

    @cached_property
    def unclear(self) -> str | None:
        """Why no template should ask about the subgraph, if so."""
        return unclear(self.graph)

    def has_keys(self, patterns: tuple[str, ...]) -> bool:
        """Whether there is a distractor whose key fits one of the patterns."""
        return any(fits(key, patterns) for key in self.negatives)

    def pool(self, template: Template, variant: Variant, references: Sequence[Reference]) -> Pool:
        """The scenes that ``variant`` may use for questions about ``references``.

        With easy distractors, random scenes stand for those negatives that hold nothing the references refer to.
        Left out are scenes where the references refer to other objects if their names are read otherwise. Where the
        "others exist" check is asked for, a scene fails it if it does for all simple subgraphs that say most
        of what a reference refers to.
        """
        place = (template.forbid, variant.others_exist, tuple(references))
        if place not in self._pools:
            self._pools[place] = self._pool(template.forbid, variant.others_exist, references)
        return self._pools[place]

    def _pool(self, forbid: tuple[str, ...], others_exist: bool, references: Sequence[Reference]) -> Pool:
        others = self._others
        asked = references if others_exist and others else ()
        simple = [closest_subgraphs(g if isinstance(g, Subgraph) else g.whole) for g in asked]
        clarity = [found for found in map(self._memory.clarity, references) if found is not None]
        random_scenes = self._random_scenes
        negatives = self.negatives if random_scenes is None else self._easy(references, random_scenes)
        dealt = {key: found for key, found in negatives.items() if not fits(key, forbid)}
        if not simple and not clarity:
            return Pool(self.positives, self.multiples, dealt)
        distractors = (negative.scene_id for found in dealt.values() for negative in found)
        scenes = list(dict.fromkeys([*self.positives, *self.multiples, *distractors]))
        if others is not None and simple:
            # lists, so that all are asked whatever the answers are: what is asked can be told before
            scenes = [s for s in scenes if not any([all([others(s, part) for part in parts]) for parts in simple])]
        for clear in clarity:
            scenes = [scene_id for scene_id in scenes if clear[scene_id]]
        left = set(scenes)
        return Pool(
            [scene_id for scene_id in self.positives if scene_id in left],
            [scene_id for scene_id in self.multiples if scene_id in left],
            {key: [negative for negative in found if negative.scene_id in left] for key, found in dealt.items()},
        )

    def _easy(self, references: Sequence[Reference], random_scenes: RandomScenes) -> dict[str, list[Negative]]:
        """The negatives; where no reference refers to anything, in another scene: a random one, none of the seed's.

        Each keeps its key and names, so that the same is asked as with related distractors.
        """
        negatives = [(key, negative) for key, found in self.negatives.items() for negative in found]
        own = {*self.positives, *self.multiples, *(negative.scene_id for _, negative in negatives)}
        numbers = [self.numbers(g) for g in references]
        asked = {scene_id for scene_id in own if any(number[scene_id] for number in numbers)}
        fillers = dict.fromkeys(negative.scene_id for _, negative in negatives if negative.scene_id not in asked)
        others = (scene_id for scene_id in random_scenes(references) if scene_id not in own)
        drawn = islice(others, min(RANDOM_SCENES, len(fillers)))
        scenes = {scene_id: scene_id for scene_id in asked} | dict(zip(fillers, cycle(drawn), strict=False))
        result: dict[str, list[Negative]] = {}
        for key, negative in negatives:
            if negative.scene_id in scenes:
                result.setdefault(key, []).append(negative._replace(scene_id=scenes[negative.scene_id]))
        return result


_in_distractor = lru_cache(maxsize=20_000)(in_distractor)  # seeds of one subgraph have distractors in common


@lru_cache(maxsize=100_000)
def fits(key: str, patterns: tuple[str, ...]) -> bool:
    """Whether a negative key fits one of the patterns (``*`` stands for anything)."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def choose(
    rng: random.Random,
    positives: Sequence[str],
    negatives: Mapping[str, Sequence[str]],
    fewest: int = 1,
    most: int = MOST_IMAGES,
    prefer: tuple[str, ...] = (),
) -> list[str]:
    """A shuffled set of at most five distinct scenes (COVR, section 3.3).

    The number of positives is drawn between ``fewest`` and ``most`` as far as there are any; the first given
    is always among them. Negatives fill what is left, dealt evenly over their keys; the keys that fit
    ``prefer`` are dealt first, and where there is such a key one place is kept for it.
    """
    n = rng.randint(min(fewest, len(positives)), min(most, len(positives)))
    wanted = [key for key in negatives if negatives[key] and fits(key, prefer)] if prefer else []
    if wanted and n == MOST_IMAGES:
        n -= 1
    rest = list(positives[1:])
    shuffle(rng, rest)
    chosen = [*positives[:1], *rest][:n]
    _fill(chosen, _hands(rng, negatives, wanted))
    shuffle(rng, chosen)
    return chosen


def _fill(chosen: list[str], hands: Sequence[Sequence[str]]) -> None:
    """Append scenes, each once: a round takes one of each hand, until there are five."""
    free = MOST_IMAGES - len(chosen)
    for round_ in zip_longest(*hands):
        for scene_id in round_:
            if not free:
                return
            if scene_id is not None and scene_id not in chosen:
                chosen.append(scene_id)
                free -= 1


def _hands(rng: random.Random, negatives: Mapping[str, Sequence[str]], first: Sequence[str]) -> list[list[str]]:
    """The negatives of each key, shuffled; the keys of ``first`` come before the others."""
    early, late = list(first), [key for key in negatives if key not in first]
    shuffle(rng, early)
    shuffle(rng, late)
    hands = [list(negatives[key]) for key in early + late if negatives[key]]
    for hand in hands:
        if len(hand) > 1:
            shuffle(rng, hand)
    return hands
