"""The leaf triplets of a subgraph that questions ask about or make conditions of, and what is left without each.

A leaf triplet is a relation to an object without relations of its own, of the root or of the one object that the root
leads to, or a modifier of a relation of the root. What is left refers to what has it: to the root ("the woman that is
lighting a cigar"), or to the inner object by its relation turned round ("the boy with a tree behind him").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from compvqa.covr import inflection
from compvqa.covr.questions.references import with_edges
from compvqa.covr.subgraphs.subgraph import Edge, Held, Modifier, Reference, Subgraph


@dataclass(frozen=True)
class Leaf:
    """A leaf triplet of g, and g without it.

    ``node`` is the number of the relation, or of the modifier; what it leads to has the number after that. ``edge`` is
    the relation, for a modifier the one that it belongs to. ``ref`` refers to what has it, by all the rest of g, and
    ``whole`` by all of g. ``beside`` are the names of the relations, or modifiers, beside it.
    """

    node: int
    edge: Edge
    ref: Reference
    whole: Reference
    beside: tuple[str, ...]
    modifier: Modifier | None = None


def root_leaves(g: Subgraph) -> Iterator[Leaf]:
    """The root's relations to leaves."""
    for number, edge in g.numbered_edges():
        if not edge.target.edges:
            rest = [other for other in g.edges if other is not edge]
            yield Leaf(number, edge, with_edges(g, rest), g, tuple(other.name for other in rest))


def inner_leaves(g: Subgraph) -> Iterator[Leaf]:
    """The relations to leaves of the one object that the root leads to, if the root's can be turned round."""
    if not turns_round(g):
        return
    [(number, edge)], subject = g.numbered_edges(), with_edges(g, ())
    for offset, leaf in edge.target.numbered_edges():
        if not leaf.target.edges:
            rest = [other for other in edge.target.edges if other is not leaf]
            ref = Held(subject, replace(edge, target=with_edges(edge.target, rest)))
            beside = tuple(other.name for other in rest)
            yield Leaf(number + 1 + offset, leaf, ref, Held(subject, edge), beside)


def modifier_leaves(g: Subgraph) -> Iterator[Leaf]:
    """The modifiers of the root's relations whose target a pronoun can stand for ("lighting it using"), but those of
    a relation that leads to two things of one name ("jumping from land into land")."""
    for number, edge in g.numbered_edges():
        nouns = [g.name, edge.target.name, *(modifier.noun for modifier in edge.modifiers)]
        if len(set(nouns)) < len(nouns) or not inflection.takes_pronoun(edge.name):
            continue
        others = [other for other in g.edges if other is not edge]
        for place, modifier in enumerate(edge.modifiers):
            rest = tuple(other for other in edge.modifiers if other is not modifier)
            node = number + 1 + edge.target.size + 2 * place
            beside = tuple(other.name for other in rest)
            yield Leaf(node, edge, with_edges(g, [*others, replace(edge, modifiers=rest)]), g, beside, modifier)


LEAVES: dict[str, Callable[[Subgraph], Iterator[Leaf]]] = {
    "root": root_leaves,
    "inner": inner_leaves,
    "modifier": modifier_leaves,
}


def turns_round(g: Subgraph) -> bool:
    """Whether the object that the root leads to can be referred to by the root."""
    if len(g.edges) != 1 or g.edges[0].name in inflection.BARE:
        return False
    return g.attribute is None or not inflection.follows_noun(g.attribute)
