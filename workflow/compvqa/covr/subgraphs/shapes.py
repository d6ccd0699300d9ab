"""Shapes: what is left of a subgraph when its names are taken out, and the orders in which it can be read.

A shape is the canonical JSON of a tree with every name replaced by ``s``. Its slots are the places of the
names, from left to right. Branches and modifiers stand in the order of their names; when one name is
replaced, the order may change, so two subgraphs that differ in one node are found to do so only in some
*reading*: an order of all branches and modifiers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count, permutations, product

from compvqa.covr.subgraphs.subgraph import Edge, Subgraph, parse
from compvqa.seeds import text_key

NAME = r'"(?:[^"\\]|\\.)*"'  # a JSON string; the same expression serves Python and DuckDB
KINDS = ("noun", "attribute", "relation", "modifier")


def name_key(kind: str, name: str) -> int:
    """The number that stands for a name of a kind."""
    return text_key(f"{kind} {name}")


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


def spelled(g: Subgraph) -> tuple[str, list[int]]:
    """A subgraph's shape, and the keys of its names in the order of the slots."""
    shape, quoted = shape_of(g.json())
    return shape, [name_key(slot.kind, json.loads(name)) for slot, name in zip(slots(shape), quoted, strict=True)]


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
        result.append(_slots_of(tree))
    return result


@dataclass(frozen=True)
class Change2:
    """A way to replace two nodes of a shape at once, by a key such as ``0_name_neg_object_2``.

    ``seen`` are the slots of a subject's noun, a relation and an object's noun that must occur together when the
    second slot's name is replaced. ``without`` is what must be absent: a shape, and the slots its names come from.
    ``relations`` are slots of which none may be named so that nobody can ask about it, ``leaves`` slots whose names
    must all differ.
    """

    key: str
    first: Slot
    second: Slot
    slots: tuple[int, int]
    without: tuple[str, tuple[int, ...]]
    seen: tuple[int, ...] = ()
    relations: tuple[int, ...] = field(default=(), kw_only=True)
    leaves: tuple[int, ...] = field(default=(), kw_only=True)


def changes2(shape: str) -> list[Change2]:
    """The changes of distance 2 that templates need: of the root's attribute, of what a leaf triplet leads to, and of
    its relation, each with another one (App. A)."""
    tree, places = numbered(shape), slots(shape)
    if not tree.edges:
        return []
    at = {slot.key: place for place, slot in enumerate(places) if slot.key}
    found = [*_of_attribute(tree, places, at)]
    plain = all(node.attribute is None for number, node in tree.objects() if number)
    relations = tuple(place for place, slot in enumerate(places) if slot.kind == "relation")
    for leaf in [*_root_leaves(tree), *_inner_leaves(tree), *_modifier_leaves(tree)]:
        rest, asked = _slots_of(leaf.rest), {"relations": relations, "leaves": leaf.alike}
        target, relation = leaf.seen[2], leaf.seen[1]
        for place, slot in enumerate(places):
            if slot.kind == "noun" and slot.node not in leaf.inside and plain:
                key = f"{slot.key}_neg_object_{places[target].node}"
                found.append(Change2(key, slot, places[target], (place, target), rest, leaf.seen, **asked))
            if leaf.alone and slot.key in leaf.subject:
                key, alone = f"{slot.key}_neg_relation_{places[relation].node}", _slots_of(leaf.alone)
                found.append(Change2(key, slot, places[relation], (place, relation), alone, leaf.seen, **asked))
    return found


@dataclass(frozen=True)
class _Leaf:
    """A leaf triplet of a numbered tree that can be asked about, alone.

    ``seen`` are the slots of what has it, its relation's (or modifier's) name and what it leads to; ``alike`` are the
    slots of the names beside it, among which its own is. ``rest`` is the tree without it, ``alone`` without all
    relations of what has it (None where its relation is not asked for), ``subject`` the keys of what tells who has it.
    """

    seen: tuple[int, int, int]
    inside: range
    alike: tuple[int, ...]
    rest: Subgraph
    alone: Subgraph | None = None
    subject: tuple[str, ...] = ()


def _root_leaves(tree: Subgraph) -> Iterator[_Leaf]:
    """The root's relations to leaves."""
    leaves = [(number, edge) for number, edge in tree.numbered_edges() if not edge.target.edges]
    alike = tuple(int(edge.name) for _, edge in leaves)
    for number, edge in leaves:
        rest = replace(tree, edges=tuple(other for other in tree.edges if other is not edge))
        seen = (int(tree.name), int(edge.name), int(edge.target.name))
        yield _Leaf(seen, _inside(number, edge), alike, rest, replace(tree, edges=()), ("0_name", "0_attr"))


def _inner_leaves(tree: Subgraph) -> Iterator[_Leaf]:
    """The relations to leaves of the one object that the root leads to."""
    [(number, edge), *others] = tree.numbered_edges()
    leaves = [(n, leaf) for n, leaf in edge.target.numbered_edges() if not others and not leaf.target.edges]
    alike, subject = tuple(int(leaf.name) for _, leaf in leaves), ("0_name", "0_attr", f"{number + 1}_name")
    for offset, leaf in leaves:
        rest, alone = (
            replace(tree, edges=(replace(edge, target=replace(edge.target, edges=kept)),))
            for kept in (tuple(other for other in edge.target.edges if other is not leaf), ())
        )
        seen = (int(edge.target.name), int(leaf.name), int(leaf.target.name))
        yield _Leaf(seen, _inside(number + 1 + offset, leaf), alike, rest, alone, subject)


def _modifier_leaves(tree: Subgraph) -> Iterator[_Leaf]:
    """The modifiers of the root's relations."""
    for number, edge in tree.numbered_edges():
        alike, first = tuple(int(modifier.name) for modifier in edge.modifiers), number + 1 + edge.target.size
        for place, modifier in enumerate(edge.modifiers):
            kept = replace(edge, modifiers=tuple(other for other in edge.modifiers if other is not modifier))
            rest = replace(tree, edges=tuple(kept if other is edge else other for other in tree.edges))
            inside = range(first + 2 * place, first + 2 * place + 2)
            yield _Leaf((int(edge.name), int(modifier.name), int(modifier.noun)), inside, alike, rest)


def _inside(number: int, edge: Edge) -> range:
    """The nodes of a relation to a leaf, which is node ``number``."""
    return range(number, number + 1 + edge.target.size + 2 * len(edge.modifiers))


def _of_attribute(tree: Subgraph, places: list[Slot], at: dict[str, int]) -> Iterator[Change2]:
    if tree.attribute is not None:
        own, rest = at["0_attr"], _slots_of(replace(tree, attribute=None))
        for place, slot in enumerate(places):
            if slot.key and place != own:
                yield Change2(f"{slot.key}_neg_attr_root", slot, places[own], (place, own), rest)


def _slots_of(part: Subgraph) -> tuple[str, tuple[int, ...]]:
    """A numbered tree, or a part of one, as a shape, and the slots that its names come from."""
    shape, names = shape_of(part.json())
    return shape, tuple(int(name.strip('"')) for name in names)


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
