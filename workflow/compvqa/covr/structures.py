"""What subgraphs are made of: relation modifiers, objects with two relations (V), chains of relations (C).

It is seen in the subgraph, or, where that is not known, in the references of the question's program, conditions of
quantifiers included. A subgraph that was cut in two, as in "all dogs that … are …", may have more than its program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.programs.rows import Program, Row

_RELATION = ("WithRelation", "WithRelationObject")
_NAMES = {"WithRelation": 1, "WithRelationObject": 1, "RelationBetween": 0}  # arguments besides modifiers


def has(program: Program, subgraph: Subgraph | None, parts: Iterable[str]) -> bool:
    """Whether any of ``parts`` ("modifier", "two relations", "chain") is in the subgraph; None: in the program."""
    if subgraph is None:
        return any(_IN_PROGRAM[part](program, row) for program, row in _rows(program) for part in parts)
    return any(_IN_GRAPH[part](subgraph) for part in parts)


def _modifier(g: Subgraph) -> bool:
    return any(edge.modifiers or _modifier(edge.target) for edge in g.edges)


def _two_relations(g: Subgraph) -> bool:
    return len(g.edges) > 1 or any(_two_relations(edge.target) for edge in g.edges)


def _chain(g: Subgraph) -> bool:
    return any(edge.target.edges for edge in g.edges)


def _rows(program: Program) -> Iterator[tuple[Program, Row]]:
    """All rows, each with the program or condition that it stands in."""
    for row in program:
        yield program, row
        for argument in row.arguments:
            if isinstance(argument, tuple):
                yield from _rows(argument)


def _found_by_relation(program: Program, row: Row, dependency: int) -> bool:
    """Whether the row is about a relation, and one of its sides (0: subjects, 1: objects) is found by another."""
    return row.operation in _RELATION and program[row.dependencies[dependency]].operation in _RELATION


_IN_GRAPH = {"modifier": _modifier, "two relations": _two_relations, "chain": _chain}
_IN_PROGRAM = {
    "modifier": lambda program, row: row.operation in _NAMES and len(row.arguments) > _NAMES[row.operation],
    "two relations": lambda program, row: _found_by_relation(program, row, 0),
    "chain": lambda program, row: _found_by_relation(program, row, 1),
}
