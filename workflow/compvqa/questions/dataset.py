"""The dataset: the questions that models are trained and tested on, in a table that any engine makes.

Its core columns are the same for every language of programs; an engine adds its own. The table's metadata name the
language, and shared stages refuse programs of another: what a property says of a program that it does not know, would
be wrong.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from compvqa import tables
from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.programs.rows import from_json, walk
from compvqa.tables import Schema

LANGUAGE = "language"
GROUP = "group_id"  # a column that an engine may add: questions made as one, which intervals draw together; or null
RISK = "risk"  # a column that an engine may add: how likely the answer is wrong about its images; or null
CORE = pa.schema(
    [
        ("question_id", pa.string()),  # a hash of its content
        ("testbed", pa.string()),
        ("split", pa.string()),  # the side its scenes are from: train, val …
        ("part", pa.string()),  # train, dev, test, or what the engine calls it
        ("template", pa.string()),
        ("text", pa.string()),
        ("program", pa.string()),  # JSON, programs/rows.py
        ("answer", pa.string()),  # "true", "false", "3", "red"
        ("scene_ids", pa.list_(pa.string())),  # in the order shown
        ("properties", pa.list_(pa.string())),  # those that a released file says it has; null for our own
    ]
)
DATASET = Schema("dataset", CORE, key=("question_id",))
# How rows of programs begin in JSON: a bracket, the operator, a bracket. A name before a sub-program looks the same.
_OPERATOR = r'\["((?:[^"\\]|\\.)*)",\s*\['


def dataset_schema(language: str, fields: pa.Schema) -> Schema:
    """The schema of a dataset in ``language``: ``fields`` are all its columns, the core ones among them."""
    missing = [name for name in CORE.names if name not in fields.names]
    if missing:
        raise ValueError(f"a dataset has the column {missing[0]}")
    return Schema("dataset", fields, key=("question_id",), metadata={LANGUAGE: language})


def language_of(dataset: Path) -> str:
    """The name of the language that all programs of the dataset's table are in.

    Raises :class:`InputError` where the table names none, where there is no such language, or where a program has an
    operator that the language has not.
    """
    info = dataset.stat() if dataset.exists() else None
    return _language_of(dataset, info and (info.st_mtime_ns, info.st_size))


def require(language: str, dataset: Path) -> None:
    """Raise :class:`InputError` where the programs of the dataset's table are in another language."""
    if (found := language_of(dataset)) != language:
        raise InputError(f"{dataset} has programs in the language {found}, not {language}: give another dataset.")


@cache
def _language_of(dataset: Path, version: tuple[int, int] | None) -> str:
    name = tables.metadata(dataset, DATASET).get(LANGUAGE)
    if not name:
        raise InputError(f"{dataset} does not say what language its programs are in: let a stage of ours make it.")
    known = wings.language(name).operators
    if strange := _operators(dataset) - known.keys():
        _refuse(dataset, name, strange)
    return name


def _operators(dataset: Path) -> set[str]:
    """What may be an operator in the dataset's programs."""
    with duckdb.connect() as db:
        sql = "select distinct unnest(regexp_extract_all(program, ?, 1)) from read_parquet(?)"
        return {name for (name,) in db.execute(sql, [_OPERATOR, str(dataset)]).fetchall()}


def _refuse(dataset: Path, language: str, strange: set[str]) -> None:
    """Raise InputError if one of ``strange`` is the operator of a row."""
    with duckdb.connect() as db:
        sql = """select question_id, program from read_parquet(?)
            where list_has_any(regexp_extract_all(program, ?, 1), ?) order by question_id"""
        found = db.execute(sql, [str(dataset), _OPERATOR, sorted(strange)])
        while row := found.fetchone():
            for wrong in (row.operation for row in walk(from_json(row[1])) if row.operation in strange):
                raise InputError(
                    f"{dataset}: question {row[0]} has the operator {wrong!r}, which the language {language} has not: "
                    "give questions of one language."
                )
