"""The questions as they are handed to others: one table of all, and a file for each part of each split.

The rows of a part are whole, not ids into the table of all, so that each configuration loads by itself: about 55 bytes
a question, as measured on the drawn world and on a subset of the real scenes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa import query, tables
from compvqa.covr.properties import COLUMNS, questions
from compvqa.errors import InputError
from compvqa.evaluation.properties import held
from compvqa.progress import track
from compvqa.questions.tables import DATASET
from compvqa.scenes.tables import SCENES
from compvqa.splits.splitters import SPLITS
from compvqa.tables import Schema

# What a column holds, as the card and the metadata say it.
MEANING = {
    "question_id": "identifier: a hash of text, scenes and answer",
    "text": "the question",
    "answer": "true, false, a number, or a word",
    "template": "the template that the question was made from",
    "program": "its program as JSON: rows of [operator, arguments, rows that it uses]",
    "images": "the images that it is asked of, in the order shown, as <image space>:<id>",
    "scene_ids": "their scene graphs",
    "properties": "the properties of the question that splits may hold out",
    "subgraph": "the subgraph that it was made from, as JSON; null where it was read, not made",
}
PUBLISHED = Schema(
    "published",
    pa.schema(
        [
            (name, pa.list_(pa.string()) if name in ("images", "scene_ids", "properties") else pa.string())
            for name in MEANING
        ]
    ),
    key=("question_id",),
)
_BATCH = 16_384


def publish_questions(dataset: Path, scenes: Path, out: Path) -> dict[str, int]:
    """Write all questions of the dataset with their images (by the table of ``scenes``) and properties."""
    tables.check(dataset, DATASET)
    image_of = _images(scenes)
    with pq.ParquetFile(dataset) as file:
        total = -(-file.metadata.num_rows // _BATCH)
        batches = track(file.iter_batches(_BATCH), "publishing questions", total, "batch")
        rows = query.rebatch((_published(batch, image_of) for batch in batches), PUBLISHED.fields)
        reader = pa.RecordBatchReader.from_batches(PUBLISHED.fields, rows)
        return {"in": file.metadata.num_rows, "out": tables.write(out, PUBLISHED, reader)}


def _images(scenes: Path) -> dict[str, str]:
    table = tables.read(scenes, SCENES, ["scene_id", "image"])
    return dict(zip(table["scene_id"].to_pylist(), table["image"].to_pylist(), strict=True))


def _published(batch: pa.RecordBatch, image_of: Mapping[str, str]) -> pa.RecordBatch:
    columns = {name: batch[name] for name in ("question_id", "text", "answer", "template", "program", "scene_ids")}
    columns["images"] = [[_image(scene, image_of) for scene in ids] for ids in batch["scene_ids"].to_pylist()]
    columns["properties"] = [held(question) for question in questions(batch.select([*COLUMNS]))]
    columns["subgraph"] = batch["tree"]
    fields = PUBLISHED.fields
    arrays = [columns[field.name] for field in fields]
    made = [a if isinstance(a, pa.Array) else pa.array(a, f.type) for a, f in zip(arrays, fields, strict=True)]
    return pa.RecordBatch.from_arrays(made, schema=fields)


def _image(scene: str, image_of: Mapping[str, str]) -> str:
    try:
        return image_of[scene]
    except KeyError:
        raise InputError(f"the table of scenes lacks {scene}, which a question names: make both anew.") from None


def publish_split(published: Path, split: Path, parts: Mapping[str, Path]) -> dict[str, int]:
    """Write the rows of each part of a split from the table of all questions; files are given by the part's name.

    The parts must be those of the split; one without questions gets a file without rows.
    """
    table = tables.read(split, SPLITS)
    unknown = set(table["part"].unique().to_pylist()) - set(parts)
    if unknown:
        raise InputError(f"{split} has the part {min(unknown)}, which no file was named for: name one.")
    counts = {"in": len(table)}
    for part, path in parts.items():
        ids = table.filter(pc.equal(table["part"], part))["question_id"].combine_chunks()
        reader = pa.RecordBatchReader.from_batches(PUBLISHED.fields, _chosen(published, ids))
        counts[f"out: {part}"] = tables.write(path, PUBLISHED, reader)
        if counts[f"out: {part}"] != len(ids):
            missing = len(ids) - counts[f"out: {part}"]
            raise InputError(f"{split} names {missing} questions of {part} that {published} lacks: publish anew.")
    return counts


def _chosen(published: Path, ids: pa.Array) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(published) as file:
        batches = (batch.filter(pc.is_in(batch["question_id"], ids)) for batch in file.iter_batches(_BATCH))
        yield from query.rebatch((batch.cast(PUBLISHED.fields) for batch in batches), PUBLISHED.fields)
