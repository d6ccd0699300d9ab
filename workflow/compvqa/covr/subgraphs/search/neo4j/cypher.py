"""Cypher for subgraphs of one shape: the text depends on the shape alone, all names are parameters or results.

Objects of a subgraph other than modifiers' objects are bound to different objects, and no object has the noun of one
below it, as in the enumeration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from compvqa.covr.subgraphs.shapes import numbered
from compvqa.covr.subgraphs.subgraph import Edge, Subgraph


def occurrences(shape: str) -> str:
    """All subgraphs of ``shape`` in the scenes of parts ``$first`` to before ``$end``, but for the scenes ``$without``.

    Rows of ``scene_id`` and ``found``: distinct lists of the root's object id and the names in the slots of the shape.
    Branches, or modifiers, that are alike but for their names come in one order, not in both.
    """
    return _Query(shape).all_of_them()


def exact(shape: str, free: Collection[int] = ()) -> str:
    """Where one subgraph of ``shape`` with names ``$s0``, ``$s1`` … in its slots is: scene_id, split, root_id.

    The slots in ``free`` hold another name than the one given; what they hold is a column of the slot's name.
    """
    return _Query(shape, frozenset(free)).one_of_them()


@dataclass
class _Query:
    """What a query says of a shape, gathered from the root down; objects, relations and modifiers by variable."""

    shape: str
    free: frozenset[int] | None = None  # slots with another name; None: no name is given
    names: dict[int, str] = field(default_factory=dict)  # what holds a slot's name
    nouns: dict[str, int] = field(default_factory=dict)  # slot of an object's noun; modifiers' objects left out
    attributes: list[tuple[int, str]] = field(default_factory=list)  # slot, and the object
    relations: list[tuple[str, str, str]] = field(default_factory=list)  # subject, relation's MATCH line, target
    modifiers: list[str] = field(default_factory=list)  # MATCH lines
    apart: list[str] = field(default_factory=list)  # conditions between objects

    def __post_init__(self) -> None:
        self._object(numbered(self.shape), 0)

    def all_of_them(self) -> str:
        start = [
            "MATCH (s:Scene {graph: $graph})",
            "WHERE $first <= s.part AND s.part < $end AND NOT s.scene_id IN $without",
            "MATCH (s)-[:CONTAINS]->(n0:Object)",
        ]
        names = ", ".join(self.names[slot] for slot in sorted(self.names))
        told = f"RETURN s.scene_id AS scene_id, collect(DISTINCT [n0.object_id, {names}]) AS found"
        return "\n".join([*start, *self._body("n0"), told])

    def one_of_them(self) -> str:
        free = self.free or frozenset()
        begin = next((thing for thing, slot in self.nouns.items() if slot not in free), "n0")
        start = f"MATCH ({begin}:Object {{graph: $graph}}) WHERE {self._holds(self.nouns[begin])}"
        columns = ["s.scene_id AS scene_id", "s.split AS split", "n0.object_id AS root_id"]
        columns += [f"{self.names[slot]} AS s{slot}" for slot in sorted(free)]
        scene = "MATCH (s:Scene)-[:CONTAINS]->(n0)"
        return "\n".join([start, *self._body(begin), scene, f"RETURN DISTINCT {', '.join(columns)}"])

    def _body(self, begin: str) -> Iterator[str]:
        """All but the first object and what is returned."""
        yield from self._walk(begin)
        yield from self.modifiers
        for slot, owner in self.attributes:
            yield f"UNWIND {owner}.attributes AS {self.names[slot]}"
            yield f"WITH * WHERE {self._holds(slot)}"
        if self.apart:
            yield f"WITH * WHERE {' AND '.join(self.apart)}"

    def _object(self, node: Subgraph, number: int) -> tuple[list[str], list[str]]:
        """Gather an object and what is below it; gives the objects, without and with those of modifiers."""
        me, slot = f"n{number}", int(node.name)
        self.nouns[me], self.names[slot] = slot, f"n{number}.name"
        if node.attribute is not None:
            self.attributes.append((int(node.attribute), me))
            self.names[int(node.attribute)] = f"a{number}"
        branches = [self._edge(me, number + offset, edge) for offset, edge in node.numbered_edges()]
        for (mine, _), (others, _) in combinations(branches, 2):
            self.apart += [f"{one} <> {other}" for one in mine for other in others]
        if self.free is None:
            edges = [(number + offset, _form(edge)) for offset, edge in node.numbered_edges()]
            alike = [(a, b) for (a, form), (b, other) in combinations(edges, 2) if form == other]
            self.apart += [f"r{a}.relation_id < r{b}.relation_id" for a, b in alike]
        below = [name for _, named in branches for name in named]
        self.apart += [f"{me}.name <> {name}.name" for name in below]
        return [me, *(name for bound, _ in branches for name in bound)], [me, *below]

    def _edge(self, subject: str, number: int, edge: Edge) -> tuple[list[str], list[str]]:
        """As :meth:`_object`, for a relation and its target."""
        relation, target, slot = f"r{number}", f"n{number + 1}", int(edge.name)
        self.names[slot] = f"{relation}.name"
        line = f"MATCH ({subject}:Object)-[{relation}:RELATION]->({target}:Object) WHERE {self._holds(slot)}"
        self.relations.append((subject, line, target))
        bound, named = self._object(edge.target, number + 1)
        tools: list[tuple[str, str]] = []
        for place, modifier in enumerate(edge.modifiers):
            at = number + 1 + edge.target.size + 2 * place
            word, tool = f"m{at}", f"n{at + 1}"
            self.names |= {int(modifier.name): f"{word}.name", int(modifier.noun): f"{tool}.name"}
            conditions = [f"{word}.relation_id = {relation}.relation_id"]
            conditions += [self._holds(int(modifier.name)), self._holds(int(modifier.noun))]
            conditions += [self._differ(other, (word, tool)) for other in tools]
            pattern = f"({subject})-[{word}:MODIFIER]->({tool}:Object)"
            self.modifiers.append(f"MATCH {pattern} WHERE {' AND '.join(conditions)}")
            tools.append((word, tool))
        return bound, [*named, *(tool for _, tool in tools)]

    def _differ(self, first: tuple[str, str], second: tuple[str, str]) -> str:
        """The condition that two modifiers of a relation are not one; where no name is given, in this order."""
        (word, tool), (other, its) = first, second
        if self.free is None:
            return f"({word}.name < {other}.name OR {word}.name = {other}.name AND {tool}.object_id < {its}.object_id)"
        return f"({word}.name <> {other}.name OR {tool} <> {its})"

    def _holds(self, slot: int) -> str:
        """The condition on a slot's name."""
        if self.free is None:
            return "true"
        return f"{self.names[slot]} {'<>' if slot in self.free else '='} $s{slot}"

    def _walk(self, begin: str) -> Iterator[str]:
        """The relations, each from an object that is bound already."""
        bound, waiting = {begin}, list(self.relations)
        while waiting:
            relation = next(item for item in waiting if bound & {item[0], item[2]})
            waiting.remove(relation)
            subject, line, target = relation
            new = target if subject in bound else subject
            bound.add(new)
            yield f"{line} AND {self._holds(self.nouns[new])}"


def _form(edge: Edge) -> tuple:
    """What an edge of a numbered shape is without its names."""
    target = edge.target
    return target.attribute is None, tuple(_form(below) for below in target.edges), len(edge.modifiers)
