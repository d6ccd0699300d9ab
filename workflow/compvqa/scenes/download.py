"""Raw downloads: checked, resumed, unpacked with care, and taken as they are where they lie already.

What can be fetched is listed in ``config/sources.tsv``. Where the publisher gives no sha256 (``lock``), the
first fetch records one in a lock file, and every later one is checked against it.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath, PureWindowsPath

import requests

from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.tables import replacing

LOCK = "lock"  # in place of a sha256: record it on the first fetch
CHUNK = 1 << 20  # bytes
FETCH = 1 << 16  # bytes; what a broken connection loses at most
TIMEOUT = 60  # seconds to connect, and between two bytes, if $COMPVQA_TIMEOUT does not say another number


@dataclass(frozen=True)
class Download:
    """A row of ``sources.tsv``: ``bytes`` and ``sha256`` may be unknown; ``unpack`` is "", "zip" or "tar".

    ``members`` names the files of the archive that the workflow reads, with spaces between. ``about_mb`` is about how
    much these take, for plans of a run that has not fetched them; nothing is checked by it.
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
        """The files that it gives: the members that the workflow reads, or itself."""
        return self.members.split() or [self.file]


def read_sources(path: Path) -> list[Download]:
    """The rows of a ``sources.tsv``; :class:`InputError` names a line that is wrong."""
    wanted = [field.name for field in fields(Download)]
    rows = []
    for number, row in enumerate(_read_tsv(path, wanted), start=2):
        download = Download(**row)
        where = f"{path}, line {number}"
        if _leaves(download.file) or not download.url.startswith(("https://", "http://")):
            raise InputError(f"{where}: the file {download.file!r} or its URL {download.url!r} is not usable.")
        if download.bytes and not download.bytes.isdigit():
            raise InputError(f"{where}: bytes must be a whole number or empty, not {download.bytes!r}.")
        if download.about_mb and not re.fullmatch(r"\d+(\.\d+)?", download.about_mb):
            raise InputError(f"{where}: about_mb must be a number or empty, not {download.about_mb!r}.")
        if download.unpack not in ("", "zip", "tar"):
            raise InputError(f"{where}: unpack must be zip, tar or empty, not {download.unpack!r}.")
        if download.sha256 != LOCK and not _is_sha256(download.sha256):
            raise InputError(f"{where}: sha256 must be 64 hexadecimal digits or 'lock'.")
        rows.append(download)
    return rows


def download(row: Download, folder: Path, lock: Path) -> dict[str, int]:
    """Have the row's file in ``folder``, whole and checked, and unpacked beside it where it is an archive.

    A file that is there already is checked and kept, nothing is fetched then. A broken fetch leaves
    ``<file>.part`` and the next one goes on from there. Gives the bytes fetched and kept, and the members
    unpacked.
    """
    target = folder / row.file
    counts = {"bytes kept": 0, "bytes fetched": 0, "members unpacked": 0}
    locked = read_lock(lock)
    if target.is_file():
        counts["bytes kept"] = target.stat().st_size
        digest = _check(row, target, locked, "delete it to fetch it again")
    else:
        part = target.with_name(target.name + ".part")
        counts["bytes fetched"] = _fetch(row, part)
        try:
            digest = _check(row, part, locked, "its part was deleted; try again, or see whether a new version is out")
        except InputError:
            part.unlink()
            raise
        part.replace(target)
    if row.sha256 == LOCK and row.url not in locked:
        write_lock(lock, locked | {row.url: digest})
    if row.unpack:
        counts["members unpacked"] = unpack(target, folder, row.unpack)
    return counts


def _fetch(row: Download, part: Path) -> int:
    """Append what is missing of the row's file to ``part``; the number of bytes that came."""
    part.parent.mkdir(parents=True, exist_ok=True)
    have = part.stat().st_size if part.is_file() else 0
    fetched = 0
    try:
        headers = {"Range": f"bytes={have}-"} if have else {}
        headers["Accept-Encoding"] = "identity"
        with requests.get(row.url, headers=headers, stream=True, timeout=_timeout()) as answer:
            if answer.status_code == 416 and have:  # nothing is missing, or the part is too long
                return 0
            if answer.status_code not in (200, 206):
                raise InputError(f"{row.url} answered {answer.status_code} {answer.reason}: correct its URL.")
            resumed = answer.status_code == 206 and _starts_at(answer, have)
            expected = answer.headers.get("Content-Length")
            with part.open("ab" if resumed else "wb") as out:
                for chunk in _chunks(answer, row, have if resumed else 0):
                    out.write(chunk)
                    fetched += len(chunk)
            if expected is not None and fetched < int(expected):
                raise requests.ConnectionError("the connection was closed early")
    except requests.RequestException as error:
        raise InputError(
            f"{row.url} could not be fetched ({type(error).__name__}): check the network and run again (it "
            f"goes on from byte {have + fetched:,}), or put the file at {part.with_suffix('')} by hand."
        ) from None
    return fetched


def _timeout() -> float:
    given = os.environ.get("COMPVQA_TIMEOUT", TIMEOUT)
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 1e6:
        raise InputError(f"COMPVQA_TIMEOUT is {given!r} in the environment: give seconds, as 60.")
    return seconds


def _starts_at(answer: requests.Response, have: int) -> bool:
    if answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        return True
    raise requests.ConnectionError("the server sent another range than asked for")


def _chunks(answer: requests.Response, row: Download, have: int) -> Iterator[bytes]:
    size = answer.headers.get("Content-Length")
    total = -(-int(size) // FETCH) if size else None
    what = f"fetch {row.file}" + (f" from byte {have:,}" if have else "")
    return track(answer.iter_content(FETCH), what, total=total, unit="block")


def _check(row: Download, path: Path, locked: dict[str, str], advice: str) -> str:
    """The sha256 of the file; raises if it, or the size, is not the row's or the lock's."""
    size = path.stat().st_size
    if row.bytes and size != int(row.bytes):
        raise InputError(f"{path} has {size:,} bytes, not the {int(row.bytes):,} of {row.url}: {advice}.")
    if row.unpack and not (zipfile.is_zipfile if row.unpack == "zip" else tarfile.is_tarfile)(path):
        raise InputError(f"{path} is no {row.unpack} archive as {row.url} should be: {advice}.")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    expected = locked.get(row.url) if row.sha256 == LOCK else row.sha256.lower()
    if expected is not None and digest != expected:
        raise InputError(f"{path} has the sha256 {digest}, not {expected} of {row.url}: {advice}.")
    return digest


def read_lock(path: Path) -> dict[str, str]:
    """URL → sha256 as recorded on the first fetch; empty where there is no lock file yet."""
    if not path.is_file():
        return {}
    locked = {row["url"]: row["sha256"] for row in _read_tsv(path, ["url", "sha256"])}
    for url, digest in locked.items():
        if not _is_sha256(digest):
            raise InputError(f"{path}: the sha256 of {url} is not 64 hexadecimal digits: correct or delete that line.")
    return locked


def write_lock(path: Path, locked: dict[str, str]) -> None:
    """Write the lock file, sorted by URL."""
    with replacing(path) as temporary:
        lines = ["url\tsha256", *(f"{url}\t{locked[url]}" for url in sorted(locked))]
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def unpack(archive: Path, folder: Path, kind: str) -> int:
    """Unpack a zip or tar file into ``folder``; the number of files.

    The archive is refused as a whole, before anything is written, if a member's path is absolute, goes up
    ("..") or is a link or a device.
    """
    try:
        if kind == "zip":
            with zipfile.ZipFile(archive) as opened:
                return _unpack_zip(opened, archive, folder)
        with tarfile.open(archive) as opened:
            return _unpack_tar(opened, archive, folder)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise InputError(f"{archive} is no whole {kind} archive ({error}): delete it to fetch it again.") from None


def _unpack_zip(opened: zipfile.ZipFile, archive: Path, folder: Path) -> int:
    members = opened.infolist()
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if _leaves(member.filename) or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _refused(archive, member.filename)
    kept = [member for member in members if not member.is_dir()]
    for member in track(kept, f"unpack {archive.name}", unit="file"):
        with opened.open(member) as source:
            _place(source, folder, member.filename)
    return len(kept)


def _unpack_tar(opened: tarfile.TarFile, archive: Path, folder: Path) -> int:
    members = opened.getmembers()
    for member in members:
        if _leaves(member.name) or not (member.isfile() or member.isdir()):
            raise _refused(archive, member.name)
    kept = [member for member in members if member.isfile()]
    for member in track(kept, f"unpack {archive.name}", unit="file"):
        with opened.extractfile(member) as source:
            _place(source, folder, member.name)
    return len(kept)


def _place(source, folder: Path, name: str) -> None:
    """Copy a member to its place; a link already on the way there must not lead out of the folder."""
    target = folder / name
    if not target.parent.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{target.parent} leads out of {folder}: remove the link that is in the way.")
    with replacing(target) as temporary, temporary.open("wb") as out:
        shutil.copyfileobj(source, out, CHUNK)


def _leaves(name: str) -> bool:
    """Whether a path is empty, absolute (on any system) or goes up."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    rooted = posix.is_absolute() or windows.is_absolute() or windows.drive or windows.root
    return not name or bool(rooted) or ".." in posix.parts or ".." in windows.parts or "\0" in name


def _refused(archive: Path, member: str) -> InputError:
    return InputError(f"{archive} holds {member!r}, which is a link or leaves the folder: nothing was unpacked.")


def _is_sha256(text: str) -> bool:
    return len(text) == 64 and all(letter in "0123456789abcdef" for letter in text.lower())


def _read_tsv(path: Path, wanted: list[str]) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            missing = [name for name in wanted if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(f"{path} lacks the column {missing[0]!r}.")
            for row in reader:
                if None in row or None in row.values():
                    columns = f"expected {len(reader.fieldnames)} columns, tabs between them, also where one is empty"
                    raise InputError(f"{path}, line {reader.line_num}: {columns}.")
                yield {name: row[name].strip() for name in wanted}
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}): give the list of downloads.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text: convert it to UTF-8.") from None
