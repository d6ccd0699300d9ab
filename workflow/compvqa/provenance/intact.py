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
from compvqa.provenance.record import sha256, shown

END = ".prov.json"
Listing = Callable[[Path], list[Path]]
BY_HAND = {"word_pairs"}  # stages whose outputs people then write into


def check_intact(paths: Iterable[Path]) -> None:
    """Raise :class:`InputError` naming the first file among ``paths`` that differs from its record."""
    known, listed, folders = cache(_outputs), cache(_records_in), cache(_folders_in)
    for path in paths:
        for record in _near(path, listed, folders):
            expected = known(record).get(shown(path))
            if expected is None:
                continue
            if expected != sha256(path):
                raise InputError(
                    f"{path} is not as it was written (its sha256 differs from that in {record}): delete it and run again."
                )
            break


def _near(path: Path, listed: Listing, folders: Listing) -> Iterator[Path]:
    """The records that may tell of ``path``, its own first: a stage with several outputs has one, near them."""
    own = path.with_name(path.name + END)
    yield from [own] if own.exists() else listed(path.parent)
    if path.is_absolute():  # a record has only the names of such files
        return
    for above in list(path.parents)[1:4]:
        yield from listed(above)
    for folder in folders(path.parent.parent):
        beside = [folder / (name + END) for name in (path.name, folder.name)]
        yield from (record for record in beside if record.exists())


def _folders_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/"))


def _records_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{END}"))


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
