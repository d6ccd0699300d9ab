"""A DuckDB connection that keeps to its memory, threads and disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.errors import InputError
from compvqa.query import rebatch
from compvqa.settings import Settings

_TEXT_KEY = "create macro text_key(text) as ('0x' || left(md5(text), 15))::bigint"  # compvqa.seeds.text_key


class StoreSettings(Settings):
    """What the graph store may use; none of it changes a result."""

    memory_limit: str = Field("1500MB", description="Memory that DuckDB may use before it goes to disk")
    max_disk: str = Field("20GB", description="Disk that DuckDB may use beside the output for what does not fit")
    threads: int = Field(1, ge=1, description="Threads of DuckDB")


@contextmanager
def connect(beside: Path, settings: StoreSettings) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory; what does not fit goes to a folder beside ``beside``, removed at the
    end."""
    beside.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{beside.name}.", dir=beside.parent) as spill:
        connection = duckdb.connect(":memory:")
        try:
            options = {
                "memory_limit": settings.memory_limit,
                "temp_directory": spill,
                "max_temp_directory_size": settings.max_disk,
                "threads": settings.threads,
                "preserve_insertion_order": False,
                "enable_progress_bar": False,
            }
            for option, value in options.items():
                _set(connection, option, value)
            connection.execute(_TEXT_KEY)
            yield connection
        except duckdb.OutOfMemoryException as error:
            raise InputError(
                f"the graph store ran out of memory or disk while making {beside}: raise memory_limit or "
                f"max_disk, or use more shards ({str(error).splitlines()[0]})."
            ) from None
        finally:
            connection.close()


def _set(connection: duckdb.DuckDBPyConnection, option: str, value: object) -> None:
    quoted = "'" + str(value).replace("'", "''") + "'"
    try:
        connection.execute(f"set {option} = {quoted}")
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise InputError(f"the graph store does not take {option} = {value} ({first}): write it like 2GB.") from None


def sorted_reader(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, object] | None = None
) -> pa.RecordBatchReader:
    """The rows of ``query`` (which orders them) as a stream of whole row groups for ``tables.write``."""
    reader = connection.sql(query, params=parameters).to_arrow_reader(tables.ROW_GROUP)
    return pa.RecordBatchReader.from_batches(reader.schema, rebatch(reader, reader.schema))


def view(connection: duckdb.DuckDBPyConnection, name: str, paths: Iterable[Path], schema: tables.Schema) -> None:
    """The files at ``paths`` as one view; refuses files that lack the schema's columns."""
    paths = list(paths)
    if not paths:
        raise InputError(f"no table of {schema.name} is given: run the stage that makes it first.")
    for path in paths:
        tables.read(path, schema, columns=[])
    connection.read_parquet([str(path) for path in paths]).create_view(name)


def create(connection: duckdb.DuckDBPyConnection, name: str, data: pa.Table | dict[str, pa.Array]) -> None:
    """A table ``name`` of ``data``: a table, or its columns."""
    connection.register("incoming", data if isinstance(data, pa.Table) else pa.table(data))
    connection.execute(f"create table {name} as select * from incoming")
    connection.unregister("incoming")


def number(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    """The one integer that ``query`` gives (0 for null)."""
    return int(connection.execute(query).fetchall()[0][0] or 0)
