"""Archives of strangers, unpacked with care: no path leads out, no bomb fills the disk, only wanted files written."""

from __future__ import annotations

import lzma
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Self

from compvqa.errors import InputError, disk_full
from compvqa.progress import track
from compvqa.scenes.contents import CHUNK, Refused
from compvqa.tables import replacing

FAR = 4  # times what is declared, which is a round figure, is far beyond it
FACTOR = 100  # times its own size an archive may unpack to, where nothing is declared; scene graphs do to 20 times
SMALL = 1 << 20  # bytes, which no archive is too small for
BLOCK = 4096  # bytes; what a disk takes for the smallest file
HEADER = 1 << 20  # bytes; more than what a tar tells of a file, which tarfile reads into memory
NAME, PATH = 230, 1000  # bytes of a file's name, which must leave room for temporary names, and of its path
# What the libraries raise of broken, encrypted and unknown archives; OSError besides
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    IndexError,
    NotImplementedError,
    RuntimeError,
)
_LONG = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)


class _Info(tarfile.TarInfo):
    """A header in a tar; a bomb among what headers tell of long names is refused before it is read into memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        info = super().frombuf(buf, encoding, errors)
        if info.type in _LONG and info.size > HEADER:
            raise tarfile.ReadError(f"a header of {info.size:,} bytes")
        return info


@dataclass(frozen=True)
class _Member:
    """A file in an archive: its path there, its size in bytes, whether it needs a password, and how to read it."""

    name: str
    size: int
    encrypted: bool
    open: Callable[[], IO[bytes]]


def unpack(
    archive: Path,
    folder: Path,
    kind: str,
    wanted: Sequence[str] = (),
    declared: float | None = None,
    times: int = FACTOR,
) -> int:
    """Unpack the ``wanted`` files of a zip or tar archive into ``folder``, or all files; the number of files. A name
    that ends in "/" wants all files in that folder.

    Raises :class:`Refused` before anything is written if any path in the archive is absolute, goes up (".."), is too
    long, or is a link or a device, or if a wanted file needs a password; and where it is broken. Raises
    :class:`InputError` before anything is written if a wanted file is not there; if they take more than four times the
    bytes that are ``declared`` or, where none are, ``times`` the archive's own; and if the disk has no room for them.
    """
    try:
        with zipfile.ZipFile(archive) if kind == "zip" else tarfile.open(archive, tarinfo=_Info) as opened:
            members = _in_zip(opened, archive) if isinstance(opened, zipfile.ZipFile) else _in_tar(opened, archive)
            chosen = _chosen(archive, members, wanted)
            _check_size(archive, chosen, declared, times)
            check_room(folder, sum(member.size for member in chosen), f"what {archive} holds")
            for member in track(chosen, f"unpack {archive.name}", unit="file"):
                with member.open() as source:
                    _place(source, folder, member.name)
            return len(chosen)
    except _BROKEN as error:
        raise Refused(f"{archive} is no whole {kind} archive ({_told(error)})") from None
    except OSError as error:
        if error.errno is None:  # gzip and bz2 say so that their data is broken
            raise Refused(f"{archive} is no whole {kind} archive ({_told(error)})") from None
        path = error.filename or archive
        why = f"{path} could not be written or read ({error.strerror}): see what is in the way, and run again."
        raise disk_full(error, path) or InputError(why) from None


def check_room(folder: Path, size: int, what: str) -> None:
    """Raise :class:`InputError` if the disk of ``folder`` has less than ``size`` bytes left."""
    there = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if size > free:
        raise InputError(
            f"{what} takes {size:,} bytes, and the disk of {folder} has {free:,} left: make room and run again."
        )


def leaves(name: str) -> bool:
    """Whether a path is empty, absolute (on any system) or goes up."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    rooted = posix.is_absolute() or windows.is_absolute() or windows.drive or windows.root
    return not name or bool(rooted) or ".." in posix.parts or ".." in windows.parts or "\0" in name


def too_long(name: str) -> bool:
    """Whether a file system may have no room for a path."""
    sizes = [len(part.encode("utf-8", "surrogateescape")) for part in (name, *PurePosixPath(name).parts)]
    return sizes[0] > PATH or max(sizes[1:], default=0) > NAME


def _in_zip(opened: zipfile.ZipFile, archive: Path) -> Iterator[_Member]:
    for info in opened.infolist():
        plain = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR)
        name = _checked(archive, info.filename, plain, info.is_dir())
        if not info.is_dir():
            yield _Member(name, info.file_size, bool(info.flag_bits & 1), partial(opened.open, info))


def _file_in_tar(opened: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    file = opened.extractfile(info)
    if file is None:
        raise tarfile.ReadError(f"{info.name} is no file")
    return file


def _in_tar(opened: tarfile.TarFile, archive: Path) -> Iterator[_Member]:
    for info in opened:
        name = _checked(archive, info.name, info.isfile() or info.isdir(), info.isdir())
        if info.isfile():
            yield _Member(name, info.size, False, partial(_file_in_tar, opened, info))
    opened.fileobj.seek(opened.offset)
    if any(opened.fileobj.read(tarfile.BLOCKSIZE)):  # to tarfile a broken header is the end
        raise Refused(f"{archive} is no whole tar archive (broken header at byte {opened.offset:,})")


def _checked(archive: Path, name: str, plain: bool, folder: bool) -> str:
    """The name in its shortest form, which only a folder may have none of."""
    short = PurePosixPath(name).as_posix()
    if leaves(name) or not plain or (short == "." and not folder):
        raise Refused(
            f"{archive} holds {name[:100]!r}, which is a link or leaves the folder, so that nothing was unpacked"
        )
    if too_long(name):
        raise Refused(f"{archive} holds {name[:40]!r}…, a name of {len(name)} characters, so that nothing was unpacked")
    return short


def _chosen(archive: Path, found: Iterator[_Member], wanted: Sequence[str]) -> list[_Member]:
    """The wanted members, or all; each name once, as the last of that name replaces those before."""
    members = {member.name: member for member in found}
    named = {name: _within(name, members) for name in wanted}
    missing = [name for name, inside in named.items() if not inside]
    if missing:
        few = ", ".join([*(repr(name[:60]) for name in sorted(members)[:5]), *["…"][: len(members) > 5]]) or "nothing"
        advice = "correct the members in the list of sources, or delete it to fetch it again"
        raise InputError(f"{archive} holds no {missing[0]!r}, but {few}: {advice}.")
    chosen = [members[name] for inside in named.values() for name in inside] if wanted else list(members.values())
    for member in chosen:
        if member.encrypted:
            advice = "ask its publisher for an archive that needs none"
            raise Refused(f"{archive} is encrypted: {member.name!r} needs a password", advice)
        if any(parent.as_posix() in members for parent in PurePosixPath(member.name).parents):
            raise Refused(f"{archive} holds {member.name!r} below a file")
    return chosen


def _within(wanted: str, names: Iterable[str]) -> list[str]:
    """The file of that name, or those in the folder of that name, which ends in "/"."""
    return [name for name in names if name == wanted or (wanted.endswith("/") and name.startswith(wanted))]


def _check_size(archive: Path, chosen: Sequence[_Member], declared: float | None, times: int) -> None:
    takes = sum(max(member.size, BLOCK) for member in chosen)
    if takes > max(FAR * declared if declared else times * archive.stat().st_size, SMALL):
        said = f"{FAR} times the {declared:,.0f} that its about_mb gives" if declared else f"{times} times its own size"
        advice = "if that is right, correct its about_mb in the list of sources; if not, delete it"
        raise InputError(f"{archive} unpacks to {takes:,} bytes, more than {said}: {advice}.")


def _place(source: IO[bytes], folder: Path, name: str) -> None:
    """Copy a member to its place; a link already on the way there must not lead out of the folder."""
    target = folder / name
    if not target.parent.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{target.parent} leads out of {folder}: remove the link that is in the way.")
    with replacing(target) as temporary, temporary.open("wb") as out:
        shutil.copyfileobj(source, out, CHUNK)


def _told(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
