"""Raw downloads: checked, resumed, unpacked with care, and taken as they are where they lie already.

What can be fetched is listed in ``config/sources.tsv``. Where that gives no checksum (``lock``), the first fetch
records a sha256 in a lock file, and every later one is checked against it: trust on first use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path

import requests
from urllib3.exceptions import HTTPError

from compvqa.errors import InputError, disk_full
from compvqa.progress import track
from compvqa.scenes.contents import PAGE, Refused, by_hand, check_kind, is_page
from compvqa.scenes.pins import GIT, LOCK, check, is_pin, read_lock, read_tsv, record
from compvqa.scenes.unpack import FAR, SMALL, check_room, leaves, too_long, unpack

FETCH = 1 << 16  # bytes; what a broken connection loses at most
TIMEOUT = 60  # seconds to connect, and between two bytes, if $COMPVQA_TIMEOUT does not say another number
MB = 1_000_000


@dataclass(frozen=True)
class Download:
    """A row of ``sources.tsv``: ``bytes`` may be unknown; ``unpack`` is "", "zip" or "tar".

    ``sha256`` is that of the file, ``git:`` and the id of the file's blob in its Git repository, or ``lock``.
    ``members`` names the files of the archive that the workflow reads, with spaces between, or folders, each with a "/"
    behind it: only these are unpacked.
    ``about_mb`` is about how much these take, for plans of a run that has not fetched them; four times as much is
    refused.
    """

    name: str
    file: str
    url: str
    version: str
    sha256: str
    licence: str
    bytes: str
    unpack: str
    members: str = ""
    about_mb: str = ""

    def files(self) -> list[str]:
        """The files and folders that it gives: the members that the workflow reads, or itself."""
        return [member.rstrip("/") for member in self.members.split()] or [self.file]

    def folders(self) -> list[str]:
        """Those of them that are folders."""
        return [member.rstrip("/") for member in self.members.split() if member.endswith("/")]

    def declared(self) -> float | None:
        """About how many bytes its files take, if that is known."""
        return float(self.about_mb) * MB if self.about_mb else None

    def most(self) -> float | None:
        """The bytes beyond which what comes cannot be it, if anything is known of its size."""
        if self.bytes:
            return int(self.bytes)
        declared = self.declared()
        return max(FAR * declared, SMALL) if declared else None


def read_sources(path: Path) -> list[Download]:
    """The rows of a ``sources.tsv``; :class:`InputError` names a line that is wrong."""
    wanted = [field.name for field in fields(Download)]
    rows = []
    for number, row in enumerate(read_tsv(path, wanted), start=2):
        download = Download(**row)
        where = f"{path}, line {number}"
        wrong = [name for name in (download.file, *download.files()) if leaves(name) or too_long(name)]
        if wrong or not download.url.startswith(("https://", "http://")):
            name = (wrong or [download.file])[0]
            raise InputError(f"{where}: the file {name!r} or its URL {download.url!r} is not usable.")
        if download.bytes and not re.fullmatch("[0-9]{1,18}", download.bytes):
            raise InputError(f"{where}: bytes must be a whole number or empty, not {download.bytes!r}.")
        if download.about_mb and not re.fullmatch(r"\d+(\.\d+)?", download.about_mb):
            raise InputError(f"{where}: about_mb must be a number or empty, not {download.about_mb!r}.")
        if download.unpack not in ("", "zip", "tar"):
            raise InputError(f"{where}: unpack must be zip, tar or empty, not {download.unpack!r}.")
        if download.sha256 != LOCK and not is_pin(download.sha256):
            raise InputError(f"{where}: sha256 must be 64 hexadecimal digits, git: and 40, or 'lock'.")
        rows.append(download)
    return rows


def download(row: Download, folder: Path, lock: Path) -> dict[str, int]:
    """Have the row's file in ``folder``, whole and checked, and unpacked beside it where it is an archive.

    A file that is there already is checked and kept, nothing is fetched then. A broken fetch leaves
    ``<file>.part`` and the next one goes on from there; a part that is not what it should be is deleted, and neither
    named ``<file>`` nor recorded in ``lock``. Gives the bytes fetched and kept, and the members unpacked.
    """
    target = folder / row.file
    counts = {"bytes kept": 0, "bytes fetched": 0, "members unpacked": 0}
    kept = target.is_file()
    path = target if kept else target.with_name(target.name + ".part")
    try:
        if kept:
            counts["bytes kept"] = target.stat().st_size
        else:
            counts["bytes fetched"] = _fetch(row, path)
        digest = _check(row, path, target, lock)
        if row.unpack:
            counts["members unpacked"] = unpack(path, folder, row.unpack, row.members.split(), row.declared())
        if row.sha256 == LOCK or row.sha256.lower().startswith(GIT):
            record(lock, row.url, digest)
    except Refused as refused:
        if not kept:
            path.unlink(missing_ok=True)
        fresh = "its part was deleted; try again, or see whether a new version is out"
        again = "delete it to fetch it again" if kept else fresh
        raise InputError(f"{refused}: {refused.advice or again}.") from None
    if not kept:
        path.replace(target)
    return counts


def _fetch(row: Download, part: Path) -> int:
    """Append what is missing of the row's file to ``part``; the number of bytes that came."""
    target = part.with_suffix("")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        have = _size(part)
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with requests.get(row.url, headers=headers, stream=True, timeout=_timeout()) as answer:
            if answer.status_code == 416 and have:  # nothing is missing, or the part is too long
                return 0
            if answer.status_code not in (200, 206):
                raise _status(row, target, answer)
            return _receive(row, part, answer, have if answer.status_code == 206 and _starts_at(answer, have) else 0)
    except requests.TooManyRedirects:
        why = "leads from one address to the next without end"
        raise InputError(f"{row.url} {why}: correct its URL, or {by_hand(row.url, target)}.") from None
    except (requests.RequestException, HTTPError, UnicodeError) as error:
        raise InputError(
            f"{row.url} could not be fetched ({type(error).__name__}): check the network and run again (it "
            f"goes on from byte {_size(part):,}), or put the file at {target} by hand."
        ) from None
    except OSError as error:
        why = f"could not be written ({error.strerror or error}): see what is in the way, and run again"
        raise disk_full(error, part) or InputError(f"{part} {why}.") from None


def _receive(row: Download, part: Path, answer: requests.Response, have: int) -> int:
    """Write what an answer sends behind the first ``have`` bytes of ``part``; the number of bytes."""
    target, fetched, size = part.with_suffix(""), 0, _length(row, part.with_suffix(""), answer)
    _limit(row, have + (size or 0))
    check_room(part.parent, size or 0, f"what is missing of {target}")
    blocks = _blocks(answer, row, have, size)
    first = next(blocks, b"")
    if have == 0 and is_page(first):  # before what is there of the file is given up
        raise InputError(f"{row.url} answered with {PAGE} instead of a file: {by_hand(row.url, target)}.")
    with part.open("ab" if have else "wb") as out:
        for block in chain([first], blocks):
            _limit(row, have + fetched + len(block), size and have + size)
            out.write(block)
            fetched += len(block)
    if size is not None and fetched < size:
        raise requests.ConnectionError("the connection was closed early")
    return fetched


def _size(part: Path) -> int:
    """The bytes that are there of a file."""
    return part.stat().st_size if part.is_file() else 0


def _timeout() -> float:
    given = os.environ.get("COMPVQA_TIMEOUT", TIMEOUT)
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 1e6:
        raise InputError(f"COMPVQA_TIMEOUT is {given!r} in the environment: give seconds, as 60.")
    return seconds


def _status(row: Download, target: Path, answer: requests.Response) -> InputError:
    """What to do about an answer that is an error."""
    if answer.status_code in (401, 403):
        advice = f"it may ask for a login: {by_hand(row.url, target)}"
    elif answer.status_code == 429 or answer.status_code >= 500:
        advice = f"try again later, or put the file at {target} by hand"
    else:
        advice = f"correct its URL, or put the file at {target} by hand"
    return InputError(f"{row.url} answered {answer.status_code} {(answer.reason or '')[:60]}: {advice}.")


def _starts_at(answer: requests.Response, have: int) -> bool:
    if answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        return True
    raise requests.ConnectionError("the server sent another range than asked for")


def _length(row: Download, target: Path, answer: requests.Response) -> int | None:
    """The bytes that are to come, where the server says so."""
    text = answer.headers.get("Content-Length")
    if text is not None and not re.fullmatch(r"[0-9]{1,18}", text):
        advice = f"try again later, or put the file at {target} by hand"
        raise InputError(f"{row.url} answered with the malformed Content-Length {text[:40]!r}: {advice}.")
    return None if text is None else int(text)


def _limit(row: Download, size: int, said: int | None = None) -> None:
    """Raise :class:`Refused` if there are more bytes than the row, or else the server, says."""
    most = row.most() or said
    if most is not None and size > most:
        known = "its bytes" if row.bytes else f"{FAR} times its about_mb" if row.about_mb else "its Content-Length"
        raise Refused(f"{row.url} sends {size:,} bytes or more, beyond the {most:,.0f} of {known}")


def _blocks(answer: requests.Response, row: Download, have: int, size: int | None) -> Iterator[bytes]:
    total = -(-size // FETCH) if size else None
    what = f"fetch {row.file}" + (f" from byte {have:,}" if have else "")
    return track(answer.iter_content(FETCH), what, total=total, unit="block")


def _check(row: Download, path: Path, target: Path, lock: Path) -> str:
    """The sha256 of what is in ``path`` for ``target``; :class:`Refused` if it is not what the row or the lock says."""
    size = path.stat().st_size
    if row.bytes and size != int(row.bytes):
        raise Refused(f"{path} has {size:,} bytes, not the {int(row.bytes):,} of {row.url}")
    check_kind(path, target, row.url, archive=bool(row.unpack))
    return check(path, row.sha256, read_lock(lock).get(row.url), row.url)
