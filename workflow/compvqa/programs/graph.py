"""Programs as graphs: where each row stands when a program is drawn, whatever its language.

A row stands one level below those whose values it takes, the last one at the bottom; branches stand side by side, and a
row in the middle of what it takes. A sub-program is a branch above the row that holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compvqa.programs.rows import Program, Row, is_program


@dataclass(frozen=True)
class Node:
    """A drawn row: its index as printed (``3``, in a sub-program ``3.2``), and its place in levels and lanes from 0."""

    index: str
    row: Row
    level: int = 0
    lane: float = 0


@dataclass(frozen=True)
class Edge:
    """What goes from one row to another, by their indices; ``inner``: the result of a sub-program."""

    start: str
    end: str
    inner: bool = False


@dataclass(frozen=True)
class Graph:
    """A program as nodes in the order of its rows, and edges; it fills so many levels and lanes."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    levels: int
    lanes: int


def graph(program: Program) -> Graph:
    """The graph of a program; rows that nothing takes are drawn beside the others."""
    nodes = {node.index: node for node in _nodes(program, "")}
    edges = tuple(_edges(program, ""))
    above: dict[str, list[str]] = {index: [] for index in nodes}
    for edge in edges:
        above[edge.end].append(edge.start)
    taken = {edge.start for edge in edges}
    lanes: dict[str, float] = {}
    heights: dict[str, int] = {}  # of a row over the last one
    used = 0

    def stand(index: str) -> None:
        nonlocal used
        own = [start for start in dict.fromkeys(above[index]) if start not in lanes]
        for start in own:
            if start not in lanes:
                lanes[start] = -1.0  # on its way: a row that two others take stands above the first
                stand(start)
        if own:
            lanes[index] = (lanes[own[0]] + lanes[own[-1]]) / 2
        else:
            lanes[index], used = float(used), used + 1

    def lift(index: str, height: int) -> None:
        if height > heights.get(index, -1):
            heights[index] = height
            for start in above[index]:
                lift(start, height + 1)

    for index in nodes:
        if index not in taken:
            stand(index)
            lift(index, 0)
    levels = 1 + max(heights.values(), default=-1)
    placed = (replace(node, level=levels - 1 - heights[index], lane=lanes[index]) for index, node in nodes.items())
    return Graph(tuple(placed), edges, levels, used)


def _nodes(program: Program, prefix: str) -> Iterator[Node]:
    for number, row in enumerate(program, 1):
        index = f"{prefix}{number}"
        yield Node(index, row)
        for sub in filter(is_program, row.arguments):
            yield from _nodes(sub, f"{index}.")


def _edges(program: Program, prefix: str) -> Iterator[Edge]:
    for number, row in enumerate(program, 1):
        index = f"{prefix}{number}"
        yield from (Edge(f"{prefix}{above + 1}", index) for above in row.dependencies)
        for sub in filter(is_program, row.arguments):
            yield Edge(f"{index}.{len(sub)}", index, inner=True)
            yield from _edges(sub, f"{index}.")
