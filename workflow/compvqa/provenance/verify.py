"""Rehashing of all that led to a file: each output, input and recipe against the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compvqa import tables
from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.provenance.history import History, Record
from compvqa.provenance.record import PROJECT, ROOT, hashed_recipe, sha256


@dataclass
class Verdict:
    """What was compared: numbers of records and files, files that are gone, and differences, the first first."""

    records: int = 0
    files: int = 0
    gone: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(
        default_factory=list
    )  # given from outside the run's folder: only their names are known
    differences: list[str] = field(default_factory=list)


def verify(history: History, records: Sequence[Record], every: bool = False) -> Verdict:
    """Compare the files behind ``records`` with them; stop at the first difference, or find ``every`` one.

    A record agrees if its inputs have the sha256 that their makers wrote, if its files have theirs now, and if its
    recipe is the hash of its stage, code, settings, seed and inputs, and is in the tables that it made. A file
    that is gone (a temporary one) is listed; that its maker and its readers name the same sha256 is checked all
    the same.
    """
    verdict = Verdict(records=len(records))
    hashes: dict[str, str | None] = {}
    for record in track(records, "verifying", len(records), "record"):
        for difference in _wrong(history, record, hashes):
            verdict.differences.append(difference)
            if not every:
                return _closed(verdict, hashes)
    return _closed(verdict, hashes)


def _closed(verdict: Verdict, hashes: dict[str, str | None]) -> Verdict:
    absent = sorted(path for path, digest in hashes.items() if digest is None)
    verdict.files = len(hashes) - len(absent)
    verdict.elsewhere = [path for path in absent if "/" not in path]
    verdict.gone = [path for path in absent if "/" in path]
    return verdict


def _wrong(history: History, record: Record, hashes: dict[str, str | None]) -> Iterator[str]:
    for path, digest in record.inputs.items():
        maker = history.maker(path)
        if maker and maker.outputs[path] != digest:
            yield (
                f"{record.path} says that {path} had the sha256 {digest}, but {maker.path} that it made "
                f"{maker.outputs[path]}: run {record.stage} again."
            )
    for path, digest in {**record.inputs, **record.outputs}.items():
        found = _hash(history.root, path, hashes)
        if found is not None and found != digest:
            yield f"{path} has the sha256 {found}, not {digest} of {record.path}: it changed after it was used or made."
    yield from _wrong_recipes(history, record)


def _hash(root: Path, path: str, hashes: dict[str, str | None]) -> str | None:
    """The sha256 of a file, read once; None where it is gone."""
    if path not in hashes:
        place = ROOT / path.removeprefix(PROJECT) if path.startswith(PROJECT) else root / path
        hashes[path] = sha256(place) if place.is_file() else None
    return hashes[path]


def _wrong_recipes(history: History, record: Record) -> Iterator[str]:
    expected = hashed_recipe(
        record.stage,
        record.data["code"],
        record.data["settings"],
        record.data["seed"],
        _fingerprints(history, record.inputs),
    )
    if expected != record.recipe:
        yield f"{record.path} has the recipe {record.recipe}, but what it lists gives {expected}: it was changed."
    for path in record.outputs:
        place = history.root / path
        if path.endswith(".parquet") and place.is_file():
            try:
                found = tables.recipe_of(place)
            except InputError as error:
                yield str(error)
                continue
            if found != record.recipe:
                yield f"{path} carries the recipe {found}, not {record.recipe} of {record.path}: another run made it."


def _fingerprints(history: History, inputs: dict[str, str]) -> Iterable[str]:
    """What stands for each input in a recipe, by the records: a table's own recipe, or else the sha256."""
    for path, digest in inputs.items():
        maker = history.maker(path)
        if path.endswith(".parquet") and (recipe := _own_recipe(history, path, maker)):
            yield f"recipe:{recipe}"
        else:
            yield f"sha256:{digest}"


def _own_recipe(history: History, path: str, maker: Record | None) -> str | None:
    """The recipe in a table: its maker's, or of a table that was given, what it carries."""
    if maker:
        return maker.recipe
    place = history.root / path
    return tables.recipe_of(place) if place.is_file() else None
