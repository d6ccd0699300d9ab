"""The graph backend on DuckDB: related scenes for all seeds by set-wise joins.

All subgraphs that are equal but for one node (or two) share a *mask*, a hash of everything else. Seeds meet the
others of their masks, keep those whose names there are exclusive and go to the scenes where these occur. A scene is
left out again if it contains what must be absent, read with overlapping names: among the subgraphs of the scene that
have its shape and a root that may be called so, each is compared with it name by name. Masks are searched in parts,
so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import isqrt
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.covr.subgraphs import places, shapes
from compvqa.covr.subgraphs import statements as sql
from compvqa.covr.subgraphs.search import CandidateSettings, GraphFiles
from compvqa.covr.subgraphs.store import bound_disk, connect, create, number, view
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.covr.subgraphs.tables import CANDIDATES, OCCURRENCES, OVERLAP_COLUMNS, SEEDS, SUBGRAPHS
from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.query import rebatch
from compvqa.scenes.tables import TABLES


def find_candidates(
    graph: GraphFiles,
    overlap: Path,
    out: list[tuple[Path, Path]],
    settings: CandidateSettings,
    seed: int,
) -> dict[str, int]:
    """See :func:`compvqa.covr.subgraphs.search.find_candidates`."""
    with connect(out[0][1], settings) as connection:
        connection.execute("set variable shards = ?", [len(out)])
        _load(connection, graph, settings, seed)
        _load_overlap(connection, overlap, settings.exclusive)
        counts = _choose_seeds(connection, settings)
        for statement in track((*sql.BEFORE, *sql.POSITIVES, sql.SEEN), "subgraphs", unit="step"):
            bound_disk(connection, settings)
            connection.execute(statement)
        for cut, statements in sql.NEGATIVES:
            connection.execute(cut)
            parts = number(connection, sql.PARTS)
            for part in track(range(parts), "distractors", total=parts, unit="part"):
                bound_disk(connection, settings)
                connection.execute("set variable part = ?", [part])
                for statement in statements:
                    connection.execute(statement)
        return counts | _write(connection, out)


def _choose_seeds(connection: duckdb.DuckDBPyConnection, settings: CandidateSettings) -> dict[str, int]:
    """Take the seeds; gives how many there could be, and how many each cap left out."""
    before = number(connection, sql.SEEDS_BEFORE)
    connection.execute(sql.START)
    started = number(connection, "select count(*) from start")
    connection.execute(sql.SEED)
    return {
        "in": before,
        f"dropped: over {settings.seeds_per_subgraph} start scenes of a subgraph": before - started,
        f"dropped: over {settings.seeds_per_scene} subgraphs of a start scene": started
        - number(connection, "select count(*) from seed"),
    }


def _write(connection: duckdb.DuckDBPyConnection, out: list[tuple[Path, Path]]) -> dict[str, int]:
    """Write the shards; gives how many seeds and candidates there are."""
    for statement in sql.TREE:
        connection.execute(statement)
    counts = {"out": 0, "candidates": 0}
    spelling = _Spelling(connection)
    last = _last_seeds(connection, len(out))
    for (seeds, _), rows in zip(out, _sorted_shards(connection, sql.SEEDS, last), strict=True):
        counts["out"] += tables.write(seeds, SEEDS, rows)
    found = track(_sorted_shards(connection, sql.CANDIDATES, last), "writing", len(out), unit="shard")
    for (_, candidates), rows in zip(out, found, strict=True):
        counts["candidates"] += tables.write(candidates, CANDIDATES, spelling.of(rows))
    for key, rows in connection.execute(sql.COUNTS).fetchall():
        counts[f"candidates: {key}"] = rows
    return counts


def _last_seeds(connection: duckdb.DuckDBPyConnection, shards: int) -> list[int]:
    """The number of each shard's last seed; of one that has none, that of the shard before (0 for the first)."""
    last = np.zeros(shards, np.int64)
    for shard, seed in connection.execute(sql.LAST).fetchall():
        last[shard] = seed
    return np.maximum.accumulate(last).tolist()


def _sorted_shards(
    connection: duckdb.DuckDBPyConnection, query: str, last: list[int]
) -> Iterator[pa.RecordBatchReader]:
    """The rows of ``query`` shard by shard, each to be read before the next; ``last`` are the shards' last seeds.

    Several shards are sorted at once: in one go all would hardly fit into memory, and for each alone all rows would be
    gone through again.
    """
    several = isqrt(len(last) - 1) + 1
    for start in range(0, len(last), several):
        ends = last[start : start + several]
        first = last[start - 1] + 1 if start else 1
        rows = connection.sql(query, params={"first": first, "last": ends[-1]}).to_arrow_reader(tables.ROW_GROUP)
        cut = _Cut(rows)
        for end in ends:
            yield pa.RecordBatchReader.from_batches(rows.schema, rebatch(cut.until(end), rows.schema))


class _Cut:
    """A stream of rows sorted by the column ``number``, taken piece by piece."""

    def __init__(self, reader: pa.RecordBatchReader):
        self._batches = iter(reader)
        self._left: pa.RecordBatch | None = None

    def until(self, last: int) -> Iterator[pa.RecordBatch]:
        """The next rows, up to those of ``last``."""
        while (batch := self._left or next(self._batches, None)) is not None:
            end = int(np.searchsorted(batch["number"].to_numpy(), last, side="right"))
            self._left = batch.slice(end) if end < len(batch) else None
            yield batch.slice(0, end)
            if self._left is not None:
                return


class _Spelling:
    """What numbers of seeds, keys, scenes and words stand for; looked up after sorting, which is faster by numbers."""

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        def column(query: str) -> pa.Array:
            return connection.sql(query).to_arrow_table()[0].combine_chunks()

        self._keys = column("select key from key order by id")
        self._nodes = column("select list_filter([node, node2], lambda n: n is not null) from key order by id")
        self._scenes = column("select scene_id from scene order by scene")
        self._seeds = column("select salt from seed order by seed")
        self._words = column("select name from word order by id")

    def of(self, reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
        """The rows of ``reader`` (by number) as rows of candidates."""
        return pa.RecordBatchReader.from_batches(CANDIDATES.fields, map(self._spelled, reader))

    def _spelled(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        words = np.column_stack([batch["name"].to_numpy(), batch["name2"].to_numpy()])
        ends = np.cumsum((words > 0).sum(axis=1, dtype=np.int32), dtype=np.int32)
        names = self._words.take(pa.array(words[words > 0] - 1))
        columns = {
            "seed": self._seeds.take(pc.subtract(batch["number"], 1)),
            "key": self._keys.take(batch["key_id"]),
            "scene_id": self._scenes.take(batch["scene"]),
            "rank": batch["rank"].cast(pa.int32()),
            "nodes": self._nodes.take(batch["key_id"]),
            "names": pa.ListArray.from_arrays(pa.array(np.concatenate([[0], ends]), pa.int32()), names),
        }
        return pa.RecordBatch.from_pydict(columns, CANDIDATES.fields)


@contextmanager
def load(graph: GraphFiles, beside: Path, settings: CandidateSettings) -> Iterator[DuckDBGraph]:
    """See :class:`compvqa.covr.subgraphs.search.Backend`."""
    with connect(beside, settings) as connection:
        _load(connection, graph, settings, 0)
        for statement in sql.READ:
            connection.execute(statement)
        yield DuckDBGraph(connection)


class DuckDBGraph:
    """See :class:`compvqa.covr.subgraphs.search.Graph`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self._connection = connection

    def containing(self, g: Subgraph, split: str) -> list[str]:
        rows = self._connection.execute(sql.CONTAINING, {"key": g.key, "split": split})
        return [row[0] for row in rows.fetchall()]

    def replaced(self, g: Subgraph, key: str, split: str) -> list[tuple[str, str]]:
        shape, names = shapes.spelled(g)
        place = next((i for i, slot in enumerate(shapes.slots(shape)) if slot.key == key), None)
        if place is None:
            raise InputError(f"{g.json()} has no node {key}.")
        rows = self._connection.execute(sql.REPLACED, {"shape": shape, "names": names, "place": place, "split": split})
        return rows.fetchall()


def _load(connection: duckdb.DuckDBPyConnection, graph: GraphFiles, settings: CandidateSettings, seed: int) -> None:
    """Scenes, names, subgraphs by shape and names, and postings (which subgraph is in which scene) as tables."""
    for schema in TABLES:
        view(connection, f"{schema.name}_file", [graph.scenes / f"{schema.name}.parquet"], schema)
    view(connection, "subgraphs_file", graph.subgraphs, SUBGRAPHS)
    view(connection, "occurrences_file", graph.occurrences, OCCURRENCES)
    connection.execute("set variable seed = ?", [seed])
    for name in ("seeds_per_subgraph", "seeds_per_scene", "per_key", "considered", "group_size", "partition"):
        connection.execute(f"set variable {name} = ?", [getattr(settings, name)])
    unasked = [shapes.name_key("relation", name) for name in settings.unasked_relations]
    connection.execute("set variable unasked = ?::bigint[]", [unasked])
    for statement in (*sql.MACROS, sql.SCENE, sql.WORD):
        connection.execute(statement)
    found = [row[0] for row in connection.execute(sql.SHAPES).fetchall()]
    for name, rows in places.tables_of(found).items():
        create(connection, name, rows)
    for statement in (sql.KEY, sql.PATTERN, sql.POSTING):
        connection.execute(statement)


def _load_overlap(connection: duckdb.DuckDBPyConnection, path: Path, exclusive: float) -> None:
    """Which names exclude each other, and which may be read as which."""
    table = tables.read(path)
    missing = [column for column in OVERLAP_COLUMNS if column not in table.column_names]
    if missing:
        raise InputError(f"{path} is no overlap table: it lacks the column {missing[0]}.")
    connection.register("overlap_file", table)
    connection.execute("set variable exclusive = ?", [exclusive])
    connection.execute("set variable words = (select max(id) from word)")
    connection.execute(sql.MATCH)
    connection.unregister("overlap_file")
