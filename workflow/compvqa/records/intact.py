"""Whether a run's inputs are still the bytes that the stage before wrote, by the sha256 in its record.

A flipped bit in a matrix, in weights or in a JSON file shows in no other way. Raw files have no record and are taken as
they are, as is what a record leaves out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from compvqa.errors import InputError
from compvqa.records.record import SUFFIX, files_of, sha256, shown

Listing = Callable[[Path], list[Path]]
BY_HAND = {"word_pairs"}  # stages whose outputs people then write into


def check_intact(inputs: Iterable[Path]) -> None:
    """Raise :class:`InputError` naming the first file that differs from its record, or that a folder should hold.

    ``inputs`` are files and folders, which must exist.
    """
    known, listed, folders = cache(_outputs), cache(_records_in), cache(_folders_in)
    for given in inputs:
        for record in _above(given, listed) if given.is_dir() else ():
            gone = [path for path in map(Path, known(record)) if path.is_relative_to(given) and not path.exists()]
            if gone:
                raise InputError(
                    f"{gone[0]} is not there, but in {record}: delete {_whole(gone[0], record)} and run again."
                )
        for path in files_of([given]):
            for record in _near(path, listed, folders):
                expected = known(record).get(shown(path))
                if expected not in (None, sha256(path)):
                    wrong = f"{path} is not as it was written (its sha256 is not that in {record})"
                    raise InputError(f"{wrong}: delete {_whole(path, record)} and run again.")
                if expected is not None:
                    break


def _whole(path: Path, record: Path) -> Path:
    """What must go for ``path`` to be made again: it, or the folder beside its record that was made as a whole."""
    inside = path.is_relative_to(record.parent)
    return record.parent / path.relative_to(record.parent).parts[0] if inside else path


def _near(path: Path, listed: Listing, folders: Listing) -> Iterator[Path]:
    """The records that may tell of ``path``, its own first: a stage with several outputs has one, near them."""
    own = path.with_name(path.name + SUFFIX)
    yield from [own] if own.exists() else listed(path.parent)
    if path.is_absolute():  # a record has only the names of such files
        return
    yield from _above(path.parent, listed)
    for folder in folders(path.parent.parent):
        beside = [folder / (name + SUFFIX) for name in (path.name, folder.name)]
        yield from (record for record in beside if record.exists())


def _above(path: Path, listed: Listing) -> Iterator[Path]:
    for folder in list(path.parents)[:3]:
        yield from listed(folder)


def _folders_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/"))


def _records_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


def _outputs(record: Path) -> dict[str, str]:
    """Path → sha256 of what the record says was written; a name that it has twice is left out."""
    try:
        told = json.loads(record.read_text(encoding="utf-8"))
        outputs = [(str(output["path"]), str(output["sha256"])) for output in told["outputs"]]
        stage = told["stage"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{record} is no readable record of a run: delete it and run again.") from None
    times = Counter(path for path, _ in outputs)
    return {} if stage in BY_HAND else {path: digest for path, digest in outputs if times[path] == 1}
