"""Raw files → scene tables, one source at a time.

Readers are plugins: ``compvqa.scenes.readers.<reader>`` with ``read(files, split_of, report)``, and ``FILES``, the
names of further files that it reads, ``PLACES = True`` where its scenes have positions and directions, and ``SIDES =
True`` where its scenes may be of other sides than train and val (docs/readers.md).
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, ValidationInfo, field_validator

from compvqa import plugins, query
from compvqa.errors import InputError
from compvqa.files import read_text
from compvqa.progress import track
from compvqa.scenes.formats import READERS, check_format
from compvqa.scenes.keys import meant
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.limits import accounted, too_many
from compvqa.scenes.raw import RawScene, Report, SplitOf
from compvqa.scenes.tables import OPTIONAL, REJECTS, TABLES
from compvqa.scratch import scratch_folder
from compvqa.seeds import stable_hash
from compvqa.settings import Settings
from compvqa.tables import Schema

BATCH = 2_000  # scenes held at a time
PARTS = ("train", "val", "all")
SIDE = re.compile(r"[A-Za-z0-9]+")  # what else a side may be called, where the reader takes any
STOPPED = "stopped.rejects.parquet"  # no output of the rule: it stays where the run stops


class SourceSettings(Settings):
    """One source of scenes."""

    name: str = Field("source", pattern=r"^[a-z0-9][a-z0-9_-]*$", description="first part of its scene ids")
    enabled: bool = Field(True, description="whether the source takes part")
    reader: str = Field(
        "gqa", description="module in compvqa.scenes.readers that reads it: gqa, visual_genome, imsitu, clevr"
    )
    files: dict[str, Path] = Field(
        default_factory=dict,
        description="raw files: 'train' and 'val' by the publisher's split, or 'all' where one file holds "
        "both; imSitu's 'space' and 'templates'; CLEVR's by any sides, such as 'test' or 'valB'; 'val_ids', a text "
        "file of the ids in 'all' that are val",
    )
    image_space: str = Field("", description="sources with equal image ids share it; empty: the source's name")
    val_share: float = Field(0.1, ge=0, le=1, description="share of the scenes in 'all' that are val, by stable rank")
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="of the reader, by its own keys (clevr: relations: derived | told; told keeps those of a file that "
        "do not follow from places, derived refuses its scene)",
    )
    most_rejected: float = Field(
        0.05,
        ge=0,
        le=1,
        description="share of the scenes, of the objects, the attributes, the relations … that may be malformed; where "
        "more are, the run stops",
    )

    @field_validator("reader")
    @classmethod
    def _known_reader(cls, reader: str) -> str:
        if find_reader(reader) is None:
            raise ValueError(_no_reader(reader))
        return reader

    @field_validator("settings")
    @classmethod
    def _readers_settings(cls, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        reader = info.data.get("reader", "")
        if settings and settings_of(reader) is None:
            raise ValueError(f"the reader {reader} has no settings: leave them out")
        read_settings(reader, settings)
        return settings

    @field_validator("files")
    @classmethod
    def _known_files(cls, files: dict[str, Path], info: ValidationInfo) -> dict[str, Path]:
        reader = info.data.get("reader", "")
        known = file_names(reader)
        for name in files if known else ():
            if name not in known and not (has_sides(reader) and SIDE.fullmatch(name)):
                raise ValueError(
                    f"the reader {reader} has no file {name!r}{_meant(name, known)} (known: {', '.join(known)})"
                )
        if not scene_files(reader, files):
            raise ValueError("no scene file is named: give 'train', 'val' or 'all'")
        if "val_ids" in files and "all" not in files:
            raise ValueError("'val_ids' tells which scenes of the file 'all' are val: name that file as well")
        return files


def _no_reader(name: str) -> str:
    return f"there is no reader {name!r}{_meant(name, READERS)} (known: {', '.join(READERS)}, and modules of your own)"


def _meant(name: str, known: Iterable[str]) -> str:
    found = meant(name, known)
    return f", did you mean {found!r}" if found else ""


class Reader(Protocol):
    """A module of a reader of scene graphs."""

    @property
    def read(self) -> Callable[..., Iterator[RawScene]]: ...  # of files, split_of and report; settings if it has some


def find_reader(name: str) -> Reader | None:
    """The module ``compvqa.scenes.readers.<name>``, if it is there and reads scenes."""
    try:
        return plugins.find("compvqa.scenes.readers", name, "read", "reader")
    except InputError:
        return None


def file_names(reader: str) -> tuple[str, ...]:
    """The names of the files that a reader knows; none where there is no such reader."""
    module = find_reader(reader)
    return (*PARTS, "val_ids", *getattr(module, "FILES", ())) if module else ()


def has_sides(reader: str) -> bool:
    """Whether a reader takes scene files of any side, not of train and val alone: it has ``SIDES = True``."""
    return bool(getattr(find_reader(reader), "SIDES", False))


def scene_files(reader: str, files: Iterable[str]) -> list[str]:
    """Which of a source's files, by their names, hold scenes."""
    if has_sides(reader):
        return [name for name in files if name not in set(file_names(reader)) - set(PARTS)]
    return [name for name in PARTS if name in files]


def has_places(reader: str) -> bool:
    """Whether a reader's scenes say where things are in space: it has ``PLACES = True``."""
    return bool(getattr(find_reader(reader), "PLACES", False))


def settings_of(reader: str) -> type[Settings] | None:
    """The class of a reader's own settings, its ``SETTINGS``; None where it has none."""
    return getattr(find_reader(reader), "SETTINGS", None)


def read_settings(reader: str, given: dict[str, Any]) -> dict[str, Settings]:
    """What a reader's ``read`` takes besides: ``settings``, where it has some. ValueError where they are wrong."""
    kind = settings_of(reader)
    return {} if kind is None else {"settings": kind.model_validate(given)}


def ingest(source: SourceSettings, lexicon: Path | None, out: Path, memory: str = "1GB") -> dict[str, int]:
    """Read one source into the folder ``out``: scenes, objects, attributes, relations, modifiers, rejects.

    Where the source knows of positions in space, they and the directions are written as well. Attributes get their
    group from the source, or else from the lexicon (none without one). A malformed record is a row of rejects; a
    malformed file raises :class:`InputError`, and so does a share of rejects above ``source.most_rejected``, with all
    rejects in the file ``STOPPED``. Holds ``BATCH`` scenes at a time. Gives counts of what came in, went out, was
    dropped by rule and was rejected, by reason.
    """
    report = Report()
    groups = Lexicon.load(lexicon) if lexicon is not None else None
    scenes = read(source, report)
    (out / STOPPED).unlink(missing_ok=True)
    with _uncollected(), _Spool(out, source, groups) as spool:
        for number, scene in enumerate(track(_once(scenes, report), f"ingest {source.name}", unit="scene"), 1):
            spool.add(scene)
            if number % BATCH == 0:
                spool.flush(report)
        spool.flush(report)
        if why := too_many(source.name, report, spool.kept, source.most_rejected, out / STOPPED):
            spool.finish(memory, {REJECTS: out / STOPPED})
            raise InputError(why)
        places = {schema: out / f"{schema.name}.parquet" for schema in spool.schemas}
        for schema in OPTIONAL if not has_places(source.reader) else ():
            places.pop(schema).unlink(missing_ok=True)
        rows = spool.finish(memory, places)
    return accounted(report, rows)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Python's cycle collector off: records are trees, and watching them costs a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read(source: SourceSettings, report: Report) -> Iterator[RawScene]:
    """The raw scenes of a source, by its reader."""
    module = find_reader(source.reader)
    if module is None:
        raise InputError(f"Source {source.name}: {_no_reader(source.reader)}.")
    if not (parts := scene_files(source.reader, source.files)):
        raise InputError(f"Source {source.name} names no scene file: give 'train', 'val' or 'all' under its files.")
    for key, path in source.files.items():
        if not path.is_file():
            raise InputError(f"Source {source.name}: its file {key} ({path}) does not exist; download or correct it.")
    for part in parts:
        check_format(source.name, source.reader, source.files[part])
    return module.read(source.files, _split_rule(source), report, **read_settings(source.reader, source.settings))


def _split_rule(source: SourceSettings) -> SplitOf:
    """The side of a scene in a file that holds both: as listed in ``val_ids``, or by the rank of its id."""
    if "val_ids" in source.files:
        listed = frozenset(read_text(source.files["val_ids"]).split())
        return lambda scene_id: "val" if scene_id in listed else "train"
    bound = round(source.val_share * 1_000_000)
    return lambda scene_id: "val" if stable_hash("val", scene_id) % 1_000_000 < bound else "train"


def _once(scenes: Iterable[RawScene], report: Report) -> Iterator[RawScene]:
    """The scenes whose ids can be written and told apart, of those with an equal id only the first."""
    seen: set[str] = set()
    for scene in scenes:
        if not _encodable(scene):
            report.reject(scene.raw_id, "scene", "an id in it is no valid text")
        elif any(not name or name != name.strip() for name in (scene.raw_id, scene.image_id)):
            report.reject(scene.raw_id, "scene", "scene's or image's id is empty, or has spaces at its ends")
        elif scene.raw_id in seen:
            report.reject(scene.raw_id, "scene", "scene id repeated")
        else:
            seen.add(scene.raw_id)
            yield scene


def _encodable(scene: RawScene) -> bool:
    """Whether all ids of a scene are text that a file can hold (JSON can escape halves of characters)."""
    try:
        "".join([scene.raw_id, scene.image_id, *(item.object_id for item in scene.objects)]).encode()
    except UnicodeEncodeError:
        return False
    return True


class _Spool:
    """The rows of a source on their way to sorted tables: batches on disk, unsorted.

    These are read once: they are not worth a dictionary of their names.
    """

    schemas = (*TABLES, *OPTIONAL, REJECTS)

    def __init__(self, out: Path, source: SourceSettings, lexicon: Lexicon | None):
        self.out, self.source, self.lexicon = out, source, lexicon
        self.space = source.image_space or source.name
        self.groups: dict[str, str | None] = {}
        self.rows: dict[str, list[tuple]] = {schema.name: [] for schema in self.schemas}
        self.kept: Counter[str] = Counter({schema.name: 0 for schema in TABLES})

    def __enter__(self) -> _Spool:
        self.stack = ExitStack()
        self.folder = self.stack.enter_context(scratch_folder(self.out, "ingest"))
        self.writers = {
            s.name: pq.ParquetWriter(self._spooled(s), s.fields, compression="lz4", use_dictionary=False)
            for s in self.schemas
        }
        return self

    def __exit__(self, *_: object) -> None:
        with self.stack:
            for writer in self.writers.values():
                writer.close()

    def _spooled(self, schema: Schema) -> Path:
        return self.folder / f"{schema.name}.parquet"

    def add(self, scene: RawScene) -> None:
        """Take the rows of one scene."""
        scene_id = f"{self.source.name}:{scene.raw_id}"
        rows = self.rows
        image = f"{self.space}:{scene.image_id}"
        rows["scenes"].append((scene_id, self.source.name, scene.split, image, scene.width, scene.height))
        for item in scene.objects:
            rows["objects"].append((scene_id, item.object_id, item.name, *(item.box or (None,) * 4)))
            for name in item.attributes:
                group = item.groups[name] if name in item.groups else self._group(name)
                rows["attributes"].append((scene_id, item.object_id, name, group))
            if item.position is not None:
                rows["positions"].append((scene_id, item.object_id, *item.position))
        for number, relation in enumerate(scene.relations):
            relation_id = f"{number:04d}"
            ends = (relation.subject_id, relation.object_id)
            rows["relations"].append((scene_id, relation_id, *ends, relation.name))
            rows["modifiers"] += [(scene_id, relation_id, *modifier) for modifier in relation.modifiers]
        rows["directions"] += [(scene_id, name, *axis) for name, axis in scene.directions.items()]

    def _group(self, attribute: str) -> str | None:
        if attribute not in self.groups:
            self.groups[attribute] = self.lexicon.group(attribute) if self.lexicon else None
        return self.groups[attribute]

    def flush(self, report: Report) -> None:
        """Put the rows so far on disk."""
        self.rows["rejects"] += [
            (
                self.source.name,
                row["file"],
                f"{self.source.name}:{row['scene_id']}",
                row["record"],
                row["reason"],
            )
            for row in report.take_rejects()
        ]
        for schema in self.schemas:
            rows = self.rows[schema.name]
            if rows:
                self.kept[schema.name] += len(rows)
                columns = zip(*rows, strict=True)
                arrays = [pa.array(c, field.type) for c, field in zip(columns, schema.fields, strict=True)]
                self.writers[schema.name].write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema.fields))
                rows.clear()

    def finish(self, memory: str, places: dict[Schema, Path]) -> dict[str, int]:
        """Sort each table into its place; the number of rows of each."""
        for writer in self.writers.values():
            writer.close()
        with query.connect(self.folder, memory) as connection:
            return {
                schema.name: query.write(
                    connection,
                    "SELECT * FROM read_parquet(?)",
                    place,
                    schema,
                    [str(self._spooled(schema))],
                )
                for schema, place in places.items()
            }
