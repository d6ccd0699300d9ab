"""Tables that users give, as CSV, JSON lines or Parquet, read with errors that name the line."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compvqa.errors import InputError
from compvqa.files import TOO_DEEP, TOO_LONG

Rows = Iterator[tuple[str, Mapping[str, object]]]
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # a reply may be longer than 131,072 characters


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
    except UnicodeDecodeError:
        raise InputError(f"{path}, line {_no_text(path)}, is not UTF-8 text: convert it to UTF-8.") from None


def _no_text(path: Path) -> int:
    """The first line of a file that is not UTF-8."""
    with path.open("rb") as file:
        return next(number for number, line in enumerate(file, 1) if line.decode("utf-8", "ignore").encode() != line)


def _tsv(path: Path, columns: Sequence[str], optional: Sequence[str]) -> Rows:
    return _csv(path, columns, optional, "\t")


def _csv(path: Path, columns: Sequence[str], optional: Sequence[str], between: str = ",") -> Rows:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file, delimiter=between, strict=True)
        try:
            if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
                raise InputError(f"{path} lacks the column {missing[0]}: name {', '.join(columns)} in its first line.")
            for row in reader:
                where = f"{path}, line {reader.line_num}"
                if None in row:
                    raise InputError(f"{where}: too many fields; put texts with a comma in quotes.")
                yield where, row
        except csv.Error as error:
            raise InputError(
                f"{path}, line {reader.line_num + 1}: this is no CSV ({error}); correct its quotes."
            ) from None


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
            except RecursionError:
                raise InputError(f"{where} {TOO_DEEP}: correct it.") from None
            if not isinstance(row, dict):
                raise InputError(f"{where}: this is no object; give one with {', '.join(columns)}.")
            yield where, row


def _parquet(path: Path, columns: Sequence[str], optional: Sequence[str]) -> Rows:
    with path.open("rb") as opened:
        try:
            file = pq.ParquetFile(opened)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path} is no readable Parquet file ({error}): write it anew.") from None
        batches = file.iter_batches(columns=[name for name in (*columns, *optional) if name in file.schema_arrow.names])
        rows = (row for batch in batches for row in batch.to_pylist())
        try:
            for number, row in enumerate(rows, 1):
                yield f"{path}, row {number}", row
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path} is no readable Parquet file ({error}): write it anew.") from None


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
        text = str(value)
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            raise InputError(f"{where}: {text!r} has half of a character; correct it.")
        return text
    raise InputError(f"{where}: {value!r} is neither text nor a number; correct it.")
