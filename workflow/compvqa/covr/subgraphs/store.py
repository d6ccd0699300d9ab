"""A DuckDB connection that keeps to its memory, threads and disk.

Tables lie in a file of their own from the start. Tables in memory that do not fit are written to disk anew each time
they make room, which for a large graph is many times their size.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.errors import InputError
from compvqa.query import rebatch, spilled
from compvqa.settings import Settings

_TEXT_KEY = "create macro text_key(text) as ('0x' || left(md5(text), 15))::bigint"  # compvqa.seeds.text_key


class StoreSettings(Settings):
    """What the graph store may use; none of it changes a result."""

    memory_limit: str = Field("1500MB", description="Memory that DuckDB may use before it goes to disk")
    max_disk: str = Field("20GB", description="Disk that DuckDB may use in TMPDIR, or beside the output")
    threads: int = Field(1, ge=1, description="Threads of DuckDB")


@contextmanager
def connect(beside: Path, settings: StoreSettings) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in a folder of its own (:func:`compvqa.query.spilled`), removed at the end, as is what steps in
    between can't hold in memory; :func:`bound_disk` keeps both to ``settings.max_disk``."""
    with _scratch(beside) as scratch:
        connection = duckdb.connect(":memory:")
        try:
            options = {
                "memory_limit": settings.memory_limit,
                "temp_directory": f"{scratch}/spilled",
                "max_temp_directory_size": settings.max_disk,
                "threads": settings.threads,
                "preserve_insertion_order": False,
                "enable_progress_bar": False,
            }
            for option, value in options.items():
                _set(connection, option, value)
            connection.execute(f"attach '{_quoted(str(scratch))}/tables' as store (recovery_mode no_wal_writes)")
            connection.execute("use store")
            connection.execute(_TEXT_KEY)
            yield connection
        except duckdb.OutOfMemoryException as error:
            raise InputError(
                f"the graph store ran out of memory or disk while making {beside}: raise memory_limit or "
                f"max_disk, or use more shards ({str(error).splitlines()[0]})."
            ) from None
        finally:
            connection.close()


@contextmanager
def _scratch(beside: Path) -> Iterator[Path]:
    """The folder of :func:`compvqa.query.spilled`, empty, and gone at the end."""
    folder = spilled(beside)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def bound_disk(connection: duckdb.DuckDBPyConnection, settings: StoreSettings) -> None:
    """Cap spill space at what is left of ``max_disk`` beside the tables so far; InputError where nothing is left."""
    free = number(
        connection,
        f"select parse_formatted_bytes('{_quoted(settings.max_disk)}') - total_blocks * block_size"
        " from pragma_database_size() where database_name = 'store'",
    )
    if free <= 0:
        raise InputError(f"the graph store's tables are larger than {settings.max_disk}: raise max_disk.")
    _set(connection, "max_temp_directory_size", f"{free}B")


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _set(connection: duckdb.DuckDBPyConnection, option: str, value: object) -> None:
    try:
        connection.execute(f"set {option} = '{_quoted(str(value))}'")
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
