"""Reading and writing of the tables between stages.

Each stage owns its :class:`Schema`. A file is Parquet (zstd) sorted by its key, written to a temporary
name and renamed, and carries the *recipe id* of the run that made it (see ``provenance.record``) in its
metadata: equal recipes give equal bytes.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa.errors import InputError, disk_full

RECIPE = b"compvqa.recipe"
SCHEMA = b"compvqa.schema"
ROW_GROUP = 131_072
_recipe: ContextVar[str] = ContextVar("recipe", default="")


@dataclass(frozen=True)
class Schema:
    """A table's name, columns and key: what it is sorted by, unique together unless ``unique`` is False.

    ``metadata``: what the file says of itself besides its recipe and its name. ``foreign``: what it says to programs of
    others, by their own keys.
    """

    name: str
    fields: pa.Schema
    key: tuple[str, ...]
    unique: bool = True
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    foreign: Mapping[str, str] = field(default_factory=dict, hash=False)

    def from_rows(self, rows: Iterable[dict[str, Any]]) -> pa.Table:
        """A table of ``rows`` (dictionaries with every column)."""
        return pa.Table.from_pylist(list(rows), schema=self.fields)


class _WithoutPandas(MetaPathFinder):
    """Hides pandas from who looks for it."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _find_no_pandas() -> None:
    """Let pyarrow look for pandas now and find none. At the first array of Python's values it would import it, to see
    whether they are a series, which takes longer than many a stage; ``to_pandas`` imports it still."""
    hiding = _WithoutPandas()
    sys.meta_path.insert(0, hiding)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hiding)


if "pandas" not in sys.modules:
    _find_no_pandas()


@contextmanager
def recipe(recipe_id: str) -> Iterator[None]:
    """Every table written inside carries ``recipe_id``."""
    token = _recipe.set(recipe_id)
    try:
        yield
    finally:
        _recipe.reset(token)


def running() -> str:
    """The recipe id that tables are written with here and now; empty outside of a run."""
    return _recipe.get()


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """A temporary path beside ``path`` that is renamed to ``path`` when the block ends well.

    Raises :class:`InputError` naming ``path`` where the disk is full, or where ``path`` is a folder or in none.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{path.parent} is no folder, so that nothing can be written there: name another.") from None
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except InputError:
        raise
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: name a file to write.") from None
    except Exception as error:
        if told := disk_full(error, path):
            raise told from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write(path: Path | str, schema: Schema, data: pa.Table | pa.RecordBatchReader | Iterable[dict[str, Any]]) -> int:
    """Write ``data`` to ``path`` and give the number of rows.

    A table, or rows as dictionaries, is sorted by the schema's key here. A record batch reader is streamed,
    must come sorted, and is checked.
    """
    if isinstance(data, pa.RecordBatchReader):
        batches: Iterable[pa.Table] = (pa.Table.from_batches([batch]) for batch in data)
    else:
        table = data if isinstance(data, pa.Table) else schema.from_rows(data)
        table = table.select(schema.fields.names).cast(schema.fields)
        batches = [table.sort_by([(column, "ascending") for column in schema.key])]
    metadata = {RECIPE: _recipe.get().encode(), SCHEMA: schema.name.encode()}
    metadata |= {_key(name): value.encode() for name, value in schema.metadata.items()}
    metadata |= {name.encode(): value.encode() for name, value in schema.foreign.items()}
    fields = schema.fields.with_metadata(metadata)
    rows, last = 0, None
    with replacing(path) as temporary, pq.ParquetWriter(temporary, fields, compression="zstd") as out:
        for batch in batches:
            batch = batch.select(schema.fields.names).cast(schema.fields)
            last = _check_key(schema, batch, last, path)
            out.write_table(batch.cast(fields), row_group_size=ROW_GROUP)
            rows += batch.num_rows
    return rows


def _check_key(
    schema: Schema, batch: pa.Table, last: tuple[Any, ...] | None, path: Path | str
) -> tuple[Any, ...] | None:
    """Raise if ``batch`` is out of order or (when the key is unique) repeats a key; give its last key."""
    if batch.num_rows == 0 or not schema.key:
        return last
    keys = batch.select(list(schema.key)).combine_chunks()
    first = tuple(keys.column(c)[0].as_py() for c in schema.key)
    ordered = _in_order(keys, schema.key, strict=schema.unique)
    if not ordered or (last is not None and (first < last or (schema.unique and first == last))):
        raise ValueError(f"{path}: rows of {schema.name} are not sorted by a unique key ({', '.join(schema.key)})")
    return tuple(keys.column(c)[-1].as_py() for c in schema.key)


def _in_order(keys: pa.Table, names: Sequence[str], strict: bool) -> bool:
    """Whether each row's key is greater than (or, if not strict, at least) the one before."""
    n = keys.num_rows
    if n < 2:
        return True
    equal = pa.array([True] * (n - 1))
    less = pa.array([False] * (n - 1))
    for name in names:
        column = keys.column(name).combine_chunks()
        before, after = column.slice(0, n - 1), column.slice(1)
        less = pc.or_(less, pc.and_(equal, pc.less(before, after)))
        equal = pc.and_(equal, pc.equal(before, after))
    good = less if strict else pc.or_(less, equal)
    return bool(pc.all(good).as_py())


def read(path: Path | str, schema: Schema | None = None, columns: Sequence[str] | None = None) -> pa.Table:
    """The table at ``path``; with a schema, one that lacks its columns is refused with a clear error."""
    with _opened(path, schema) as file:
        try:
            table = file.read(columns=None if columns is None else list(columns))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(path, error) from None
    return table.replace_schema_metadata(None)


def read_keys(path: Path | str, schema: Schema, keys: Iterable[str]) -> pa.Table:
    """The rows of the table at ``path`` whose first key column is among ``keys``; errors as for :func:`read`.

    Of the file, only row groups that may have one are read, one at a time.
    """
    wanted = sorted(set(keys))
    values = pa.array(wanted, schema.fields.field(schema.key[0]).type)
    found = []
    with _opened(path, schema) as file:
        try:
            for number in _groups(file, schema.key[0], wanted):
                rows = file.read_row_group(number)
                found.append(rows.filter(pc.is_in(rows[schema.key[0]], values)))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(path, error) from None
        table = pa.concat_tables(found) if found else file.schema_arrow.empty_table()
    return table.replace_schema_metadata(None)


def _groups(file: pq.ParquetFile, column: str, wanted: Sequence[str]) -> Iterator[int]:
    """The numbers of the row groups in whose range of ``column`` one of the sorted values lies."""
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        [limits] = [
            item.statistics for item in map(group.column, range(group.num_columns)) if item.path_in_schema == column
        ]
        if not (limits and limits.has_min_max) or bisect_left(wanted, limits.min) < bisect_right(wanted, limits.max):
            yield number


def check(path: Path | str, schema: Schema) -> None:
    """Raise :class:`InputError` if ``path`` is no table with the schema's columns."""
    _opened(path, schema).close()


def _opened(path: Path | str, schema: Schema | None) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(path, memory_map=True)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: run the stage that makes it first.") from None
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None
    missing = [name for name in schema.fields.names if name not in file.schema_arrow.names] if schema else []
    if schema and missing:
        file.close()
        raise InputError(f"{path} is no {schema.name} table: it lacks the column {missing[0]}.")
    return file


def _unreadable(path: Path | str, error: Exception) -> InputError:
    why = " ".join(str(error).split())
    return InputError(f"{path} is not a readable Parquet file ({why}): {remedy(path)}.")


def remedy(path: Path | str) -> str:
    """What to do about a file that can't be read: without a record beside it, no stage of ours would make it again."""
    ours = next(Path(path).parent.glob("*.prov.json"), None)
    return "delete it and run again" if ours else "write or download it again, or correct the path"


def read_all(paths: Iterable[Path | str], schema: Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """The tables at ``paths``, one after the other."""
    tables = [read(path, schema, columns) for path in paths]
    if not tables:
        fields = schema.fields if columns is None else pa.schema([schema.fields.field(c) for c in columns])
        return fields.empty_table()
    return pa.concat_tables(tables)


def recipe_of(path: Path | str) -> str | None:
    """The recipe id in the metadata of the Parquet file at ``path``; None where there is none."""
    with _opened(path, None) as file:
        value = (file.metadata.metadata or {}).get(RECIPE)
    return value.decode() if value else None


def metadata(path: Path | str, schema: Schema | None = None) -> dict[str, str]:
    """What the file at ``path`` says of itself; with a schema, one that lacks its columns is refused."""
    with _opened(path, schema) as file:
        found = file.metadata.metadata or {}
    known = {key: value.decode() for key, value in found.items() if key.startswith(_key(""))}
    return {key.decode().removeprefix(_key("").decode()): value for key, value in known.items()}


def _key(name: str) -> bytes:
    return f"compvqa.{name}".encode()
