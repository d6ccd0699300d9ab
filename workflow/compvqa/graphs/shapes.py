"""Shapes: what is left of a subgraph when its names are taken out, and the orders in which it can be read.

A shape is the canonical JSON of a tree with every name replaced by ``s``. Its slots are the places of the
names, from left to right. Branches and modifiers stand in the order of their names; when one name is
replaced, the order may change, so two subgraphs that differ in one node are found to do so only in some
*reading*: an order of all branches and modifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, permutations, product

from compvqa.graphs.subgraph import Edge, Subgraph, parse

NAME = r'"(?:[^"\\]|\\.)*"'  # a JSON string; the same expression serves Python and DuckDB


@dataclass(frozen=True)
class Slot:
    """A place for a name: ``key`` says which node (``0_attr``, ``2_name``, ``1_relation``), None for a
    modifier."""

    key: str | None
    kind: str  # noun, attribute, relation or modifier
    node: int  # the node's number; an attribute has its object's


def shape_of(tree: str) -> tuple[str, tuple[str, ...]]:
    """A tree's shape, and its names (in JSON quotes) in the order of the slots."""
    return re.sub(NAME, "s", tree), tuple(re.findall(NAME, tree))


def slots(shape: str) -> list[Slot]:
    """The slots of a shape, in order."""
    found: dict[int, Slot] = {}
    for number, node in numbered(shape).objects():
        found[int(node.name)] = Slot(f"{number}_name", "noun", number)
        if node.attribute is not None:
            found[int(node.attribute)] = Slot(f"{number}_attr", "attribute", number)
        for offset, edge in node.numbered_edges():
            relation = number + offset
            found[int(edge.name)] = Slot(f"{relation}_relation", "relation", relation)
            for place, modifier in enumerate(edge.modifiers):
                at = relation + 1 + edge.target.size + 2 * place
                found[int(modifier.name)] = Slot(None, "modifier", at)
                found[int(modifier.noun)] = Slot(f"{at + 1}_name", "noun", at + 1)
    return [found[i] for i in range(len(found))]


def readings(shape: str) -> list[tuple[str, tuple[int, ...]]]:
    """Each reading of a shape: the shape read so, and which slot stands at each place; the shape itself
    first."""
    result = []
    for tree in _orders(numbered(shape)):
        read, names = shape_of(tree.json())
        result.append((read, tuple(int(name.strip('"')) for name in names)))
    return result


def numbered(shape: str) -> Subgraph:
    """The shape with each slot's number in the place of its name."""
    numbers = count()
    return parse(re.sub("s", lambda _: f'"{next(numbers)}"', shape))


def _orders(node: Subgraph) -> Iterator[Subgraph]:
    for edges in product(*(list(_edge_orders(edge)) for edge in node.edges)):
        for order in permutations(edges):
            yield replace(node, edges=order)


def _edge_orders(edge: Edge) -> Iterator[Edge]:
    for target in _orders(edge.target):
        for modifiers in permutations(edge.modifiers):
            yield Edge(edge.name, target, modifiers)
