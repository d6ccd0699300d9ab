"""The search by Cypher: the server is asked for every seed's subgraph, its readings and its changes.

What it answers are the occurrences that the search needs, and no others; ranks, caps and filters are those of
the set-wise search, which runs on these tables as it does on the enumerated ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.graphs import shapes
from compvqa.graphs.backend import GraphFiles
from compvqa.graphs.neo4j import cypher
from compvqa.graphs.neo4j.loading import Loaded
from compvqa.graphs.subgraph import Edge, Subgraph, make, parse
from compvqa.graphs.tables import OCCURRENCES, SUBGRAPHS
from compvqa.progress import track

Row = dict[str, object]
Overlapping = dict[tuple[str, str], list[str]]  # by kind and name: the names as which it may be read


class Asking:
    """All seeds, as the enumeration found them, and what the server says of them."""

    def __init__(self, graph: GraphFiles):
        self._occurring = tables.read_all(graph.occurrences, OCCURRENCES)
        seeds = self._occurring.filter(pc.field("seed"))
        known = tables.read_all(graph.subgraphs, SUBGRAPHS, ["subgraph_key", "tree"])
        asked = known.filter(pc.is_in(known["subgraph_key"], pc.unique(seeds["subgraph_key"])))
        self._trees: dict[int, str] = dict(zip(*(column.to_pylist() for column in asked.columns), strict=True))
        bare = {key for key, tree in self._trees.items() if len(shapes.shape_of(tree)[1]) == 1}  # never a seed
        for key in bare:
            del self._trees[key]
        self._seeds = seeds.filter(pc.is_in(seeds["subgraph_key"], pa.array(sorted(self._trees), pa.int64())))

    def write(self, loaded: Loaded, read_as: Overlapping, at_once: int, folder: Path) -> tuple[Path, Path]:
        """Ask about ``at_once`` subgraphs a query; gives tables of subgraphs and occurrences, in ``folder``."""
        scene_ids = set(pc.unique(self._occurring["scene_id"]).to_pylist())
        trees: dict[int, str] = dict(self._trees)
        found: dict[tuple[str, int, str], bool] = {}
        for shape, names in self._answers(loaded, read_as, at_once):
            if names["scene_id"] not in scene_ids:  # the enumeration left it out
                continue
            graph = _filled(shape, names["names"])
            trees.setdefault(graph.key, graph.json())
            found[names["scene_id"], graph.key, names["root_id"]] = False
        for row in self._seeds.select(["scene_id", "subgraph_key", "root_id"]).to_pylist():
            found[row["scene_id"], row["subgraph_key"], row["root_id"]] = True
        paths = folder / "subgraphs.parquet", folder / "occurrences.parquet"
        tables.write(paths[0], SUBGRAPHS, (_described(key, tree) for key, tree in trees.items()))
        columns = ("scene_id", "subgraph_key", "root_id")
        occurring = ({**dict(zip(columns, key, strict=True)), "seed": seed} for key, seed in found.items())
        tables.write(paths[1], OCCURRENCES, ({**row, "object_ids": [row["root_id"]]} for row in occurring))
        return paths

    def _answers(self, loaded: Loaded, read_as: Overlapping, at_once: int) -> Iterator[tuple[str, Row]]:
        """Each occurrence of a reading or change of an asked subgraph: the shape, and a row with its names."""
        by_shape: dict[str, list[list[str]]] = {}
        absent: dict[str, set[tuple[str, ...]]] = {}
        for tree in self._trees.values():
            shape, quoted = shapes.shape_of(tree)
            names = [json.loads(name) for name in quoted]
            by_shape.setdefault(shape, []).append(names)
            absent.setdefault(shape, set()).add(tuple(names))
            for change in shapes.changes2(shape):
                part, places = change.without
                absent.setdefault(part, set()).add(tuple(names[place] for place in places))
        for shape, asked in track(sorted(absent.items()), "asking for readings", total=len(absent), unit="shape"):
            kinds = [slot.kind for slot in shapes.slots(shape)]
            given = sorted(asked)
            wide = [[read_as.get((k, n), [n]) for k, n in zip(kinds, names, strict=True)] for names in given]
            yield from _ask(loaded, shape, cypher.overlapping(shape), wide, given, at_once)
        for shape, asked in track(by_shape.items(), "asking for changes", total=len(by_shape), unit="shape"):
            one = [(place,) for place, slot in enumerate(shapes.slots(shape)) if slot.key]
            two = {change.slots for change in shapes.changes2(shape)}
            for free in [*one, *sorted(two)]:
                yield from _ask(loaded, shape, cypher.exact(shape, free), asked, asked, at_once)


def _ask(
    loaded: Loaded, shape: str, query: str, given: Sequence[Sequence], asked: Sequence[Sequence[str]], at_once: int
) -> Iterator[tuple[str, Row]]:
    """The answers to ``query`` for what is ``given`` of each slot of each subgraph, with all names filled in."""
    rows = ({"id": i} | {f"s{place}": name for place, name in enumerate(names)} for i, names in enumerate(given))
    for some in _pieces(rows, at_once):
        for row in loaded.server.read(query, graph=loaded.graph, rows=some):
            row["names"] = [row.get(f"s{place}", name) for place, name in enumerate(asked[row["id"]])]
            yield shape, row


def names_read_as(overlap: pa.Table, exclusive: float) -> Overlapping:
    """From a table m(x, y): for each name with overlapping ones, itself and these."""
    found: Overlapping = {}
    for kind, x, y, m in zip(*(overlap[column].to_pylist() for column in ("kind", "x", "y", "m")), strict=True):
        if x != y and m is not None and m <= exclusive:
            found.setdefault((kind, x), [x]).append(y)
    return found


def _filled(shape: str, names: list[str]) -> Subgraph:
    """The subgraph of ``shape`` with these names in its slots."""
    quoted = iter(json.dumps(name, ensure_ascii=False) for name in names)
    return _canonical(parse(re.sub("s", lambda _: next(quoted), shape)))


def _canonical(node: Subgraph) -> Subgraph:
    edges = tuple(Edge(edge.name, _canonical(edge.target), edge.modifiers) for edge in node.edges)
    return make(node.name, node.attribute, edges)


def _described(key: int, tree: str) -> Row:
    graph = parse(tree)
    shape, names = shapes.spelled(graph)
    sizes = {"size": graph.size, "depth": graph.depth, "n_attributes": graph.n_attributes}
    return {"subgraph_key": key, "tree": tree, "shape": shape, "names": names, "text": None} | sizes


def _pieces(items: Iterable[Row], size: int) -> Iterator[list[Row]]:
    items = iter(items)
    while piece := list(islice(items, size)):
        yield piece
