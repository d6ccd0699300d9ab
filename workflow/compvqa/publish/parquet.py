"""The questions as they are handed to others: one table of all, and a file for each part of each split.

The rows of a part are whole, not ids into the table of all, so that each configuration loads by itself: about 55 bytes
a question, as measured on the drawn world and on a subset of the real scenes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa import query, tables
from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.programs.properties import PropertiesModule
from compvqa.progress import track
from compvqa.publish.pictures import MOST, PICTURE, as_picture, picture_file, with_features
from compvqa.questions.dataset import LANGUAGE, language_of
from compvqa.scenes.tables import SCENES
from compvqa.splits.held import held_in
from compvqa.splits.splitters import SPLITS
from compvqa.tables import Schema

# What a column holds, as the card and the metadata say it; a language may have more.
_CORE = {
    "question_id": "identifier: a hash of text, scenes and answer",
    "text": "the question",
    "answer": "true, false, a number, or a word",
    "template": "the template that the question was made from",
    "program": "its program as JSON: rows of [operator, arguments, rows that it uses]",
    "images": "the images that it is asked of, in the order shown, as <image space>:<id>",
    "scene_ids": "their scene graphs",
    "properties": "the properties of the question that splits may hold out",
}
_INLINE = {"pictures": "the pictures of its images, in their order"}
_LISTS = ("images", "scene_ids", "properties")
_BATCH = 16_384
_FEW = 100  # questions that are read together with their pictures


def meaning(language: str, inline: bool = False) -> dict[str, str]:
    """What each column of published questions holds; ``inline``: where their pictures come with them."""
    properties: PropertiesModule = wings.part(language, "properties")
    return _CORE | {name: text for name, (_, text) in properties.PUBLISHED.items()} | (_INLINE if inline else {})


def published_schema(language: str, inline: bool = False) -> Schema:
    """The schema of published questions: the core columns, those that the language adds, and pictures if ``inline``."""
    kinds = dict.fromkeys(_LISTS, pa.list_(pa.string())) | dict.fromkeys(_INLINE, pa.list_(PICTURE))
    fields = pa.schema([(name, kinds.get(name, pa.string())) for name in meaning(language, inline)])
    schema = Schema("published", fields, key=("question_id",), metadata={LANGUAGE: language})
    return with_features(schema) if inline else schema


def language_of_published(published: Path) -> str:
    """The language of the programs in a table of published questions."""
    name = tables.metadata(published).get(LANGUAGE)
    if not name:
        raise InputError(f"{published} is no table of published questions: publish them anew.")
    return name


def publish_questions(dataset: Path, scenes: Path, out: Path) -> dict[str, int]:
    """Write all questions of the dataset with their images (by the table of ``scenes``) and properties."""
    language = language_of(dataset)
    schema, image_of = published_schema(language), _images(scenes)
    with pq.ParquetFile(dataset) as file:
        total = -(-file.metadata.num_rows // _BATCH)
        batches = track(file.iter_batches(_BATCH), "publishing questions", total, "batch")
        rows = query.rebatch((_published(batch, image_of, language) for batch in batches), schema.fields)
        reader = pa.RecordBatchReader.from_batches(schema.fields, rows)
        return {"in": file.metadata.num_rows, "out": tables.write(out, schema, reader)}


def _images(scenes: Path) -> dict[str, str]:
    table = tables.read(scenes, SCENES, ["scene_id", "image"])
    return dict(zip(table["scene_id"].to_pylist(), table["image"].to_pylist(), strict=True))


def _published(batch: pa.RecordBatch, image_of: Mapping[str, str], language: str) -> pa.RecordBatch:
    properties: PropertiesModule = wings.part(language, "properties")
    fields = published_schema(language).fields
    columns = {name: batch[name] for name in ("question_id", "text", "answer", "template", "program", "scene_ids")}
    columns["images"] = [[_image(scene, image_of) for scene in ids] for ids in batch["scene_ids"].to_pylist()]
    columns["properties"] = [
        properties.held(question) for question in properties.questions(batch.select([*properties.COLUMNS]))
    ]
    columns |= {name: batch[column] for name, (column, _) in properties.PUBLISHED.items()}
    arrays = [columns[field.name] for field in fields]
    made = [a if isinstance(a, pa.Array) else pa.array(a, f.type) for a, f in zip(arrays, fields, strict=True)]
    return pa.RecordBatch.from_arrays(made, schema=fields)


def _image(scene: str, image_of: Mapping[str, str]) -> str:
    try:
        return image_of[scene]
    except KeyError:
        raise InputError(f"the table of scenes lacks {scene}, which a question names: make both anew.") from None


def publish_split(
    published: Path, split: Path, parts: Mapping[str, Path], folders: Mapping[str, Path] | None = None, most: int = MOST
) -> dict[str, int]:
    """Write the rows of each part of a split from the table of all questions; files are given by the part's name.

    The parts must be those of the split; one without questions gets a file without rows. With ``folders``, those of
    pictures by image space, each question has its pictures, of ``most`` bytes in a file.
    """
    table = tables.read(split, SPLITS)
    unknown = set(table["part"].unique().to_pylist()) - set(parts)
    if unknown:
        raise InputError(f"{split} has the part {min(unknown)}, which no file was named for: name one.")
    language = language_of_published(published)
    own, schema = published_schema(language), published_schema(language, inline=folders is not None)
    schema = replace(schema, metadata={**schema.metadata, **held_in(split)})
    counts = {"in": len(table)}
    for part, path in parts.items():
        ids = table.filter(pc.equal(table["part"], part))["question_id"].combine_chunks()
        batches = _chosen(published, ids, own)
        if folders is not None:
            batches = _with_pictures(batches, schema, folders, most, path)
        counts[f"out: {part}"] = tables.write(path, schema, pa.RecordBatchReader.from_batches(schema.fields, batches))
        if counts[f"out: {part}"] != len(ids):
            missing = len(ids) - counts[f"out: {part}"]
            raise InputError(f"{split} names {missing} questions of {part} that {published} lacks: publish anew.")
    return counts


def _chosen(published: Path, ids: pa.Array, schema: Schema) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(published) as file:
        batches = (batch.filter(pc.is_in(batch["question_id"], ids)) for batch in file.iter_batches(_BATCH))
        yield from query.rebatch((batch.cast(schema.fields) for batch in batches), schema.fields)


def _with_pictures(
    batches: Iterator[pa.RecordBatch], schema: Schema, folders: Mapping[str, Path], most: int, path: Path
) -> Iterator[pa.RecordBatch]:
    """The questions with their pictures, in small batches; :class:`InputError` where these are more than ``most``."""
    size = 0
    for batch in batches:
        for start in range(0, batch.num_rows, _FEW):
            rows = batch.slice(start, _FEW).to_pylist()
            for row in rows:
                row["pictures"] = [as_picture(picture_file(image, folders)) for image in row["images"]]
                size += sum(len(picture["bytes"]) for picture in row["pictures"])
            if size > most:
                raise InputError(
                    f"{path} would have more than {most:,} bytes of pictures: write `publish: {{pictures: once}}`."
                )
            yield pa.RecordBatch.from_pylist(rows, schema.fields)
