"""The properties that questions have (COVR, Table 5), by which accuracy is told."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa.covr.properties import COLUMNS, PROPERTIES, Predicate, Question, named, questions

FIELDS = pa.schema([("question_id", pa.string()), ("property", pa.string())])
# The names that do not depend on the questions
LISTED = (
    *(kind.name for kind in PROPERTIES if kind.bare),
    *(f"{kind.name}-{value}" for kind in PROPERTIES if isinstance(kind.values, tuple) for value in kind.values),
    *("ANS-NUM", "ANS-ATTR", "ANS-NOUN"),
)
_GROUPS = ("AllSame", "QueryAttribute")  # their argument is a group of attributes
_BATCH = 16_384


def held(question: Question) -> list[str]:
    """The names of the question's properties, sorted: kinds, and with them values.

    Those of :data:`LISTED`, the numbers in the program, and the groups of attributes that are compared; names of
    templates, attributes and other words are left out.
    """
    return sorted(name for name in _possible(question) if _predicate(name)(question))


def _possible(question: Question) -> set[str]:
    numbers = {f"HAS-NUM-{a}" for row in question.program for a in row.arguments if type(a) is int}
    groups = {f"HAS-SAMEATTR-{row.arguments[0]}" for row in question.program if row.operation in _GROUPS}
    return {*LISTED, *numbers, *groups}


@cache
def _predicate(name: str) -> Predicate:
    return named(name)


def properties_of(dataset: Path, question_ids: pa.Array) -> pa.Table:
    """The properties of the questions ``question_ids`` of the dataset: a row for each (question_id, property)."""
    return pa.Table.from_batches(_batches(dataset, question_ids), FIELDS)


def _batches(dataset: Path, question_ids: pa.Array) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(dataset) as file:
        for batch in file.iter_batches(_BATCH, columns=["question_id", *COLUMNS]):
            chosen = batch.filter(pc.is_in(batch["question_id"], question_ids)).select(["question_id", *COLUMNS])
            asked = zip(chosen["question_id"].to_pylist(), questions(chosen), strict=True)
            found = [(question_id, held(question)) for question_id, question in asked]
            ids = [question_id for question_id, names in found for _ in names]
            yield pa.record_batch([ids, [name for _, names in found for name in names]], FIELDS)
