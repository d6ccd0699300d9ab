"""What a download's bytes are compared with: a checksum in the list of sources, or one recorded on the first fetch.

``config/sources.tsv`` gives a sha256, ``git:`` and the id of a file (blob) in a Git repository, or ``lock``: trust on
first use, for which the lock file, URL → sha256, is kept beside the list.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from compvqa.errors import InputError, disk_full
from compvqa.scenes.contents import CHUNK, Refused
from compvqa.tables import replacing

LOCK = "lock"  # in place of a checksum: record the sha256 on the first fetch
GIT = "git:"  # before the id of a blob
WAIT = 60  # seconds for other processes to write the lock file, which takes each of them milliseconds
_PIN = re.compile(rf"[0-9a-f]{{64}}|{GIT}[0-9a-f]{{40}}", re.IGNORECASE)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.IGNORECASE)


def is_pin(text: str) -> bool:
    """Whether ``text`` is a checksum: 64 hexadecimal digits, or ``git:`` and 40."""
    return _PIN.fullmatch(text) is not None


def check(path: Path, pin: str, locked: str | None, url: str) -> str:
    """The file's sha256; :class:`Refused` if it is not as ``pin`` says, or not ``locked`` where the lock has that."""
    sha256, git = _digests(path)
    if pin.lower().startswith(GIT) and git != pin.lower():
        raise Refused(f"{path} has Git's id {git}, not {pin.lower()} of {url}")
    expected = pin.lower() if _SHA256.fullmatch(pin) else locked
    if expected is not None and sha256 != expected:
        raise Refused(f"{path} has the sha256 {sha256}, not {expected} of {url}")
    return sha256


def _digests(path: Path) -> tuple[str, str]:
    """The sha256 of a file, and the id that Git gives it: the SHA-1 of its kind, its size and its bytes."""
    sha256, git = hashlib.sha256(), hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            sha256.update(block)
            git.update(block)
    return sha256.hexdigest(), GIT + git.hexdigest()


def read_lock(path: Path) -> dict[str, str]:
    """URL → sha256 as recorded on the first fetch; empty where there is no lock file yet."""
    if not path.is_file():
        return {}
    locked = {row["url"]: row["sha256"].lower() for row in read_tsv(path, ["url", "sha256"])}
    for url, digest in locked.items():
        if not _SHA256.fullmatch(digest):
            raise InputError(f"{path}: the sha256 of {url} is not 64 hexadecimal digits: correct or delete that line.")
    return locked


def record(path: Path, url: str, digest: str) -> None:
    """Note in the lock file the sha256 of what ``url`` gave, if it is not there yet.

    Processes wait for each other, also on machines that share the folder: each reads the file anew and replaces it as
    a whole, so that no entry is lost. Raises :class:`Refused` where another process recorded another sha256 meanwhile.
    """
    if read_lock(path).get(url) == digest:  # the folder may be one that can only be read
        return
    waiting = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(waiting, timeout=WAIT, mode=0o666):  # of whoever shares the folder
            locked = read_lock(path)
            if locked.setdefault(url, digest) != digest:
                raise Refused(f"{url} gave the sha256 {digest} here, and {locked[url]} to another process")
            with replacing(path) as temporary:
                lines = ["url\tsha256", *(f"{url}\t{locked[url]}" for url in sorted(locked))]
                temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except Timeout:
        why = f"{waiting} is held for {WAIT} seconds"
        raise InputError(f"{path} could not be written ({why}): end the process that hangs, or delete that.") from None
    except OSError as error:
        why = f"could not be written ({error.strerror}): make it and its folder writable, and run again"
        raise disk_full(error, path) or InputError(f"{path} {why}.") from None


def read_tsv(path: Path, wanted: list[str]) -> Iterator[dict[str, str]]:
    """The ``wanted`` columns of each row of a table with tabs; :class:`InputError` names what is wrong where."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            missing = [name for name in wanted if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(f"{path} lacks the column {missing[0]!r}.")
            for row in reader:
                if None in row or None in row.values():
                    columns = (
                        f"expected {len(reader.fieldnames or ())} columns, tabs between them, also where one is empty"
                    )
                    raise InputError(f"{path}, line {reader.line_num}: {columns}.")
                yield {name: row[name].strip() for name in wanted}
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}): give the list of downloads.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text: convert it to UTF-8.") from None
