"""Simple subgraphs: what an image classifier may be asked about (COVR, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from compvqa.covr.subgraphs.subgraph import Edge, Subgraph, make


def simple_subgraphs(g: Subgraph) -> list[Subgraph]:
    """The parts of ``g`` with at most two objects, one relation and one attribute, each once, ordered by key.

    Modifiers are left out; their objects stay, as objects by themselves.
    """
    return _once(_parts(g))


@lru_cache(maxsize=20_000)
def closest_subgraphs(g: Subgraph) -> Sequence[Subgraph]:
    """Those simple subgraphs that say most of ``g``'s root: none is a part of another of them; ordered by key."""
    found: list[Subgraph] = []
    for edge in g.edges:
        attributes = {(g.attribute, None), (None, edge.target.attribute)} - {(None, None)} or {(None, None)}
        found += [make(g.name, own, (Edge(edge.name, make(edge.target.name, other)),)) for own, other in attributes]
    parts = _once(found or [make(g.name, g.attribute)])
    said = {part.key for whole in parts for part in simple_subgraphs(whole) if part.key != whole.key}
    return [part for part in parts if part.key not in said]


def _once(parts: Iterator[Subgraph] | list[Subgraph]) -> list[Subgraph]:
    by_key = {part.key: part for part in parts}
    return [by_key[key] for key in sorted(by_key)]


def _parts(node: Subgraph) -> Iterator[Subgraph]:
    yield make(node.name)
    if node.attribute is not None:
        yield make(node.name, node.attribute)
    for edge in node.edges:
        for own, other in {(None, None), (node.attribute, None), (None, edge.target.attribute)}:
            yield make(node.name, own, (Edge(edge.name, make(edge.target.name, other)),))
        for modifier in edge.modifiers:
            yield make(modifier.noun)
        yield from _parts(edge.target)
