"""Whether the content of a download is of the kind that its name says: JSON, text, HDF5, weights, and no web page."""

from __future__ import annotations

import codecs
from pathlib import Path

from compvqa.errors import InputError
from compvqa.scenes.stream import elements, members

CHUNK = 1 << 20  # bytes
HEAD = 4096  # bytes; what of a file tells its kind
PAGE = "a web page (a confirmation, a login, an error)"
_PAGE_BEGINNINGS = (b"<!doctype html", b"<html", b"<head", b"<script")
_TEXT = {".csv", ".jsonl", ".tab", ".tsv", ".txt", ".yaml", ".yml"}
_HDF5 = (b"\x89HDF\r\n\x1a\n",)
# What torch.save writes: a zip, before that a pickle
_WEIGHTS = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_BEGINNINGS = {".h5": _HDF5, ".hdf5": _HDF5, ".bin": _WEIGHTS, ".pt": _WEIGHTS, ".pth": _WEIGHTS}
_BEGINNINGS |= {".gz": (b"\x1f\x8b",)}


class Refused(Exception):
    """A download is not what it should be: the message says why, without its full stop; ``advice`` what to do."""

    def __init__(self, why: str, advice: str = ""):
        super().__init__(why)
        self.advice = advice


def is_page(head: bytes) -> bool:
    """Whether bytes begin as a web page (HTML) does: a file host's confirmation, a login, an error."""
    return head.removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(_PAGE_BEGINNINGS)


def by_hand(url: str, target: Path) -> str:
    """What to do where a server has a page for people in the way."""
    return f"open {url} in a browser and put the file at {target}"


def check_kind(path: Path, target: Path, url: str, archive: bool = False) -> None:
    """Raise :class:`Refused` if the content of ``path`` is not what the name of ``target``, its place, says.

    Of an ``archive`` only whether it is a web page or empty: unpacking tells the rest.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise Refused(f"{path} is empty")
    if is_page(head):
        raise Refused(f"{path} is {PAGE} instead of a file", by_hand(url, target))
    kind = "" if archive else target.suffix.lower()
    if kind == ".json":
        _check_json(path, head)
    elif kind in _TEXT:
        _check_text(path)
    elif not head.startswith(_BEGINNINGS.get(kind, b"")):
        raise Refused(f"{path} begins with {head[:8]!r}, as no {kind} file does")


def _check_json(path: Path, head: bytes) -> None:
    first = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if first not in (b"{", b"["):
        raise Refused(f"{path} begins with {head[:8]!r}, as no JSON file of records does")
    try:
        for _ in (members if first == b"{" else elements)(path):
            pass
    except InputError as error:
        raise Refused(str(error).rpartition(": ")[0]) from None  # what to do is another matter here


def _check_text(path: Path) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while block := file.read(CHUNK):
                if b"\0" in block:
                    raise Refused(f"{path} holds binary data instead of text")
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise Refused(f"{path} is not UTF-8 text") from None
