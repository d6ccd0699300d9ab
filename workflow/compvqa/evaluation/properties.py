"""The properties that questions have, by which accuracy is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa.programs import wings
from compvqa.programs.properties import PropertiesModule, Question, SceneGraphs
from compvqa.questions.dataset import language_of

FIELDS = pa.schema([("question_id", pa.string()), ("property", pa.string())])
_BATCH = 16_384


def properties_of(dataset: Path, question_ids: pa.Array) -> pa.Table:
    """The properties of the questions ``question_ids`` of the dataset: a row for each (question_id, property)."""
    module: PropertiesModule = wings.part(language_of(dataset), "properties")
    batches = []
    for questions in asked_questions(dataset, question_ids):
        found = [(question_id, module.held(question)) for question_id, question in questions]
        ids = [question_id for question_id, names in found for _ in names]
        batches.append(pa.record_batch([ids, [name for _, names in found for name in names]], FIELDS))
    return pa.Table.from_batches(batches, FIELDS)


def asked_questions(
    dataset: Path, question_ids: pa.Array, graphs: SceneGraphs | None = None
) -> Iterator[Iterator[tuple[str, Question]]]:
    """The questions ``question_ids`` of the dataset with their ids, in batches; ``graphs`` tells of their scenes."""
    properties: PropertiesModule = wings.part(language_of(dataset), "properties")
    columns = ["question_id", *properties.COLUMNS, "scene_ids"]
    with pq.ParquetFile(dataset) as file:
        for batch in file.iter_batches(_BATCH, columns=columns):
            chosen = batch.filter(pc.is_in(batch["question_id"], question_ids)).select(columns)
            yield zip(chosen["question_id"].to_pylist(), properties.questions(chosen, None, graphs), strict=True)
