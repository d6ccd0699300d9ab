"""The manifest of a run: one file that names all others, so that what is deleted, added or edited later is noticed.

It has each file with its sha256, as the stage that wrote it said, and whether Snakemake deletes it when nobody needs it
any more; the sha256 of each record; of what lies outside of the folder of results, what the run read; the config, the
definitions, the code, and git's commit. It tells no time: written again, it has the same bytes. Of two runs that are
equal but for when they ran, it differs in ``records`` (which tell times) and ``git``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field

from compvqa.errors import InputError
from compvqa.files import read_json, write_json
from compvqa.provenance.checkout import state
from compvqa.provenance.hashing import hashes
from compvqa.provenance.history import History, Record
from compvqa.records.digest import package_digest
from compvqa.records.intact import BY_HAND
from compvqa.records.record import sha256, without_folders
from compvqa.settings import Settings

MANIFEST, SIGNATURE = "manifest.json", "manifest.json.sig"
# What is made to be handed on, when someone asks for it: the dataset folder, and the crate, which names the manifest.
LATER = ("publish/", "code/", "ro-crate-metadata.json")
REQUIRED = ("results", "files", "records", "given", "git", "code")


class ManifestSettings(Settings):
    """What a manifest says besides the records."""

    config: dict = Field(default_factory=dict, description="the configuration of the run, as it was checked")
    definitions: dict[str, str] = Field(
        default_factory=dict, description="a hash of each definition that it names, by folder and name"
    )
    temporary: tuple[str, ...] = Field((), description="glob patterns of files that are deleted once nobody needs them")


@dataclass(frozen=True)
class Manifest:
    """A manifest as it was read: its data, and the sha256 of the file."""

    data: dict
    sha256: str

    @property
    def folder(self) -> str:
        """The folder of results, relative to the run's."""
        return self.data["results"]

    @property
    def files(self) -> dict[str, dict]:
        """Of each file in the folder ``sha256``, ``bytes``, ``record`` (None: nobody's) and ``temporary``, if it is."""
        return self.data["files"]

    @property
    def records(self) -> dict[str, str]:
        """Path to sha256."""
        return self.data["records"]

    @property
    def given(self) -> dict[str, str]:
        """Path to sha256 of the files outside of the folder."""
        return self.data["given"]


def read_manifest(path: Path) -> Manifest:
    """The manifest at ``path``; one that is broken or lacks a key is an :class:`InputError`."""
    data = read_json(path, "run the workflow to its end")
    if missing := [key for key in REQUIRED if key not in data]:
        raise InputError(f"{path} is no manifest of a run, it lacks {missing[0]!r}: run the workflow to its end.")
    mappings = all(isinstance(data[key], dict) for key in ("files", "records", "given"))
    whole = isinstance(data["results"], str) and mappings
    if not whole or not all(isinstance(of, dict) and {"sha256", "record"} <= {*of} for of in data["files"].values()):
        raise InputError(f"{path} is no manifest of a run, it was altered: run the workflow to its end.")
    return Manifest(data, sha256(path))


def later(folder: str, path: str) -> bool:
    """Whether a path is of what a manifest leaves out: it is made at any time, and checked by its own records."""
    return path.startswith(tuple(f"{folder}/{name}" for name in LATER))


def recorded(history: History, folder: str) -> list[Record]:
    """The records of all in the folder of results but of what comes :func:`later`, with all behind them."""
    below = [record for record in history.below(folder) if not later(folder, record.path)]
    return history.behind(path for record in below for path in record.outputs)


def write_manifest(results: Path, project: Path, settings: ManifestSettings) -> dict[str, int]:
    """Write the manifest of the run whose results lie in the folder ``results``, from its records; counts.

    Files are not read again but where size or time tell that they may have been written after their record: one that
    was is an :class:`InputError`, since a manifest must not vouch for it. A file that is gone is in the manifest all
    the same. ``project`` is the workflow's folder.
    """
    folder = results.as_posix()
    history = History(Path("."))
    records = recorded(history, folder)
    if not records:
        raise InputError(f"{results} holds no record of a run: run the workflow first, or correct the path.")
    looked_at = _refuse_changed(history, records, folder)
    files, given = _files(history, records, folder, settings.temporary)
    data = {
        "results": folder,
        "config": without_folders(settings.config),
        "definitions": settings.definitions,
        "code": {"package": package_digest()},
        "git": state(project),
        "files": files,
        "records": {path: sha256(Path(path)) for path in sorted(record.path for record in records)},
        "given": given,
    }
    write_json(results / MANIFEST, data, recipe=False)
    gone = [path for path, about in files.items() if not Path(path).is_file() and not about.get("temporary")]
    counts = {"records": len(records), "files": len(files), "given": len(given), "hashed again": looked_at}
    return counts | {"temporary": sum(about.get("temporary", False) for about in files.values()), "missing": len(gone)}


def _files(
    history: History, records: Sequence[Record], folder: str, temporary: Sequence[str]
) -> tuple[dict[str, dict], dict[str, str]]:
    """What the records name: files in the folder, and the sha256 of those outside of it; each by path."""
    files: dict[str, dict] = {}
    given: dict[str, str] = {}
    for record in records:
        sizes = {item["path"]: item.get("bytes") for item in [*record.data["inputs"], *record.data["outputs"]]}
        for path, digest, maker in _named(history, record):
            if not path.startswith(f"{folder}/"):
                given.setdefault(path, digest)
            elif path != f"{folder}/{MANIFEST}":
                about = {"sha256": digest, "bytes": sizes[path], "record": maker}
                files[path] = about | ({"temporary": True} if _matches(path, temporary) else {})
    return dict(sorted(files.items())), dict(sorted(given.items()))


def _named(history: History, record: Record) -> Iterator[tuple[str, str, str | None]]:
    """Path, sha256 and maker of what a record made, and of what it read that nobody made."""
    for path, digest in record.outputs.items():
        if history.maker(path) is record:
            yield path, digest, record.path
    for path, digest in record.inputs.items():
        if history.maker(path) is None:
            yield path, digest, None


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _refuse_changed(history: History, records: Sequence[Record], folder: str) -> int:
    """Hash the files that may have been written after their record; how many. Raises of one that was."""
    doubtful = {
        item["path"]: record
        for record in records
        for item in record.data["outputs"]
        if item["path"].startswith(f"{folder}/") and history.maker(item["path"]) is record and _newer(item, record)
    }
    for path, found in hashes(history.root, doubtful).items():
        record = doubtful[path]
        if found != record.outputs[path] and record.stage not in BY_HAND:
            raise InputError(
                f"{path} is not as it was written (its sha256 is not that in {record.path}): delete it and run again."
            )
    return len(doubtful)


def _newer(item: dict, record: Record) -> bool:
    """Whether a file may have been written after its record was: of another size, or later."""
    file = Path(item["path"])
    if not file.is_file():
        return False
    now = file.stat()
    return now.st_size != item.get("bytes") or now.st_mtime_ns > Path(record.path).stat().st_mtime_ns
