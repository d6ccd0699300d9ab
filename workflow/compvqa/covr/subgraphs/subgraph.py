"""Subgraphs of scenes: their grammar, canonical form and key (COVR, section 3.1).

A subgraph is a tree. Its nodes are numbered in preorder of the canonical form: an object, then for each of
its relations the relation, the target object with all below it, and then each modifier and the modifier's
object. Attributes have no number of their own: ``0_attr`` is the attribute of object 0. In "standing man
uncorking a wine bottle with a corkscrew" the man is 0, uncorking 1, the bottle 2, with 3, the corkscrew 4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from compvqa.seeds import text_key


@dataclass(frozen=True)
class Modifier:
    """A relation modifier with its one object, which has no attributes: "with" → "corkscrew"."""

    name: str
    noun: str


@dataclass(frozen=True)
class Edge:
    """A relation to a target object, with its modifiers."""

    name: str
    target: Subgraph
    modifiers: tuple[Modifier, ...] = ()


@dataclass(frozen=True)
class Subgraph:
    """An object of a subgraph with all that hangs below it; the root stands for the whole subgraph.

    Build it with :func:`make`, which puts edges and modifiers in canonical order.
    """

    name: str
    attribute: str | None = None
    edges: tuple[Edge, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Of the whole tree, once: references are asked for again and again."""
        return hash((self.name, self.attribute, self.edges))

    @cached_property
    def key(self) -> int:
        """The canonical key: equal exactly for subgraphs that are equal up to the order of branches."""
        return text_key(self.json())

    @cached_property
    def size(self) -> int:
        """The number of nodes: objects, relations, modifiers and their objects (attributes are apart)."""
        return 1 + sum(1 + edge.target.size + 2 * len(edge.modifiers) for edge in self.edges)

    @cached_property
    def depth(self) -> int:
        """The number of nodes on the longest way from the root."""
        return 1 + max((1 + max(edge.target.depth, 2 if edge.modifiers else 0) for edge in self.edges), default=0)

    @cached_property
    def n_attributes(self) -> int:
        return (self.attribute is not None) + sum(edge.target.n_attributes for edge in self.edges)

    def json(self) -> str:
        """The canonical JSON of the tree, as in the ``tree`` column of tables."""
        return json.dumps(_to_data(self), ensure_ascii=False, separators=(",", ":"))

    def objects(self) -> Iterator[tuple[int, Subgraph]]:
        """The objects (modifiers' objects left out) with their node numbers, in preorder."""
        yield 0, self
        for number, edge in self.numbered_edges():
            for inner, node in edge.target.objects():
                yield number + 1 + inner, node

    def numbered_edges(self) -> Iterator[tuple[int, Edge]]:
        """The root's own relations with their node numbers."""
        number = 1
        for edge in self.edges:
            yield number, edge
            number += 1 + edge.target.size + 2 * len(edge.modifiers)


@dataclass(frozen=True)
class Held:
    """Objects that others have a relation to: "boys with a large tree behind them" (a large tree is behind the boys).

    ``edge`` is the relation, whose target is what is referred to, and ``subject`` what has it.
    """

    subject: Subgraph
    edge: Edge

    @property
    def name(self) -> str:
        return self.edge.target.name

    @property
    def whole(self) -> Subgraph:
        """The same as a subgraph of the subject."""
        return make(self.subject.name, self.subject.attribute, (*self.subject.edges, self.edge))


Reference = Subgraph | Held


def make(name: str, attribute: str | None = None, edges: tuple[Edge, ...] = ()) -> Subgraph:
    """A subgraph with its edges, and their modifiers, in canonical order."""
    ordered = [
        Edge(e.name, e.target, tuple(sorted(e.modifiers, key=lambda m: (m.name, m.noun))))
        if len(e.modifiers) > 1
        else e
        for e in edges
    ]
    if len(ordered) < 2:
        return Subgraph(name, attribute, tuple(ordered))
    return Subgraph(
        name, attribute, tuple(sorted(ordered, key=lambda e: json.dumps(_edge_data(e), ensure_ascii=False)))
    )


def parse(text: str) -> Subgraph:
    """The subgraph of a ``tree`` column."""
    return _from_data(json.loads(text))


def _to_data(node: Subgraph) -> list:
    return [node.name, node.attribute, [_edge_data(edge) for edge in node.edges]]


def _edge_data(edge: Edge) -> list:
    return [edge.name, _to_data(edge.target), [[m.name, m.noun] for m in edge.modifiers]]


def _from_data(data: list) -> Subgraph:
    name, attribute, edges = data
    return Subgraph(
        name,
        attribute,
        tuple(
            Edge(relation, _from_data(target), tuple(Modifier(*m) for m in modifiers))
            for relation, target, modifiers in edges
        ),
    )
