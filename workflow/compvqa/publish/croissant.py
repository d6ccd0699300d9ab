"""Croissant 1.1 metadata of a dataset folder: its files with their sha256, and the fields of their rows."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import mlcroissant as mlc
import pyarrow as pa

from compvqa.files import write_json
from compvqa.publish.description import Description, Part, Split
from compvqa.publish.pictures import IMAGES, MEANING, PICTURE, PICTURES
from compvqa.tables import running

VERSION = "http://mlcommons.org/croissant/1.1"
PARQUET = "application/x-parquet"  # the name that mlcroissant reads Parquet by
# What 1.1 has in the context besides the terms of 1.0, which the library gives by default
NEW_TERMS = {
    "arrayShape": "cr:arrayShape",
    "containedIn": "cr:containedIn",
    "description": {"@container": "@language"},
    "isArray": "cr:isArray",
    "name": {"@container": "@language"},
}


def write_croissant(described: Description, path: Path) -> None:
    """Write the metadata to ``path``: a record set for each part of each split that has questions."""
    told = {"identifier": f"recipe:{running()}"} if running() else {}
    write_json(path, croissant(described) | told, recipe=False)


def croissant(described: Description) -> dict:
    """The metadata as JSON-LD; the paths of files are relative to the folder."""
    context = mlc.Context(conforms_to=VERSION, rdf=mlc.Rdf(context=mlc.Rdf().context | NEW_TERMS))
    parts = [(split, part) for split in described.splits for part in split.filled()]
    settings = described.settings
    return mlc.Metadata(
        ctx=context,
        name=described.name,
        description=settings.description,
        conforms_to=[VERSION],
        cite_as=settings.citation,
        license=[described.licence.page or described.licence.text],
        version=settings.version,
        date_published=datetime.combine(described.day, datetime.min.time()),
        url=settings.url or None,
        creators=[mlc.Person(ctx=context, name=name) for name in settings.creators],
        publisher=[mlc.Organization(ctx=context, name=settings.organization)] if settings.organization else [],
        in_language=["en"],
        keywords=["visual question answering", "compositional generalization", "scene graphs"],
        distribution=[_file(context, part) for part in [*[part for _, part in parts], *described.pictures]],
        record_sets=[
            *[_records(context, described, split, part) for split, part in parts],
            *[_pictures(context, part) for part in described.pictures],
        ],
    ).to_json()


def _file(context: mlc.Context, part: Part) -> mlc.FileObject:
    return mlc.FileObject(
        ctx=context,
        id=quote(part.path),
        name=part.path,
        content_url=part.path,
        content_size=f"{part.bytes} B",
        encoding_formats=[PARQUET],
        sha256=part.sha256,
    )


def _records(context: mlc.Context, described: Description, split: Split, part: Part) -> mlc.RecordSet:
    """The record set of a part. Of lists of pictures the library reads none, so that these are told in words."""
    name = f"{split.name}/{part.name}"
    held = split.told() + ("; the column pictures has their pictures" if described.inline else "")
    return mlc.RecordSet(
        ctx=context,
        id=quote(name),
        name=name,
        description=f"{part.rows} questions: the part {part.name} of the split {split.name}, which holds out {held}.",
        key=[f"{quote(name)}/question_id"],
        fields=[
            _field(context, quote(name), field, described.meaning[field.name], part)
            for field in described.fields
            if field.type != pa.list_(PICTURE)
        ],
    )


def _pictures(context: mlc.Context, part: Part) -> mlc.RecordSet:
    """The record set of a file of pictures, which the column ``images`` of questions names."""
    name = f"{IMAGES}/{part.name}"
    return mlc.RecordSet(
        ctx=context,
        id=quote(name),
        name=name,
        description=f"{part.rows} pictures, which questions name in their column images.",
        key=[f"{quote(name)}/image"],
        fields=[_field(context, quote(name), field, MEANING[field.name], part) for field in PICTURES.fields],
    )


def _field(context: mlc.Context, records: str, field: pa.Field, meaning: str, part: Part) -> mlc.Field:
    listed, shown = pa.types.is_list(field.type), field.type == PICTURE
    return mlc.Field(
        ctx=context,
        id=f"{records}/{field.name}",
        name=field.name,
        description=meaning,
        data_types=[mlc.DataType.IMAGE_OBJECT if shown else mlc.DataType.TEXT],
        is_array=True if listed else None,
        array_shape="-1" if listed else None,
        source=mlc.Source(
            ctx=context,
            file_object=quote(part.path),
            extract=mlc.Extract(ctx=context, column=field.name),
            transforms=[mlc.Transform(ctx=context, json_path="bytes")] if shown else [],
        ),
    )
