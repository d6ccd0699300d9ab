"""The graph backend on Neo4j: scene graphs in a server, for those who want to ask it by Cypher.

The server is asked which subgraphs occur where, one query for each shape; from these occurrences candidates are found
set-wise, as the DuckDB backend does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.compute as pc

from compvqa import facts, tables
from compvqa.covr.subgraphs import shapes
from compvqa.covr.subgraphs.search import GraphFiles, SearchSettings, duckdb
from compvqa.covr.subgraphs.search.neo4j import cypher
from compvqa.covr.subgraphs.search.neo4j.bolt import connect
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded
from compvqa.covr.subgraphs.search.neo4j.occurrences import write_occurrences
from compvqa.covr.subgraphs.search.neo4j.service import serving
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.covr.subgraphs.tables import OCCURRENCES
from compvqa.errors import InputError
from compvqa.scratch import scratch_folder


def find_candidates(
    graph: GraphFiles, overlap: Path, out: list[tuple[Path, Path]], settings: SearchSettings, seed: int
) -> dict[str, int]:
    """See :func:`compvqa.covr.subgraphs.search.find_candidates`; the server has done its part before it begins."""
    with scratch_folder(out[0][1].parent, "asked") as folder:
        occurring = folder / "occurrences.parquet"
        with _loaded(graph.scenes, out[0][1], settings) as loaded:
            facts.tell(**loaded.told)
            counts = {"parts of the graph loaded": loaded.new}
            counts["occurrences by Cypher"] = write_occurrences(graph, loaded, occurring, settings)
        asked = GraphFiles(graph.scenes, graph.subgraphs, [occurring])
        return counts | duckdb.find_candidates(asked, overlap, out, settings, seed)


@contextmanager
def load(graph: GraphFiles, beside: Path, settings: SearchSettings) -> Iterator[Neo4jGraph]:
    """See :class:`compvqa.covr.subgraphs.search.Backend`."""
    with _loaded(graph.scenes, beside, settings) as loaded:
        ids = tables.read_all(graph.occurrences, OCCURRENCES, ["scene_id"])["scene_id"]
        yield Neo4jGraph(loaded, frozenset(pc.unique(ids).to_pylist()))


@contextmanager
def _loaded(scenes: Path, beside: Path, settings: SearchSettings) -> Iterator[Loaded]:
    with serving(settings.neo4j, beside), connect(settings.neo4j.patience) as server:
        yield Loaded(server, scenes, settings.neo4j.batch)


class Neo4jGraph:
    """See :class:`compvqa.covr.subgraphs.search.Graph`. Scenes that the enumeration left out are left out here too."""

    def __init__(self, loaded: Loaded, scene_ids: frozenset[str]):
        self._loaded, self._scene_ids = loaded, scene_ids

    def containing(self, g: Subgraph, split: str) -> list[str]:
        return [row[0] for row in self._ask(g, (), split)]

    def replaced(self, g: Subgraph, key: str, split: str) -> list[tuple[str, str]]:
        return [(scene, name) for scene, name in self._ask(g, (key,), split)]

    def replaced_both(self, g: Subgraph, keys: tuple[str, str], split: str) -> list[tuple[str, str, str]]:
        """As :meth:`replaced` for two nodes: each scene with both replaced, and both names in the order of
        ``keys``."""
        return [(scene, one, other) for scene, one, other in self._ask(g, keys, split)]

    def _ask(self, g: Subgraph, keys: tuple[str, ...], split: str) -> list[tuple[str, ...]]:
        shape, names = shapes.shape_of(g.json())
        places = {slot.key: place for place, slot in enumerate(shapes.slots(shape))}
        for key in keys:
            if key not in places:
                raise InputError(f"{g.json()} has no node {key}.")
        free = [places[key] for key in keys]
        given = {f"s{place}": json.loads(name) for place, name in enumerate(names)}
        found = self._loaded.server.read(cypher.exact(shape, free), graph=self._loaded.graph, **given)
        return sorted(
            {
                (row["scene_id"], *(row[f"s{place}"] for place in free))
                for row in found
                if row["split"] == split and row["scene_id"] in self._scene_ids
            }
        )
