"""The scene tables of all sources → one set of tables, one scene an image."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from compvqa import query, tables
from compvqa.errors import InputError
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, OPTIONAL, REJECTS, RELATIONS, SCENES, TABLES
from compvqa.tables import Schema


def merge(sources: list[Path], out: Path, memory: str = "1GB") -> dict[str, int]:
    """Put the tables of several sources' folders together in the folder ``out``, one scene an image.

    ``sources`` come in order of preference: of the scenes of one image the first source's is kept, so that an
    image has one side (train or val) as well. The rejects are those of all sources. Gives counts in and out
    for each source.
    """
    for folder in sources:
        for schema in (*TABLES, REJECTS):
            tables.read(folder / f"{schema.name}.parquet", schema, columns=[])
    with query.connect(out, memory) as connection:
        connection.execute(
            f"""CREATE TABLE ranked AS
            SELECT *, row_number() OVER (PARTITION BY image ORDER BY place, scene_id) AS choice
            FROM ({_union(sources, SCENES)})"""
        )
        _check_ids(connection)
        connection.execute("CREATE TABLE kept AS SELECT place, scene_id FROM ranked WHERE choice = 1")
        for schema in TABLES:
            rows = f"SELECT * FROM ({_union(sources, schema)}) SEMI JOIN kept USING (place, scene_id)"
            query.write(connection, rows, out / f"{schema.name}.parquet", schema)
        _merge_optional(connection, sources, out)
        query.write(connection, _union(sources, REJECTS), out / "rejects.parquet", REJECTS)
        return _merge_counts(connection, sources)


def _merge_optional(connection: duckdb.DuckDBPyConnection, sources: list[Path], out: Path) -> None:
    """Put together what only some sources have, if any has it."""
    for schema in OPTIONAL:
        place = out / f"{schema.name}.parquet"
        if any((folder / place.name).exists() for folder in sources):
            rows = f"SELECT * FROM ({_union(sources, schema)}) SEMI JOIN kept USING (place, scene_id)"
            query.write(connection, rows, place, schema)
        else:
            place.unlink(missing_ok=True)


def _union(sources: list[Path], schema: Schema) -> str:
    """The rows of a table of all sources that have it, with the source's place in the order."""
    columns = ", ".join(f'"{name}"' for name in schema.fields.names)
    files = {place: folder / f"{schema.name}.parquet" for place, folder in enumerate(sources)}
    return " UNION ALL ".join(
        f"SELECT {columns}, {place} AS place FROM read_parquet({_quoted(file)})"
        for place, file in files.items()
        if schema not in OPTIONAL or file.exists()
    )


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _check_ids(connection: duckdb.DuckDBPyConnection) -> None:
    row = connection.execute(
        "SELECT scene_id FROM ranked GROUP BY scene_id HAVING count(*) > 1 ORDER BY scene_id LIMIT 1"
    ).fetchone()
    if row:
        raise InputError(f"Two sources hold a scene {row[0]!r}: give every source a name of its own.")


def _merge_counts(connection: duckdb.DuckDBPyConnection, sources: list[Path]) -> dict[str, int]:
    """Per source: scenes, objects, relations in and out, and the scenes whose image was taken already."""
    counts: dict[str, int] = {}
    for place, folder in enumerate(sources):
        for schema in (SCENES, OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS):
            path = folder / f"{schema.name}.parquet"
            counts[f"{folder.name}: {schema.name} in"] = pq.read_metadata(path).num_rows
            ((left,),) = connection.execute(
                "SELECT count(*) FROM read_parquet(?) SEMI JOIN (FROM kept WHERE place = ?) USING (scene_id)",
                [str(path), place],
            ).fetchall()
            counts[f"{folder.name}: {schema.name} out"] = left
        dropped = counts[f"{folder.name}: scenes in"] - counts[f"{folder.name}: scenes out"]
        counts[f"{folder.name}: scenes dropped: image has a scene"] = dropped
    for schema in (SCENES, OBJECTS, RELATIONS):
        for way in ("in", "out"):
            counts[f"{schema.name} {way}"] = sum(counts[f"{f.name}: {schema.name} {way}"] for f in sources)
    return counts
