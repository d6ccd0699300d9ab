"""Tables that users give, as CSV, JSON lines or Parquet, read with errors that name the line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compvqa.errors import InputError
from compvqa.files import TOO_LONG

Rows = Iterator[tuple[str, Mapping[str, object]]]


def read_given(
    path: Path, columns: Sequence[str], optional: Sequence[str] = (), nested: Sequence[str] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each row of the file: where it stands, and its ``columns`` as text (true, 3; nothing and null are empty).

    The file's ending says what it is: .csv or .tsv (with a first line of names), .jsonl (an object a line) or .parquet.
    Columns that are ``optional`` come after the others, and are empty where there are none; those that are ``nested``
    may hold lists and objects, which come as JSON. Other columns are passed over. :class:`InputError` says what is
    wrong, and in which line.
    """
    readers = {".csv": _csv, ".tsv": _tsv, ".jsonl": _json_lines, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path} is told by its name, which must end in .csv, .tsv, .jsonl or .parquet: rename it.")
    try:
        for where, row in reader(path, columns, optional):
            for column in columns:
                if column not in row:
                    raise InputError(f"{where} lacks the column {column}: it needs {', '.join(columns)}.")
            every = (*columns, *optional)
            yield where, tuple(_text(where, row.get(column), column in nested) for column in every)
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}): correct the path.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (near byte {error.start:,}): convert it to UTF-8.") from None


def _tsv(path: Path, columns: Sequence[str], optional: Sequence[str]) -> Rows:
    return _csv(path, columns, optional, "\t")


def _csv(path: Path, columns: Sequence[str], optional: Sequence[str], between: str = ",") -> Rows:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file, delimiter=between)
        if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
            raise InputError(f"{path} lacks the column {missing[0]}: name {', '.join(columns)} in its first line.")
        try:
            for row in reader:
                where = f"{path}, line {reader.line_num}"
                if None in row:
                    raise InputError(f"{where}: too many fields; put texts with a comma in quotes.")
                yield where, row
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.line_num}: this is no CSV ({error}); correct it.") from None


def _json_lines(path: Path, columns: Sequence[str], optional: Sequence[str]) -> Rows:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            where = f"{path}, line {number}"
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(f"{where}: this is no JSON ({error.msg}); correct it.") from None
            except ValueError:
                raise InputError(f"{where} {TOO_LONG}: correct it.") from None
            if not isinstance(row, dict):
                raise InputError(f"{where}: this is no object; give one with {', '.join(columns)}.")
            yield where, row


def _parquet(path: Path, columns: Sequence[str], optional: Sequence[str]) -> Rows:
    with path.open("rb") as opened:
        try:
            file = pq.ParquetFile(opened)
        except pa.ArrowInvalid as error:
            raise InputError(f"{path} is no readable Parquet file ({error}): write it anew.") from None
        batches = file.iter_batches(columns=[name for name in (*columns, *optional) if name in file.schema_arrow.names])
        for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
            yield f"{path}, row {number}", row


def _text(where: str, value: object, nested: bool) -> str:
    if nested and isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    if value is None or value != value:  # null, or a number that is none
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise InputError(f"{where}: {value!r} is neither text nor a number; correct it.")
