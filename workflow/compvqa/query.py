"""DuckDB with bounds on its memory, and its sorted results written as tables."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from compvqa import tables
from compvqa.scratch import scratch_folder
from compvqa.tables import Schema

BATCH = 8_192  # rows that an intake holds at a time


@contextmanager
def connect(scratch: Path | str, memory: str = "2GB", threads: int = 1) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB in memory that spills into a folder of its own, which goes at the end.

    The folder is in TMPDIR where the environment names one, else inside ``scratch``. ``memory`` bounds what it holds
    before it spills; what it spills is bounded by 64 GB.
    """
    with scratch_folder(os.environ.get("TMPDIR") or scratch, "duckdb") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory,
            "threads": threads,
            "temp_directory": str(folder),
            "max_temp_directory_size": "64GB",
            "preserve_insertion_order": False,
        }
        connection = duckdb.connect(":memory:", config=settings)
        try:
            connection.execute("SET enable_progress_bar = false")
            yield connection
        finally:
            connection.close()


def spilled(beside: Path) -> Path:
    """A folder for what does not fit into memory while ``beside`` is made, always the same, so that the next run can
    clear what a killed one left: in TMPDIR where the environment names one, else beside ``beside``."""
    where = os.environ.get("TMPDIR")
    if not where:
        return beside.with_name(f".{beside.name}.store")
    own = hashlib.blake2b(str(beside.absolute()).encode(), digest_size=8).hexdigest()
    return Path(where) / f".compvqa.{own}.store"


def write(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    path: Path | str,
    schema: Schema,
    parameters: Iterable[object] = (),
) -> int:
    """Write the rows of ``query`` to ``path``, sorted by the schema's key, in streams; give their number."""
    columns = ", ".join(f'"{name}"' for name in schema.fields.names)
    order = ", ".join(f'"{name}"' for name in schema.key)
    result = connection.sql(f"SELECT {columns} FROM ({query}) ORDER BY {order}", params=list(parameters))
    reader = result.to_arrow_reader(tables.ROW_GROUP)
    batches = rebatch((batch.cast(schema.fields) for batch in reader), schema.fields)
    return tables.write(path, schema, pa.RecordBatchReader.from_batches(schema.fields, batches))


def rebatch(batches: Iterator[pa.RecordBatch], fields: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of exactly one row group: a file's bytes must not depend on how they came."""
    waiting, rows = [], 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= tables.ROW_GROUP:
            table = pa.Table.from_batches(waiting, fields).combine_chunks()
            yield from table.slice(0, tables.ROW_GROUP).to_batches()
            waiting = table.slice(tables.ROW_GROUP).to_batches()
            rows -= tables.ROW_GROUP
    if rows:
        yield from pa.Table.from_batches(waiting, fields).combine_chunks().to_batches()


class Intake:
    """Rows on their way to sorted tables, in a database that goes to disk where they are many."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, *schemas: Schema):
        self.connection = connection
        self.rows: dict[str, list[dict[str, Any]]] = {}
        for schema in schemas:
            self.rows[schema.name] = []
            connection.register("nothing", schema.fields.empty_table())
            connection.execute(f"CREATE TABLE {schema.name} AS FROM nothing")

    def add(self, *rows: tuple[Schema, dict[str, Any]]) -> None:
        """Take rows of tables."""
        for schema, row in rows:
            self.rows[schema.name].append(row)
            if len(self.rows[schema.name]) == BATCH:
                self._flush(schema)

    def write(self, schema: Schema, path: Path) -> None:
        """Write one of the tables."""
        self._flush(schema)
        write(self.connection, f"FROM {schema.name}", path, schema)

    def _flush(self, schema: Schema) -> None:
        self.connection.register("batch", schema.from_rows(self.rows[schema.name]))
        self.connection.execute(f"INSERT INTO {schema.name} FROM batch")
        self.rows[schema.name].clear()
