"""Easy distractors: random scenes in the place of related ones, as VBEasyDistractors was trained on (COVR, section
5.1).

Scenes that hold something a question's references refer to stay, since they make its answer; so do the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from compvqa.covr.executor import execute
from compvqa.covr.questions.references import rows
from compvqa.covr.subgraphs.subgraph import Reference
from compvqa.programs.rows import Row
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import generator

TRIED = 30  # scenes drawn for a seed
EXCLUSIVE = 0.5  # two names exclude each other if m is above this

RandomScenes = Callable[[Sequence[Reference]], Iterator[str]]  # scenes that hold none of the references


class Draws:
    """Random scenes for each seed, of its own split.

    They hold a reference in no reading of its names by what overlaps with them. Any two names may meet in a scene that
    is not searched for, so the lexicon judges them, and not the overlap table with its pairs; without a lexicon a
    name is read only as itself.
    """

    def __init__(self, store: SceneStore, lexicon: Lexicon | None, seed: int):
        self._scene, self._seed = store.graph, seed
        self._scenes: dict[str, list[str]] = {}
        for scene_id, split in zip(*(store.scenes[c].to_pylist() for c in ("scene_id", "split")), strict=True):
            self._scenes.setdefault(split, []).append(scene_id)
        self._exclusive = lru_cache(maxsize=1_000_000)(lexicon.exclusive) if lexicon else None

    def of(self, number: int, split: str) -> RandomScenes:
        """The scenes drawn for the seed of that number; they depend on nothing but the number and the split."""
        scenes = self._scenes[split]
        drawn = generator(self._seed, "random scenes", number).sample(scenes, min(TRIED, len(scenes)))
        held = lru_cache(maxsize=None)(self._held)
        return lambda references: (s for s in drawn if not any(held(g, s) for g in references))

    def _held(self, g: Reference, scene_id: str) -> bool:
        scene = self._scene(scene_id)
        program = rows(g)
        program.append(Row("Exists", (), (len(program) - 1,)))
        return bool(execute(program, [scene], _ReadAs(scene, self._may_be)))

    def _may_be(self, kind: str, name: str, found: str) -> bool:
        return name == found or (self._exclusive is not None and self._exclusive(kind, name, found) <= EXCLUSIVE)


class _ReadAs:
    """What the executor asks of a lexicon: the names of one scene that may be read as another name."""

    def __init__(self, scene: SceneGraph, may_be: Callable[[str, str, str], bool]):
        self._may_be = may_be
        attributes = {name for item in scene.objects.values() for name in item.attributes}
        self._names = {"noun": scene.by_name, "attribute": attributes, "relation": scene.by_relation}

    def entailed(self, kind: str, name: str) -> frozenset[str]:
        return frozenset(found for found in self._names[kind] if self._may_be(kind, name, found))
