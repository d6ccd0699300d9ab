"""Which subgraphs occur where, by Cypher: one query for each shape, without names.

What the server answers are occurrences by their names in the shape's order; DuckDB then finds which subgraph each is.
They must be those that the enumeration found in the scene tables, or the server holds another graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.covr.subgraphs import shapes
from compvqa.covr.subgraphs.search import GraphFiles
from compvqa.covr.subgraphs.search.neo4j import cypher
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded
from compvqa.covr.subgraphs.store import StoreSettings, connect, create, number, sorted_reader, view
from compvqa.covr.subgraphs.tables import OCCURRENCES, SUBGRAPHS
from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.scenes.tables import OBJECTS

AT_ONCE = 300_000  # about how many occurrences one round of queries is to give, which bounds memory here and there
_FOUND = pa.schema(
    [("scene_id", pa.string()), ("shape", pa.int16()), ("root_id", pa.string()), ("names", pa.list_(pa.int64()))]
)
_READING = pa.schema([("shape", pa.string()), ("asked", pa.int16()), ("slots", pa.list_(pa.int8()))])


def write_occurrences(graph: GraphFiles, loaded: Loaded, out: Path, settings: StoreSettings) -> int:
    """Ask the server for all occurrences of all shapes and write their table; gives their number.

    ``seed`` is as the enumeration has it, ``object_ids`` holds the root alone. A server whose graph has other
    occurrences than the enumeration is refused.
    """
    with connect(out, settings) as connection:
        view(connection, "objects_file", [graph.scenes / "objects.parquet"], OBJECTS)
        view(connection, "subgraphs_file", graph.subgraphs, SUBGRAPHS)
        view(connection, "occurrences_file", graph.occurrences, OCCURRENCES)
        readings = _readings(row[0] for row in connection.execute(_SHAPES).fetchall())
        asked = sorted({shape for _, shape, _ in readings})
        rows = [(shape, asked.index(other), slots) for shape, other, slots in readings]
        create(connection, "reading", pa.table([list(column) for column in zip(*rows, strict=True)], _READING))
        without = [row[0] for row in connection.execute(_LEFT_OUT).fetchall()]
        parts = max(1, AT_ONCE * loaded.parts // max(1, number(connection, "select count(*) from occurrences_file")))
        raw = out.with_name(f"{out.name}.found")
        with pq.ParquetWriter(raw, _FOUND) as writer:
            for table in _ask(loaded, asked, without, parts):
                writer.write_table(table)
        connection.read_parquet(str(raw)).create_view("found_file")
        for statement in _STATEMENTS:
            connection.execute(statement)
        _check(loaded, number(connection, _ONLY_THERE), number(connection, _ONLY_HERE))
        return tables.write(out, OCCURRENCES, sorted_reader(connection, _OCCURRENCES))


def _readings(found: Iterable[str]) -> list[tuple[str, str, list[int]]]:
    """Shapes that can be read as each other are asked for as one: each shape, that one, and its slots in that order."""
    rows = []
    for shape in found:
        orders = shapes.readings(shape)
        asked = min(other for other, _ in orders)
        rows += [(shape, asked, [place + 1 for place in slots]) for other, slots in orders if other == asked]
    return rows


def _ask(loaded: Loaded, asked: list[str], without: list[str], parts: int) -> Iterator[pa.Table]:
    """The server's answers, by rounds of so many parts, and shapes."""
    rounds = [(first, shape) for first in range(0, loaded.parts, parts) for shape in range(len(asked))]
    queries = [cypher.occurrences(shape) for shape in asked]
    kinds = [[slot.kind for slot in shapes.slots(shape)] for shape in asked]
    key = cache(shapes.name_key)
    for first, shape in track(rounds, "asking by Cypher", total=len(rounds), unit="query"):
        span = {"graph": loaded.graph, "first": first, "end": first + parts, "without": without}
        answers = loaded.server.read(queries[shape], **span)
        rows = [(answer["scene_id"], row) for answer in answers for row in answer["found"]]
        names = [list(map(key, kinds[shape], row[1:])) for _, row in rows]
        columns = [[scene for scene, _ in rows], [shape] * len(rows), [row[0] for _, row in rows], names]
        yield pa.table(columns, _FOUND)


def _check(loaded: Loaded, only_there: int, only_here: int) -> None:
    if only_there or only_here:
        raise InputError(
            f"graph {loaded.graph} on the Neo4j server is not that of {loaded.scenes}: {only_there:,} occurrences of "
            f"subgraphs are on the server alone and {only_here:,} in the tables alone; remove it by "
            f"`python -m compvqa load-neo4j --drop --scenes {loaded.scenes}`, then run this again."
        )


_SHAPES = "select distinct shape from subgraphs_file order by 1"
# scenes that the enumeration left out
_LEFT_OUT = """
select distinct scene_id from objects_file anti join (select distinct scene_id from occurrences_file) using (scene_id)
order by 1
"""
_STATEMENTS = (
    """
create table spelled as
select distinct r.asked as shape, list_select(g.names, r.slots) as names, g.subgraph_key
from subgraphs_file g join reading r on r.shape = g.shape
""",
    """
create table there as
select distinct f.scene_id, s.subgraph_key, f.root_id from found_file f left join spelled s using (shape, names)
""",
    """
create table here as
select scene_id, subgraph_key, root_id, bool_or(seed) as seed from occurrences_file group by all
""",
)
_ONLY_THERE = "select count(*) from there anti join here using (scene_id, subgraph_key, root_id)"
_ONLY_HERE = "select count(*) from here anti join there using (scene_id, subgraph_key, root_id)"
_OCCURRENCES = """
select scene_id, subgraph_key, root_id, [root_id] as object_ids, seed
from here semi join there using (scene_id, subgraph_key, root_id) order by scene_id, subgraph_key, root_id
"""
