"""The plain way to search a graph server: for each seed, one query for its subgraph, one for each node replaced, one
for each two nodes replaced, and one for each subgraph that must be absent. Without caps."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from compvqa import tables
from compvqa.graphs import shapes
from compvqa.graphs.backend import CandidateSettings
from compvqa.graphs.neo4j import cypher
from compvqa.graphs.neo4j.asking import names_read_as
from compvqa.graphs.neo4j.loading import Loaded
from compvqa.graphs.shapes import Change2, Slot
from compvqa.scenes.graph import SceneStore


class OneByOne:
    """The candidates of single seeds in one split, as ``graphs.backend.find_candidates`` says what they are."""

    def __init__(self, loaded: Loaded, scenes: Path, split: str, overlap: Path, settings: CandidateSettings):
        self._loaded, self._split, self._settings, self.queries = loaded, split, settings, 0
        table = tables.read(overlap)
        self._read_as = names_read_as(table, settings.exclusive)
        self._exclusive: dict[tuple[str, str], set[str]] = {}
        for kind, x, y, m in zip(*(table[column].to_pylist() for column in ("kind", "x", "y", "m")), strict=True):
            if x != y and m is not None and m > settings.exclusive:
                self._exclusive.setdefault((kind, x), set()).add(y)
        store = SceneStore(scenes)
        inside = (row["scene_id"] for row in store.scenes.to_pylist() if row["split"] == split)
        self._seen = {
            (graph.objects[relation.subject_id].name, relation.name, graph.objects[relation.object_id].name)
            for graph in store.graphs(inside)
            for relation in graph.relations
        }

    def candidates(self, tree: str, instances: int) -> dict[str, set[str]]:
        """The scenes of each key for a seed of the subgraph ``tree`` that its start scene holds so often."""
        shape, quoted = shapes.shape_of(tree)
        names = [json.loads(name) for name in quoted]
        roots = Counter(row["scene_id"] for row in self._ask(cypher.exact(shape), names))
        found = {"pos": set(roots)}
        if 2 <= instances <= 4:
            found["mult"] = {scene for scene, count in roots.items() if count > 1}
            found["no_mult"] = {scene for scene, count in roots.items() if count == 1}
        whole = (shape, tuple(range(len(names))))
        absent: dict[tuple, set[str]] = {}
        slots = shapes.slots(shape)
        for place, slot in enumerate(slots):
            if slot.key:
                found[slot.key] = self._distractors(shape, names, {place: slot}, whole, absent)
        for change in shapes.changes2(shape):
            if self._can_be_asked(change, names):
                both = dict(zip(change.slots, (change.first, change.second), strict=True))
                found[change.key] = self._distractors(shape, names, both, change.without, absent, change)
        return {key: scenes for key, scenes in found.items() if scenes}

    def _distractors(
        self,
        shape: str,
        names: list[str],
        free: dict[int, Slot],
        without: tuple[str, tuple[int, ...]],
        absent: dict[tuple, set[str]],
        change: Change2 | None = None,
    ) -> set[str]:
        """The scenes in which the slots ``free`` are named exclusively, and in which ``without`` can't be read."""
        wanted = {place: self._exclusive.get((slot.kind, names[place]), set()) for place, slot in free.items()}
        if not all(wanted.values()):
            return set()
        scenes = set()
        for row in self._ask(cypher.exact(shape, wanted), names):
            named = {place: row[f"s{place}"] for place in wanted}
            exclusive = all(named[place] in others for place, others in wanted.items())
            if exclusive and (not change or self._was_seen(change, names, named)):
                scenes.add(row["scene_id"])
        if scenes and without not in absent:
            absent[without] = self._readings(without[0], [names[place] for place in without[1]])
        return scenes - absent.get(without, set())

    def _readings(self, shape: str, names: list[str]) -> set[str]:
        """The scenes that contain the subgraph as named, or as it may be read."""
        kinds = [slot.kind for slot in shapes.slots(shape)]
        wide = [self._read_as.get((kind, name), [name]) for kind, name in zip(kinds, names, strict=True)]
        return {row["scene_id"] for row in self._ask(cypher.overlapping(shape), wide)}

    def _can_be_asked(self, change: Change2, names: list[str]) -> bool:
        leaves = [names[place] for place in change.leaves]
        unasked = any(names[place] in self._settings.unasked_relations for place in change.relations)
        return not unasked and len(set(leaves)) == len(leaves)

    def _was_seen(self, change: Change2, names: list[str], named: dict[int, str]) -> bool:
        """Whether the second name is one that was seen where it stands now, with the subject as asked."""
        own, new = change.slots[1], named[change.slots[1]]
        triple = tuple(new if place == own else names[place] for place in change.seen)
        return not triple or triple in self._seen

    def _ask(self, query: str, names: list) -> list[dict]:
        """The answers in the split to one query about one subgraph."""
        self.queries += 1
        row = {"id": 0} | {f"s{place}": name for place, name in enumerate(names)}
        answers = self._loaded.server.read(query, graph=self._loaded.graph, rows=[row])
        return [answer for answer in answers if answer["split"] == self._split]
