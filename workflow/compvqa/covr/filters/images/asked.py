"""What an image classifier is asked: each pair of a scene and a simple subgraph once, in order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow as pa

from compvqa import tables
from compvqa.covr.subgraphs.keys import kinds_of
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.store import StoreSettings, connect, create, sorted_reader, view
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from compvqa.progress import track
from compvqa.tables import Schema

ASKED = Schema(
    "asked",
    pa.schema([("scene_id", pa.string()), ("subgraph_key", pa.int64())]),
    key=("scene_id", "subgraph_key"),
)
TREES = Schema("trees", pa.schema([("subgraph_key", pa.int64()), ("tree", pa.string())]), key=("subgraph_key",))
HELD = 1_000_000  # pairs held before they are handed to the database


def ask_candidates(seeds: Path, candidates: Path, tried: int, out: Path, trees: Path, settings: StoreSettings) -> int:
    """Write what has to be known to filter ``candidates``, and the trees of its subgraphs; give the number of pairs.

    These are the simple subgraphs of each seed's subgraph, in those of its candidates that differ in a node and are
    among the first ``tried`` of their key.
    """
    with connect(out, settings) as connection:
        view(connection, "seeds_file", [seeds], SEEDS)
        view(connection, "candidates_file", [candidates], CANDIDATES)
        keys = [row[0] for row in connection.execute("select distinct key from candidates_file").fetchall()]
        create(connection, "differing", {"key": pa.array([key for key in keys if kinds_of(key)], pa.string())})
        rows = connection.execute("select distinct subgraph_key, tree from seeds_file order by 1").fetchall()
        found = ((key, part) for key, tree in rows for part in simple_subgraphs(parse(tree)))
        parts, named = [], {}
        for key, part in track(found, "simple subgraphs"):
            parts.append((key, part.key))
            named[part.key] = part
        columns = {"subgraph_key": [key for key, _ in parts], "part": [part for _, part in parts]}
        create(connection, "simple", {name: pa.array(values, pa.int64()) for name, values in columns.items()})
        connection.execute("set variable tried = ?", [tried])
        connection.execute(_ASKED)
        return _write(connection, named, out, trees)


def ask_pairs(pairs: Iterable[tuple[str, Subgraph]], out: Path, trees: Path, settings: StoreSettings) -> int:
    """Write the pairs of a scene's id and a simple subgraph, each once, and the subgraphs' trees; give their number."""
    named: dict[int, Subgraph] = {}
    with connect(out, settings) as connection:
        connection.execute("create table pairs (scene_id varchar, subgraph_key bigint)")
        held: set[tuple[str, int]] = set()
        for scene_id, part in pairs:
            named[part.key] = part
            held.add((scene_id, part.key))
            if len(held) == HELD:
                _add(connection, held)
        _add(connection, held)
        connection.execute("create table asked as select distinct * from pairs")
        return _write(connection, named, out, trees)


def _add(connection: duckdb.DuckDBPyConnection, held: set[tuple[str, int]]) -> None:
    scenes, keys = (pa.array([pair[at] for pair in held]) for at in (0, 1))
    if held:
        connection.register("incoming", pa.table({"scene_id": scenes, "subgraph_key": keys}))
        connection.execute("insert into pairs from incoming")
        connection.unregister("incoming")
    held.clear()


def _write(connection: duckdb.DuckDBPyConnection, named: dict[int, Subgraph], out: Path, trees: Path) -> int:
    known = {row[0] for row in connection.execute("select distinct subgraph_key from asked").fetchall()}
    tables.write(trees, TREES, [{"subgraph_key": key, "tree": named[key].json()} for key in sorted(known)])
    query = "select scene_id, subgraph_key from asked order by scene_id, subgraph_key"
    return tables.write(out, ASKED, sorted_reader(connection, query))


_ASKED = """
create table asked as
select distinct c.scene_id, m.part as subgraph_key
from candidates_file c
semi join differing on differing.key = c.key
join seeds_file s on s.seed = c.seed
join simple m on m.subgraph_key = s.subgraph_key
where c.rank < getvariable('tried')
"""
