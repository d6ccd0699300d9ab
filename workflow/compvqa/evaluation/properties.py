"""The properties that questions have, by which accuracy is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa.programs import wings
from compvqa.questions.dataset import language_of

FIELDS = pa.schema([("question_id", pa.string()), ("property", pa.string())])
_BATCH = 16_384


def properties_of(dataset: Path, question_ids: pa.Array) -> pa.Table:
    """The properties of the questions ``question_ids`` of the dataset: a row for each (question_id, property)."""
    properties = wings.part(language_of(dataset), "properties")
    return pa.Table.from_batches(_batches(dataset, question_ids, properties), FIELDS)


def _batches(dataset: Path, question_ids: pa.Array, properties: ModuleType) -> Iterator[pa.RecordBatch]:
    columns = ["question_id", *properties.COLUMNS]
    with pq.ParquetFile(dataset) as file:
        for batch in file.iter_batches(_BATCH, columns=columns):
            chosen = batch.filter(pc.is_in(batch["question_id"], question_ids)).select(columns)
            asked = zip(chosen["question_id"].to_pylist(), properties.questions(chosen), strict=True)
            found = [(question_id, properties.held(question)) for question_id, question in asked]
            ids = [question_id for question_id, names in found for _ in names]
            yield pa.record_batch([ids, [name for _, names in found for name in names]], FIELDS)
