"""The pictures that published questions are about, as the features of the hub's library: each once, in files that it
takes, or with each question that shows it; or, of pictures that may not be handed on, a script that fetches and checks
them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.publish.settings import PublishSettings
from compvqa.scenes.download import Download
from compvqa.scenes.images import Shown, find_image
from compvqa.tables import Schema

IMAGES, SPLIT = "images", "pictures"  # the folder and configuration of pictures, and what the hub calls its one split
FETCHED = ("pictures.json", "fetch_pictures.py")  # which pictures there are, and the script that fetches them
MOST = 480_000_000  # bytes of the pictures of a file: with all else it has fewer than the 500 MB that the hub advises
_BATCH = 100  # pictures that are read together: what a reader that streams holds
PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_TEXT, _IMAGE = {"dtype": "string", "_type": "Value"}, {"_type": "Image"}


def with_features(schema: Schema) -> Schema:
    """The schema with what the hub's library reads in a file: which columns are pictures, and lists of them."""
    told = {field.name: _feature(field.type) for field in schema.fields}
    features = json.dumps({"info": {"features": told}}, sort_keys=True)
    return Schema(schema.name, schema.fields, schema.key, metadata=schema.metadata, foreign={"huggingface": features})


def _feature(kind: pa.DataType) -> dict[str, Any]:
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    return _IMAGE if kind == PICTURE else _TEXT


PICTURES = with_features(
    Schema(
        "pictures",
        pa.schema([("image", pa.string()), ("sha256", pa.string()), ("picture", PICTURE)]),
        key=("image",),
    )
)
MEANING = {
    "image": "the image's name, as in `images` of questions",
    "sha256": "of the picture's file",
    "picture": "the picture",
}


def picture_files(settings: PublishSettings) -> list[str]:
    """The files of pictures that are there once, by their paths in the dataset folder, named as the hub names such; or
    those that pictures are fetched by."""
    if settings.pictures == "fetched":
        return [*FETCHED]
    files = settings.picture_files if settings.pictures == "once" else 0
    return [f"{IMAGES}/{SPLIT}-{number:05}-of-{files:05}.parquet" for number in range(files)]


def check_allowed(folders: Mapping[str, Path], world: Path | None, settings: PublishSettings) -> None:
    """:class:`InputError` where pictures would be handed on that are not drawn in the folder ``world``, and of whose
    licence the config says nothing."""
    for space, folder in folders.items():
        drawn = world is not None and folder.is_relative_to(world)
        if not drawn and space not in settings.picture_licences:
            raise InputError(
                f"the pictures of {space} are others' work: name the licence that lets you hand them on in "
                f"publish.picture_licences, as in `{{{space}: cc-by-4.0}}`, or write `publish: {{pictures: none}}`."
            )


def publish_pictures(
    published: Sequence[Path], folders: Mapping[str, Path], out: Sequence[Path], most: int = MOST
) -> dict[str, int]:
    """Write each picture that a question of the tables ``published`` shows once, sorted by name, as many to each of the
    files ``out``.

    ``folders`` are those of pictures by image space. :class:`InputError` where a file would have more than ``most``
    bytes of pictures, or none.
    """
    shown = list(_shown(published, folders))
    files = [shown[n * len(shown) // len(out) : (n + 1) * len(shown) // len(out)] for n in range(len(out))]
    sizes = [sum(one.path.stat().st_size for one in own) for own in files]
    if max(sizes) > most or not all(files):
        fit = min(len(shown), len(out) * -(-max(sizes) // most))
        raise InputError(
            f"{len(shown)} pictures do not go into {len(out)} files of {most:,} bytes at most, none empty: write "
            f"`publish: {{picture_files: {fit}}}`."
        )
    for path, own in zip(out, files, strict=True):
        batches = (pa.RecordBatch.from_pylist(rows, PICTURES.fields) for rows in _batches(own))
        tables.write(path, PICTURES, pa.RecordBatchReader.from_batches(PICTURES.fields, batches))
    return {"out": len(shown), "files": len(files)}


def archives_of(folders: Mapping[str, Path], settings: PublishSettings, downloads: Sequence[Download]) -> list[str]:
    """Of pictures that are to be fetched, ``<image space>=<URL>`` of each archive: those that the config names, or the
    downloads in whose folder (``resources/<name>``) the pictures lie."""
    named = settings.picture_archives
    found = {
        space: [row.url for row in downloads if folder.is_relative_to(Path("resources") / row.name)]
        for space, folder in folders.items()
    }
    return [f"{space}={url}" for space, urls in found.items() for url in named.get(space, urls)]


def publish_list(
    published: Sequence[Path], folders: Mapping[str, Path], archives: Mapping[str, Sequence[str]], out: Sequence[Path]
) -> dict[str, int]:
    """Write which pictures the questions of the tables ``published`` show, each with the SHA-256 of its file, with the
    URLs of the ``archives`` that hold them by image space; and the script that fetches them: the two files ``out``."""
    shown = list(_shown(published, folders))
    spaces = dict.fromkeys(one.image.partition(":")[0] for one in shown)
    if lost := [space for space in spaces if not archives.get(space)]:
        raise InputError(
            f"no download has the pictures of {lost[0]}: name their archives in publish.picture_archives, as in "
            f"`{{{lost[0]}: [https://example.org/images.zip]}}`, or write `publish: {{pictures: none}}`."
        )
    digests = {one.image: sha256(one.path.read_bytes()).hexdigest() for one in shown}
    downloads = {space: [*archives[space]] for space in spaces}
    write_json(out[0], {"downloads": downloads, "pictures": digests}, recipe=False)
    with tables.replacing(out[1]) as temporary:
        temporary.write_bytes(Path(__file__).with_name(FETCHED[1]).read_bytes())
    return {"out": len(shown), "archives": sum(map(len, downloads.values()))}


def _shown(published: Sequence[Path], folders: Mapping[str, Path]) -> Iterator[Shown]:
    """The pictures that questions show, sorted by name."""
    names = (pc.unique(pc.list_flatten(tables.read(path, columns=["images"])["images"])) for path in published)
    for name in sorted({name for of in names for name in of.to_pylist()}):
        yield Shown(name, picture_file(name, folders))


def picture_file(image: str, folders: Mapping[str, Path]) -> Path:
    """The file of an image; :class:`InputError` where there is none."""
    path = find_image(image, folders)
    if path is None:
        raise InputError(f"the picture of {image} is in no folder of `images`: make it, or correct the folders.")
    return path


def _batches(shown: list[Shown]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(shown), _BATCH):
        yield [_row(one) for one in shown[start : start + _BATCH]]


def _row(one: Shown) -> dict[str, Any]:
    made = as_picture(one.path)
    return {"image": one.image, "sha256": sha256(made["bytes"]).hexdigest(), "picture": made}


def as_picture(path: Path) -> dict[str, Any]:
    """A picture's file as a value of :data:`PICTURE`."""
    return {"bytes": path.read_bytes(), "path": path.name}
