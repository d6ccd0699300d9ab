"""What objects are, as values of kinds: what they are called, and their attributes by group; and where two go together.

It is what is asked of a pair of values that a split holds out, in any source's scene tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from compvqa import query
from compvqa.errors import InputError
from compvqa.scenes.pairs import Pair, around, told_without

NAME, NO_GROUP = "name", "attribute"  # the kinds of what objects are called, and of attributes without a group
# The scenes in which some object has both values of a pair, which $x and $y are
WITH_PAIR = """SELECT DISTINCT scene_id FROM (
    SELECT scene_id, object_id, name FROM objects UNION ALL SELECT scene_id, object_id, name FROM attributes
) WHERE name IN ($x, $y) GROUP BY scene_id, object_id HAVING count(DISTINCT name) = 2"""
_VALUED = f"""CREATE VIEW valued AS SELECT scene_id, object_id, name AS value, '{NAME}' AS kind FROM objects
    UNION ALL SELECT scene_id, object_id, name, coalesce("group", '{NO_GROUP}') FROM attributes"""
_TOGETHER = "FROM valued one JOIN valued other USING (scene_id, object_id)"


@dataclass(frozen=True)
class Seen:
    """How scenes show the kinds of a pair: which these are, its diversity P (how many combinations of values of its
    kinds there are around it, itself counted), and what one value tells of the other without it, in bits."""

    kinds: tuple[str, str]
    diversity: int
    bits: float


def open_scenes(connection: duckdb.DuckDBPyConnection, scenes: Path) -> None:
    """Make the scene tables of a folder known to a connection by their names."""
    for name in ("scenes", "objects", "attributes"):
        connection.read_parquet(str(scenes / f"{name}.parquet")).create_view(name)


def showing(pair: Pair, scenes: Path) -> frozenset[str]:
    """The scenes of a folder of scene tables in which some object has both values of a pair."""
    with duckdb.connect() as connection:
        open_scenes(connection, scenes)
        found = connection.execute(WITH_PAIR, {"x": pair[0], "y": pair[1]}).fetchall()
    return frozenset(scene for (scene,) in found)


def seen(pair: Pair, scenes: Path, shown: Iterable[str], least: int, scratch: Path) -> Seen:
    """How the scenes ``shown`` of a folder of scene tables show the kinds of a pair: combinations that fewer than
    ``least`` objects have are none. :class:`InputError` where no object of any scene has both values."""
    with query.connect(scratch, "1GB") as connection:
        open_scenes(connection, scenes)
        connection.execute(_VALUED)
        sql = f"""SELECT one.kind, other.kind {_TOGETHER} WHERE one.value = $x AND other.value = $y
            GROUP BY ALL ORDER BY count(*) DESC, one.kind, other.kind LIMIT 1"""
        found = connection.execute(sql, {"x": pair[0], "y": pair[1]}).fetchall()
        if not found:
            raise InputError(f"no object of {scenes} is {' and '.join(pair)}: hold out a pair that objects have.")
        connection.register("shown", pa.table({"scene_id": pa.array(sorted(set(shown)), pa.string())}))
        sql = f"""SELECT one.value, other.value, count(*) {_TOGETHER} JOIN shown USING (scene_id)
            WHERE one.kind = ? AND other.kind = ? AND one.value <> other.value GROUP BY ALL"""
        counts = Counter({(x, y): n for x, y, n in connection.execute(sql, found[0]).fetchall()})
    there = around(pair, {item for item, n in counts.items() if n >= least} - {pair})
    return Seen(found[0], len(there), told_without(pair, there) if len(there) > 1 else 0.0)
