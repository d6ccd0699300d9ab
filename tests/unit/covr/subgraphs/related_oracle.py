"""Related scenes by nested loops over objects: the plain reading of section 3.2 of COVR.

A subgraph is laid on the objects of a scene, node by node, and what differs is written down. It shares no
code with the search: of the package it takes only scenes in memory and the classes of a subgraph's tree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations

from compvqa.covr.subgraphs.subgraph import Edge, Subgraph, make
from compvqa.scenes.graph import SceneGraph

SUFFIX = {"noun": "name", "attribute": "attr", "relation": "relation"}


@dataclass(frozen=True)
class Change:
    """A node of a subgraph whose name is another one in the scene."""

    node: int
    kind: str  # noun, attribute or relation
    own: str
    found: str

    @property
    def key(self) -> str:
        return f"{self.node}_{SUFFIX[self.kind]}"


Changes = tuple[Change, ...]
Judge = Callable[[Changes], bool]
Found = tuple[tuple[int, ...], tuple[str, ...]]  # nodes and names of a related row
Related = dict[str, dict[str, set[Found]]]  # key -> scene -> all that the row may report


@dataclass(frozen=True)
class Laid:
    """A part of a subgraph on a scene: what differs, the objects under it and all their nouns."""

    changes: Changes
    objects: frozenset[str]  # those of modifiers left out
    nouns: frozenset[str]


def lay(scene: SceneGraph, g: Subgraph, where: str, good: Judge, at: int = 0) -> Iterator[Laid]:
    """Each way to lay ``g``, whose root has number ``at``, with its root on the object ``where``.

    ``good`` judges the changes so far; what it refuses is not followed. The grammar holds for what is found: no
    noun comes twice on the way, and two branches share no object.
    """
    thing = scene.objects[where]
    own = _change(at, "noun", g.name, thing.name)
    if g.attribute is None:
        starts = [own]
    else:
        starts = [own + _change(at, "attribute", g.attribute, name) for name in thing.attributes]
    laid = [Laid(changes, frozenset(), frozenset()) for changes in starts if good(changes)]
    for number, edge in g.numbered_edges():
        laid = [
            Laid(before.changes + below.changes, before.objects | below.objects, before.nouns | below.nouns)
            for before in laid
            for below in _lay_edge(scene, edge, where, good, at + number)
            if thing.name not in below.nouns
            if not before.objects & below.objects
            if good(before.changes + below.changes)
        ]
    for below in laid:
        yield Laid(below.changes, below.objects | {where}, below.nouns | {thing.name})


def _lay_edge(scene: SceneGraph, edge: Edge, subject: str, good: Judge, number: int) -> Iterator[Laid]:
    """Each way to lay a relation, its target and its modifiers, on a relation of the object ``subject``."""
    first_modifier = number + 1 + edge.target.size
    for relation in scene.relations:
        own = _change(number, "relation", edge.name, relation.name)
        if relation.subject_id != subject or not good(own):
            continue
        for chosen in permutations(relation.modifiers, len(edge.modifiers)):
            if [name for name, _ in chosen] != [modifier.name for modifier in edge.modifiers]:
                continue
            nouns = [scene.objects[where].name for _, where in chosen]
            changes = own
            for place, (modifier, noun) in enumerate(zip(edge.modifiers, nouns, strict=True)):
                changes += _change(first_modifier + 2 * place + 1, "noun", modifier.noun, noun)
            for below in lay(scene, edge.target, relation.object_id, good, number + 1):
                if good(changes + below.changes):
                    yield Laid(changes + below.changes, below.objects, below.nouns.union(nouns))


def _change(node: int, kind: str, own: str, found: str) -> Changes:
    return () if own == found else (Change(node, kind, own, found),)


def instances(scene: SceneGraph, g: Subgraph) -> list[str]:
    """The ids of the objects that ``g`` refers to."""
    return [where for where in scene.objects if any(lay(scene, g, where, lambda changes: not changes))]


class World:
    """Scenes of both splits, and what is known of the overlap of names.

    ``overlap`` holds m(x, y) by (kind, x, y); two names exclude each other if it is known and above the threshold,
    and overlap if it is known and not above it.
    """

    def __init__(
        self,
        scenes: Iterable[SceneGraph],
        split_of: Callable[[str], str],
        overlap: dict[tuple[str, str, str], float],
        threshold: float = 0.5,
    ):
        self.scenes = {scene.scene_id: scene for scene in scenes}
        # by split: a subject's noun, relation and object's noun; a relation, modifier and noun
        self.seen: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
        self.holding: dict[tuple[str, tuple[str, str]], list[str]] = defaultdict(list)  # scenes by split and name
        for scene in self.scenes.values():
            split = split_of(scene.scene_id)
            for name in _names(scene):
                self.holding[split, name].append(scene.scene_id)
            for r in scene.relations:
                self.seen[split].add((scene.objects[r.subject_id].name, r.name, scene.objects[r.object_id].name))
                self.seen[split] |= {(r.name, name, scene.objects[where].name) for name, where in r.modifiers}
        self.overlap, self.threshold = overlap, threshold

    def exclusive(self, change: Change) -> bool:
        return self.overlap.get((change.kind, change.own, change.found), 0.0) > self.threshold

    def overlapping(self, change: Change) -> bool:
        return self.overlap.get((change.kind, change.own, change.found), 1.0) <= self.threshold

    def reads(self, scene: SceneGraph, g: Subgraph) -> bool:
        """Whether the scene contains ``g``, each name of it read as itself or as one that overlaps with it."""

        def good(changes: Changes) -> bool:
            return all(map(self.overlapping, changes))

        return any(any(lay(scene, g, where, good)) for where in scene.objects)

    def changed(self, scene: SceneGraph, g: Subgraph) -> set[Changes]:
        """The sets of one or two exclusive changes with which the scene contains ``g``."""

        def good(changes: Changes) -> bool:
            return len(changes) <= most_changes(g) and all(map(self.exclusive, changes))

        return {
            tuple(sorted(laid.changes, key=lambda change: (change.node, change.kind)))
            for where in scene.objects
            for laid in lay(scene, g, where, good)
            if laid.changes
        }

    def near(self, g: Subgraph, split: str) -> list[SceneGraph]:
        """The scenes of ``split`` with all names of ``g`` but as many as may change: in no other is anything found.

        At least one name of a seed stays, since it has an attribute or a relation.
        """
        names = _names_of(g)
        there = Counter(scene_id for name in names for scene_id in self.holding[split, name])
        return [self.scenes[scene_id] for scene_id, n in there.items() if n >= len(names) - most_changes(g)]

    def related(self, g: Subgraph, split: str, n_instances: int) -> Related:
        """The scenes of ``split`` related to a seed of ``g`` that its start scene has ``n_instances`` of."""
        result: Related = defaultdict(lambda: defaultdict(set))
        for scene in self.near(g, split):
            there = len(instances(scene, g))
            for key, holds in (
                ("pos", there > 0),
                ("no_mult", 2 <= n_instances <= 4 and there == 1),
                ("mult", 2 <= n_instances <= 4 and there >= 2),
            ):
                if holds:
                    result[key][scene.scene_id].add(((), ()))
            absent: dict[Subgraph, bool] = {}
            for changes in self.changed(scene, g):
                for key, found, never in self.keys(g, changes, split):
                    if never not in absent:
                        absent[never] = not self.reads(scene, never)
                    if absent[never]:
                        result[key][scene.scene_id].add(found)
        return result

    def keys(self, g: Subgraph, changes: Changes, split: str) -> Iterator[tuple[str, Found, Subgraph]]:
        """The keys that these changes of ``g`` belong to: key, what its row reports, what must not be read there."""
        if len(changes) == 1:
            (change,) = changes
            yield change.key, _found(change), g
            return
        for first, second in permutations(changes):
            if second.kind == "attribute" and second.node == 0 and g.edges:
                yield f"{first.key}_neg_attr_root", _found(first, second), make(g.name, None, g.edges)
            for leaf in leaves(g):
                if (
                    second.kind == "noun"
                    and second.node == leaf.node + 1
                    and (leaf.subject, leaf.name, second.found) in self.seen[split]
                    and not any(node.attribute for place, node in g.objects() if place)
                    and first.kind == "noun"
                    and first.node not in leaf.inside
                ):
                    yield f"{first.key}_neg_object_{second.node}", _found(first, second), leaf.rest
                if (
                    leaf.alone is not None
                    and second.kind == "relation"
                    and second.node == leaf.node
                    and (leaf.subject, second.found, leaf.noun) in self.seen[split]
                    and first.key in leaf.told_by
                ):
                    yield f"{first.key}_neg_relation_{leaf.node}", _found(first, second), leaf.alone


def most_changes(g: Subgraph) -> int:
    """How many nodes may differ: the kinds of two need a relation."""
    return 2 if g.edges else 1


@dataclass(frozen=True)
class Leaf:
    """A triplet at an end of a subgraph: the noun or relation that has it, its name, what it leads to; what is left of
    the subgraph without it, and without all beside it, which is None where its name is not asked for."""

    node: int  # of the relation or modifier
    inside: range
    subject: str
    name: str
    noun: str
    rest: Subgraph
    alone: Subgraph | None = None
    told_by: tuple[str, ...] = ()  # keys of what tells who has it


def leaves(g: Subgraph) -> list[Leaf]:
    """The triplets that a question may ask about alone: none if a relation is "of", or beside one of the same name."""
    if any(edge.name == "of" for _, node in g.objects() for edge in node.edges):
        return []
    found = [_leaves_of(g, number, edge) for number, edge in g.numbered_edges()]
    found.append([_root_leaf(g, number, edge) for number, edge in g.numbered_edges() if not edge.target.edges])
    return [
        leaf for beside in found for leaf in beside if len({other.name for other in beside}) == len(beside)
    ] + _inner_leaves(g)


def _root_leaf(g: Subgraph, number: int, edge: Edge) -> Leaf:
    rest = make(g.name, g.attribute, tuple(other for other in g.edges if other is not edge))
    inside = range(number, number + 1 + edge.target.size + 2 * len(edge.modifiers))
    told_by = ("0_name", "0_attr")
    return Leaf(number, inside, g.name, edge.name, edge.target.name, rest, make(g.name, g.attribute), told_by)


def _leaves_of(g: Subgraph, number: int, edge: Edge) -> list[Leaf]:
    """The modifiers of a relation of the root."""
    found = []
    for place, modifier in enumerate(edge.modifiers):
        node = number + 1 + edge.target.size + 2 * place
        less = Edge(edge.name, edge.target, tuple(other for other in edge.modifiers if other is not modifier))
        rest = make(g.name, g.attribute, tuple(less if other is edge else other for other in g.edges))
        found.append(Leaf(node, range(node, node + 2), edge.name, modifier.name, modifier.noun, rest))
    return found


def _inner_leaves(g: Subgraph) -> list[Leaf]:
    """The relations of the object that a root of one relation leads to."""
    if len(g.edges) != 1:
        return []
    [edge] = g.edges
    inner = edge.target
    found = []
    for number, leaf in inner.numbered_edges():
        of_inner = _root_leaf(inner, number, leaf)
        rest, alone = (
            make(g.name, g.attribute, (Edge(edge.name, part, edge.modifiers),))
            for part in (of_inner.rest, make(inner.name, inner.attribute))
        )
        inside = range(of_inner.inside.start + 2, of_inner.inside.stop + 2)
        told_by = ("0_name", "0_attr", "2_name")
        found.append(Leaf(number + 2, inside, inner.name, leaf.name, leaf.target.name, rest, alone, told_by))
    return found if len({leaf.name for leaf in found}) == len(found) else []


def kind_of(key: str) -> str:
    """A key without its numbers, to count by: ``0_name_neg_object_2`` is ``name_neg_object``."""
    return "_".join(part for part in key.split("_") if not part.isdigit())


def _found(*changes: Change) -> Found:
    return tuple(change.node for change in changes), tuple(change.found for change in changes)


def _names(scene: SceneGraph) -> set[tuple[str, str]]:
    result = {("relation", relation.name) for relation in scene.relations}
    for thing in scene.objects.values():
        result |= {("noun", thing.name), *(("attribute", name) for name in thing.attributes)}
    return result


def _names_of(g: Subgraph) -> set[tuple[str, str]]:
    result = set()
    for _, node in g.objects():
        result |= {("noun", node.name)} | ({("attribute", node.attribute)} if node.attribute else set())
        for edge in node.edges:
            result |= {("relation", edge.name), *(("noun", modifier.noun) for modifier in edge.modifiers)}
    return result
