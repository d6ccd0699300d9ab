"""What there is to say of a dataset folder: its splits and parts, sources, licence and day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.errors import InputError
from compvqa.files import read_json, read_yaml
from compvqa.programs import wings
from compvqa.provenance.sources import Licence, Source, common, licence
from compvqa.publish.parquet import language_of_published, meaning, published_schema
from compvqa.publish.pictures import FETCHED, IMAGES, picture_files
from compvqa.publish.settings import PublishSettings
from compvqa.questions.dataset import RISK
from compvqa.records.record import sha256
from compvqa.splits.held import HeldPair, held_pair
from compvqa.splits.setups import Definition, Setup, find_setup
from compvqa.splits.splitters import read_definition

DATA = "data"  # folder of the files: data/<split>/<part>.parquet


@dataclass(frozen=True)
class Part:
    """A part of a split, or some of the pictures: its file, by its path in the folder, with its rows and bytes."""

    name: str
    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Split:
    """A split and its parts, those without questions too."""

    definition: Definition
    parts: tuple[Part, ...]
    recipe: str
    held: HeldPair | None = None  # the pair that it holds out, as its files tell

    @property
    def name(self) -> str:
        return self.definition.name

    def told(self) -> str:
        """What it holds out, in words for people; of a pair that was drawn, which it is."""
        if self.held is None or self.definition.held_pair():
            return self.definition.told()
        return f"{self.definition.told()}: {' + '.join(self.held.pair)}"

    def filled(self) -> list[Part]:
        """The parts that have questions."""
        return [part for part in self.parts if part.rows]


@dataclass(frozen=True)
class Doubt:
    """How many questions are invalid: per cent, as it is expected by their risks, and truly; None where unknown.

    ``risky``: whether the questions have a column for risks, though no risk may be known.
    """

    expected: float | None = None
    true: float | None = None
    risky: bool = False


@dataclass(frozen=True)
class Description:
    """A dataset folder. ``templates`` and ``spaces``: numbers of questions by template and by image space.

    ``recipes`` are those of the tables of all questions, by what each is of; ``datasheet`` has answers by question by
    heading.
    """

    name: str
    testbed: str
    settings: PublishSettings
    licence: Licence
    day: date
    splits: tuple[Split, ...]
    sources: tuple[Source, ...]
    templates: Mapping[str, int]
    spaces: Mapping[str, int]
    questions: int
    recipes: Mapping[str, str]
    datasheet: Mapping[str, Mapping[str, str]]
    example: Mapping[str, object]
    fields: pa.Schema
    meaning: Mapping[str, str]
    doubt: Doubt
    certainty: str  # how sure answers of the language are
    pictures: tuple[Part, ...] = ()

    @property
    def inline(self) -> bool:
        """Whether questions have their pictures with them."""
        return self.settings.pictures == "inline"

    @property
    def fetched(self) -> bool:
        """Whether a script fetches the pictures."""
        return self.settings.pictures == "fetched"

    def setups(self) -> dict[str, Setup]:
        """The setups of the splits by name, in order: what their parts are, and what these do not share."""
        return {split.definition.setup: find_setup(split.definition.setup) for split in self.splits}


def describe(
    folder: Path,
    published: Sequence[Path],
    records: Sequence[Path],
    definitions: Sequence[Path],
    sources: Sequence[Source],
    settings: PublishSettings,
    testbed: str,
    datasheet: Path | None = None,
    datasets: Sequence[Path] = (),
    judged: Sequence[Path] = (),
) -> Description:
    """Describe the files under ``folder``/data of the splits that ``definitions`` (YAML files) define.

    ``published`` are the tables of all questions, one a chain, ``records`` those of the datasets' making, ``datasheet``
    is a file of answers by question by heading (YAML), ``datasets`` what was published, ``judged`` tables of what was
    judged of it. :class:`InputError` names a split that has no files.
    """
    language = language_of_published(published[0])
    schema = published_schema(language, inline=settings.pictures == "inline")
    own = wings.part(language, "properties")
    about, doubted, cited = (getattr(own, name, "") for name in ("ABOUT", "DOUBT", "CITATION"))
    said = {"description": settings.description or about, "citation": settings.citation or cited}
    settings = settings.model_copy(update=said)
    table = tables.read_all(published, published_schema(language), ["question_id", "template", "images"])
    pictures = [folder / path for path in picture_files(settings)] if settings.pictures == "once" else []
    return Description(
        name=settings.name or testbed,
        testbed=testbed,
        settings=settings,
        licence=licence(settings.licence) if settings.licence else common(source.licence for source in sources),
        day=settings.published or max(date.fromisoformat(str(read_json(path)["ended"])[:10]) for path in records),
        splits=tuple(_split(folder, path) for path in definitions),
        sources=tuple(sources),
        templates=_counts(table["template"]),
        spaces=_spaces(table),
        questions=len(table),
        recipes=_recipes(published),
        datasheet=read_yaml(datasheet) if datasheet else {},
        example=_first(published[0]),
        fields=schema.fields,
        meaning=meaning(language, inline=settings.pictures == "inline"),
        doubt=_doubt(datasets, judged),
        certainty=doubted,
        pictures=tuple(_part(folder, path.stem, path) for path in pictures),
    )


def sweep(folder: Path, described: Description) -> int:
    """Delete from the dataset folder what a run with other settings left there, which nobody means to hand on: parts of
    other splits, pictures, and the script that fetches them; gives the number of files."""
    parts = [part for split in described.splits for part in split.parts]
    kept = {part.path for part in (*parts, *described.pictures)}
    found = [path for name in (DATA, IMAGES) for path in sorted((folder / name).rglob("*.parquet"))]
    found += [] if described.fetched else [folder / name for name in FETCHED]
    left = [path for path in found if path.is_file() and path.relative_to(folder).as_posix() not in kept]
    for path in left:
        path.unlink()
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()
    return len(left)


def _split(folder: Path, path: Path) -> Split:
    definition = read_definition(read_yaml(path))
    made = folder / DATA / definition.name
    parts = [(part, made / f"{part.name}.parquet") for part in find_setup(definition.setup).parts]
    found = [_part(folder, part.name, p) for part, p in parts if p.is_file()]
    if not found:
        raise InputError(f"{made} has no files: publish the split {definition.name} first.")
    first = folder / found[0].path
    return Split(definition, tuple(found), tables.recipe_of(first) or "", held_pair(first))


def _part(folder: Path, name: str, path: Path) -> Part:
    rows = pq.read_metadata(path).num_rows
    return Part(name, path.relative_to(folder).as_posix(), rows, path.stat().st_size, sha256(path))


def _recipes(published: Sequence[Path]) -> dict[str, str]:
    """The recipes of the tables of all questions; of several, each is that of the chain whose folder it is in."""
    if len(published) == 1:
        return {"all questions": tables.recipe_of(published[0]) or ""}
    return {f"all questions of {path.parent.name}": tables.recipe_of(path) or "" for path in published}


def _first(published: Path) -> Mapping[str, object]:
    with pq.ParquetFile(published) as file:
        return next((row for batch in file.iter_batches(1) for row in batch.to_pylist()), {})


def _doubt(datasets: Sequence[Path], judged: Sequence[Path]) -> Doubt:
    valid = _mean(judged, "valid")
    return Doubt(_mean(datasets, RISK), None if valid is None else 100 - valid, bool(_with_column(datasets, RISK)))


def _with_column(paths: Sequence[Path], column: str) -> list[Path]:
    return [path for path in paths if column in pq.read_schema(path).names]


def _mean(paths: Sequence[Path], column: str) -> float | None:
    """The mean of a column in tables, per cent; None where none has it, or it is null."""
    have = _with_column(paths, column)
    found = [pq.read_table(path, columns=[column])[column].cast(pa.float64()) for path in have]
    mean = pc.mean(pa.chunked_array([chunk for part in found for chunk in part.chunks], pa.float64())).as_py()
    return None if mean is None else 100 * mean


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    found = {row["values"]: row["counts"] for row in pc.value_counts(column).to_pylist()}
    return dict(sorted(found.items()))


def _spaces(table: pa.Table) -> dict[str, int]:
    """The number of questions that have an image of each space."""
    images = table["images"].combine_chunks()
    names = pc.list_element(pc.split_pattern(images.flatten(), ":", max_splits=1), 0)
    pairs = pa.table({"question": pc.list_parent_indices(images), "space": names})
    return _counts(pairs.group_by(["question", "space"]).aggregate([])["space"])
