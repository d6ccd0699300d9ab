"""The graph backend on DuckDB: related scenes for whole shards of seeds by set-wise joins.

All subgraphs that are equal but for one node (or two) share a *mask*, a hash of everything else. Seeds meet the
others of their masks, keep those whose names there are exclusive and go to the scenes where these occur. A scene is
left out again if it contains what must be absent, read with overlapping names: among the subgraphs of the scene that
have its shape and a root that may be called so, each is compared with it name by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from compvqa import tables
from compvqa.errors import InputError
from compvqa.graphs import shapes
from compvqa.graphs import statements as sql
from compvqa.graphs.backend import CandidateSettings
from compvqa.graphs.store import connect, create, number, sorted_reader, view
from compvqa.graphs.subgraph import Subgraph
from compvqa.graphs.tables import CANDIDATES, OCCURRENCES, OVERLAP_COLUMNS, SEEDS, SUBGRAPHS
from compvqa.progress import track
from compvqa.scenes.tables import OBJECTS, RELATIONS, SCENES
from compvqa.seeds import of_shard, stable_hash

_POSITIVE = 2**63 - 1
_WHOLE_SCENE = ("pos", "no_mult", "mult")
_KINDS = ("noun", "attribute", "relation", "modifier")
_PLACE = pa.schema(
    [
        ("shape", pa.int16()),
        ("reading", pa.int16()),
        ("read_shape", pa.int16()),  # the shape when read so
        ("place", pa.int8()),
        ("slot", pa.int8()),  # the shape's slot that stands at the place
        ("kind", pa.int8()),
        ("key_id", pa.int16()),
        ("salt", pa.int64()),
        ("shape_salt", pa.int64()),
    ]
)
_CHANGE = pa.schema(
    [
        ("shape", pa.int16()),
        ("key_id", pa.int16()),
        ("slot", pa.int8()),
        ("slot2", pa.int8()),
        ("kind", pa.int8()),
        ("kind2", pa.int8()),
        ("salt", pa.int64()),
        ("without_shape", pa.int16()),
        ("without", pa.list_(pa.int8())),
        ("seen", pa.list_(pa.int8())),
        ("relations", pa.list_(pa.int8())),
        ("leaves", pa.list_(pa.int8())),
    ]
)


def find_candidates(
    scenes: Path,
    subgraphs: list[Path],
    occurrences: list[Path],
    overlap: Path,
    shard: int,
    shards: int,
    out_seeds: Path,
    out_candidates: Path,
    settings: CandidateSettings,
    seed: int,
) -> dict[str, int]:
    """See :func:`compvqa.graphs.backend.find_candidates`."""
    with connect(out_candidates, settings) as connection:
        _load(connection, scenes, subgraphs, occurrences, settings, seed)
        counts = _choose_seeds(connection, shard, shards, settings.seeds_per_subgraph)
        _load_overlap(connection, overlap, settings.exclusive)
        for statement in track((*sql.READ, sql.CAN_BE, sql.ROOTED, *sql.POSITIVES), "subgraphs", unit="step"):
            connection.execute(statement)
        _load_seen(connection, scenes)
        for asked, statements in sql.NEGATIVES.items():
            parts = 1 + number(connection, f"select count(*) from {asked}") // settings.partition
            for part in track(range(parts), "distractors", total=parts, unit="part"):
                connection.execute("set variable part = ?", [part])
                connection.execute("set variable parts = ?", [parts])
                for statement in statements:
                    connection.execute(statement)
        counts["out"] = tables.write(out_seeds, SEEDS, sorted_reader(connection, sql.SEEDS))
        counts["candidates"] = tables.write(out_candidates, CANDIDATES, sorted_reader(connection, sql.CANDIDATES))
        for key, rows in connection.execute(sql.COUNTS).fetchall():
            counts[f"candidates: {key}"] = rows
    return counts


@contextmanager
def load(
    scenes: Path, subgraphs: list[Path], occurrences: list[Path], beside: Path, settings: CandidateSettings
) -> Iterator[DuckDBGraph]:
    """See :class:`compvqa.graphs.backend.Backend`."""
    with connect(beside, settings) as connection:
        _load(connection, scenes, subgraphs, occurrences, settings, 0)
        connection.execute(sql.SPELLED)
        yield DuckDBGraph(connection)


class DuckDBGraph:
    """See :class:`compvqa.graphs.backend.Graph`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self._connection = connection

    def containing(self, g: Subgraph, split: str) -> list[str]:
        rows = self._connection.execute(sql.CONTAINING, {"key": g.key, "split": split})
        return [row[0] for row in rows.fetchall()]

    def replaced(self, g: Subgraph, key: str, split: str) -> list[tuple[str, str]]:
        shape, names = shapes.shape_of(g.json())
        place = next((i for i, slot in enumerate(shapes.slots(shape)) if slot.key == key), None)
        if place is None:
            raise InputError(f"{g.json()} has no node {key}.")
        rows = self._connection.execute(sql.REPLACED, {"shape": shape, "names": names, "place": place, "split": split})
        return rows.fetchall()


def _load(
    connection: duckdb.DuckDBPyConnection,
    scenes: Path,
    subgraphs: list[Path],
    occurrences: list[Path],
    settings: CandidateSettings,
    seed: int,
) -> None:
    """Scenes, subgraphs by shape and names, and postings (which subgraph is in which scene) as tables."""
    table = tables.read(scenes / "scenes.parquet", SCENES, ["scene_id", "split"]).sort_by("scene_id")
    ids = table["scene_id"].to_pylist()
    create(
        connection,
        "scene",
        {
            "scene_id": table["scene_id"],
            "split": table["split"],
            "split_id": table["split"].dictionary_encode().combine_chunks().indices,
            "scene": pa.array(range(len(ids)), pa.int32()),
            "salt": _salts(seed, "scene", ids),
        },
    )
    for name in ("seeds_per_subgraph", "per_key", "considered", "group_size"):
        connection.execute(f"set variable {name} = ?", [getattr(settings, name)])
    connection.execute(f"set variable name = '{shapes.NAME}'")
    for macro in sql.MIX:
        connection.execute(macro)
    view(connection, "subgraphs_file", subgraphs, SUBGRAPHS)
    view(connection, "occurrences_file", occurrences, OCCURRENCES)
    for statement in (sql.PATTERN, sql.POSTING):
        connection.execute(statement)
    words = [row[0] for row in connection.execute(sql.WORDS).fetchall()]
    columns = {
        "word": pa.array(words, pa.string()),
        "name": pa.array([json.loads(word) for word in words], pa.string()),
    }
    numbers = pa.array(range(len(words)), pa.int32())
    create(connection, "word", columns | {"id": numbers, "salt": _salts(seed, "name", words)})
    unasked = "set variable unasked = (select coalesce(list(id), []) from word where list_contains(?, name))"
    connection.execute(unasked, [list(settings.unasked_relations)])
    _load_shapes(connection, seed)


def _load_shapes(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    """The slots of each shape (with numbers for keys), and which slot stands where in each reading."""
    found = [row[0] for row in connection.execute("select distinct shape from pattern order by 1").fetchall()]
    slots = {shape: shapes.slots(shape) for shape in found}
    changes = {shape: shapes.changes2(shape) for shape in found}
    nodes = {key: (0, None) for key in _WHOLE_SCENE}
    nodes |= {slot.key: (slot.node, None) for row in slots.values() for slot in row if slot.key}
    nodes |= {change.key: (change.first.node, change.second.node) for row in changes.values() for change in row}
    orders = [(shape, number, *reading) for shape in found for number, reading in enumerate(shapes.readings(shape))]
    numbers = {shape: i for i, shape in enumerate(sorted({read for _, _, read, _ in orders}))}
    ids_of_shapes = pa.array(list(numbers.values()), pa.int16())
    create(connection, "shape", {"shape": pa.array(list(numbers), pa.string()), "id": ids_of_shapes})
    names = sorted(nodes)
    ids = {name: i for i, name in enumerate(names)} | {None: None}
    rows = [
        {"shape": numbers[shape], "reading": reading, "read_shape": numbers[read], "place": place, "slot": slot}
        | {"kind": _KINDS.index(slots[shape][slot].kind), "key_id": ids[slots[shape][slot].key]}
        | {"salt": _salt(seed, "place", str(place)), "shape_salt": _salt(seed, "shape", read)}
        for shape, reading, read, order in orders
        for place, slot in enumerate(order)
    ]
    create(connection, "place", pa.Table.from_pylist(rows, _PLACE))
    rows = [
        {"shape": numbers[shape], "key_id": ids[change.key], "slot": change.slots[0], "slot2": change.slots[1]}
        | {"kind": _KINDS.index(change.first.kind), "kind2": _KINDS.index(change.second.kind)}
        | {"salt": _salt(seed, "places", f"{change.slots} {shape}")}
        | {"without_shape": numbers.get(change.without[0]), "without": change.without[1], "seen": change.seen}
        | {"relations": change.relations, "leaves": change.leaves}
        for shape, row in changes.items()
        for change in row
    ]
    create(connection, "change", pa.Table.from_pylist(rows, _CHANGE))
    create(
        connection,
        "key",
        {
            "id": pa.array(range(len(names)), pa.int16()),
            "key": pa.array(names, pa.string()),
            "node": pa.array([nodes[name][0] for name in names], pa.int16()),
            "node2": pa.array([nodes[name][1] for name in names], pa.int16()),
            "salt": _salts(seed, "key", names),
        },
    )


def _load_seen(connection: duckdb.DuckDBPyConnection, scenes: Path) -> None:
    """Which relations are annotated between which nouns."""
    for schema in (OBJECTS, RELATIONS):
        view(connection, f"{schema.name}_file", [scenes / f"{schema.name}.parquet"], schema)
    connection.execute(sql.SEEN)


def _salt(seed: int, what: str, item: str) -> int:
    """A stable random number of 63 bits."""
    return stable_hash(seed, what, item) & _POSITIVE


def _salts(seed: int, what: str, items: Iterable[str]) -> pa.Array:
    """A stable random number of 63 bits for each item."""
    return pa.array([_salt(seed, what, item) for item in items], pa.int64())


def _choose_seeds(connection: duckdb.DuckDBPyConnection, shard: int, shards: int, most: int) -> dict[str, int]:
    """The shard's seeds as a table; gives how many there are and how many the cap left out."""
    keys = [row[0] for row in connection.execute(sql.SEED_KEYS).fetchall()]
    create(connection, "asked_key", {"key": pa.array(sorted(of_shard(keys, shard, shards)), pa.int64())})
    connection.execute(sql.STARTS)
    starts = connection.sql("select key, scene_id, scene from start").to_arrow_table()
    ids = [
        stable_hash("seed", key, scene_id)
        for batch in starts.to_batches()
        for key, scene_id in zip(batch["key"].to_pylist(), batch["scene_id"].to_pylist(), strict=True)
    ]
    seeds = starts.drop_columns("scene_id").append_column("seed", pa.array(ids, pa.int64()))
    create(connection, "numbered", seeds)
    connection.execute(sql.SEED)
    before = number(connection, sql.STARTS_BEFORE)
    return {"in": before, f"dropped: over {most} start scenes of a subgraph": before - len(ids)}


def _load_overlap(connection: duckdb.DuckDBPyConnection, path: Path, exclusive: float) -> None:
    """Judged pairs of names as numbers, and whether they exclude each other."""
    table = tables.read(path)
    missing = [column for column in OVERLAP_COLUMNS if column not in table.column_names]
    if missing:
        raise InputError(f"{path} is no overlap table: it lacks the column {missing[0]}.")
    connection.register("overlap_file", table)
    connection.execute("set variable exclusive = ?", [exclusive])
    numbers = pa.array(range(len(_KINDS)), pa.int8())
    create(connection, "kind", {"kind": pa.array(_KINDS), "id": numbers})
    connection.execute(sql.PAIR)
    connection.unregister("overlap_file")
