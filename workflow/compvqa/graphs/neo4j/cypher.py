"""Cypher for subgraphs of one shape: the text depends on the shape alone, all names are parameters.

A query is asked for many subgraphs at once: each row of ``$rows`` has an ``id`` and the names ``s0``, ``s1`` …
of the shape's slots. Objects of a subgraph other than modifiers' objects are bound to different objects, and no
object has the noun of one below it, as in the enumeration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from compvqa.graphs.shapes import numbered
from compvqa.graphs.subgraph import Edge, Subgraph


def exact(shape: str, free: Collection[int] = ()) -> str:
    """Where subgraphs of ``shape`` are: rows of id, scene_id, split and root_id, each once.

    The slots in ``free`` hold another name than the row's, which is given as a column of the slot's name.
    """
    return _Query(shape, frozenset(free), lists=False).text()


def overlapping(shape: str) -> str:
    """As :func:`exact`, for rows with a list of names for each slot; each slot's name is a column."""
    return _Query(shape, frozenset(), lists=True).text()


@dataclass
class _Query:
    """What a query says of a shape, gathered from the root down; objects, relations and modifiers by variable."""

    shape: str
    free: frozenset[int]  # slots with another name
    lists: bool  # whether slots have one of several names
    names: dict[int, str] = field(default_factory=dict)  # what holds a slot's name
    nouns: dict[str, int] = field(default_factory=dict)  # slot of an object's noun; modifiers' objects left out
    attributes: list[tuple[int, str]] = field(default_factory=list)  # slot, and the object
    relations: list[tuple[str, str, str]] = field(default_factory=list)  # subject, relation's MATCH line, target
    modifiers: list[str] = field(default_factory=list)  # MATCH lines
    apart: list[str] = field(default_factory=list)  # conditions between objects

    def text(self) -> str:
        self._object(numbered(self.shape), 0)
        begin = next((o for o, slot in self.nouns.items() if slot not in self.free), "n0")
        lines = ["UNWIND $rows AS row", *self._start(begin), *self._walk(begin), *self.modifiers, *self._attributes()]
        if self.apart:
            lines.append(f"WITH * WHERE {' AND '.join(self.apart)}")
        told = sorted(self.names) if self.lists else sorted(self.free)
        columns = [f"n0.{name} AS {name}" for name in ("scene_id", "split")]
        columns += ["n0.object_id AS root_id", *(f"{self.names[slot]} AS s{slot}" for slot in told)]
        return "\n".join([*lines, f"RETURN DISTINCT row.id AS id, {', '.join(columns)}"])

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
            conditions += [f"({word}.name <> {w}.name OR {tool} <> {t})" for w, t in tools]
            pattern = f"({subject})-[{word}:MODIFIER]->({tool}:Object)"
            self.modifiers.append(f"MATCH {pattern} WHERE {' AND '.join(conditions)}")
            tools.append((word, tool))
        return bound, [*named, *(tool for _, tool in tools)]

    def _holds(self, slot: int) -> str:
        """The condition on a slot's name."""
        compare = "IN" if self.lists else "<>" if slot in self.free else "="
        return f"{self.names[slot]} {compare} row.s{slot}"

    def _start(self, begin: str) -> Iterator[str]:
        """The first object, found by the index of names if its noun is given."""
        slot = self.nouns[begin]
        if slot in self.free:
            yield f"MATCH ({begin}:Object {{graph: $graph}}) WHERE {self._holds(slot)}"
        else:
            if self.lists:
                yield f"UNWIND row.s{slot} AS first"
            yield f"MATCH ({begin}:Object {{graph: $graph, name: {'first' if self.lists else f'row.s{slot}'}}})"

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

    def _attributes(self) -> Iterator[str]:
        for slot, owner in self.attributes:
            if self.lists or slot in self.free:
                yield f"UNWIND {owner}.attributes AS {self.names[slot]} WITH * WHERE {self._holds(slot)}"
            else:
                yield f"WITH * WHERE row.s{slot} IN {owner}.attributes"
