"""Large JSON files, one record at a time.

The standard library's decoder (C) is run on a window of the file that slides from record to record, so that
a file of any size needs the memory of its largest record. On scene graphs this took two thirds of the time of
ijson's C backend, and unlike it tells repeated keys inside a record.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from compvqa.errors import InputError
from compvqa.files import TOO_LONG

CHUNK = 1 << 20  # bytes
LARGEST = 1 << 28  # characters; a record that is still not closed by then is a broken file
_SPACE = " \t\r\n"
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_CUT = re.compile(r",|\.|\.?\d*[eE][+-]?|u[0-9a-fA-F]{0,4}")  # what a file can end in: a comma, a number, an escape


class Repeated(dict):
    """A JSON object in which keys are repeated: each has its first value, ``keys_repeated`` names them."""

    keys_repeated: tuple[str, ...] = ()


def _pairs(pairs: list[tuple[str, object]]) -> dict:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    first = Repeated()
    repeated: dict[str, None] = {}
    for key, value in pairs:
        if key in first:
            repeated[key] = None
        else:
            first[key] = value
    first.keys_repeated = tuple(repeated)
    return first


def members(path: Path | str) -> Generator[tuple[str, Any], None, None]:
    """The (key, value) pairs of the JSON object in the file, repeated keys included, in their order.

    Raises :class:`InputError` where the file is missing, truncated, not UTF-8, not JSON, or no object.
    """
    with closing(_Window(Path(path))) as window:
        yield from _members(window)


def elements(path: Path | str) -> Generator[Any, None, None]:
    """The elements of the JSON array in the file; errors as for :func:`members`."""
    with closing(_Window(Path(path))) as window:
        yield from _elements(window)


def elements_of(path: Path | str, name: str) -> Iterator[Any]:
    """The elements of the array under the key ``name`` of the JSON object in the file, one at a time.

    What other keys hold is passed over (:func:`entries_of` gives it). Errors as for :func:`members`, and where no key
    has that name.
    """
    yield from (value for key, value in entries_of(path, name) if key == name)


def entries_of(path: Path | str, name: str) -> Iterator[tuple[str, object]]:
    """As :func:`elements_of`, each as a pair with ``name``; among them what the other keys hold, with their keys."""
    with closing(_Window(Path(path))) as window:
        found = False
        for key in _keys(window):
            if key == name:
                found = True
                yield from ((name, value) for value in _array(window))
            else:
                yield key, window.value()
        if not found:
            raise InputError(f"{path} has no key {name!r}: give a file that has it, or correct the path.")


def _members(window: _Window) -> Iterator[tuple[str, object]]:
    for key in _keys(window):
        yield key, window.value()


def _keys(window: _Window) -> Iterator[str]:
    """The keys of the object at the top; who asks takes each one's value before the next."""
    window.open("{", "object")
    closing_found = window.closed_at_once("}")
    while not closing_found:
        key = window.value()
        colon = window.next_character()
        if not colon:
            raise window.error("ends too early")
        if not isinstance(key, str) or colon != ":":
            raise window.syntax_error("a key and a colon were expected")
        window.last = key
        window.skip(1)
        yield key
        closing_found = window.separator("}")
    window.expect_end()


def _elements(window: _Window) -> Iterator[object]:
    yield from _array(window)
    window.expect_end()


def _array(window: _Window) -> Iterator[object]:
    window.open("[", "array")
    closing_found, number = window.closed_at_once("]"), 0
    while not closing_found:
        window.last = str(number)
        yield window.value()
        closing_found = window.separator("]")
        number += 1


class _Window:
    """A window of decoded text on a file, refilled as values are taken from it."""

    def __init__(self, path: Path):
        self.path = path
        self.text, self.at, self.lines = "", 0, 1
        self.bytes_read, self.ended, self.last = 0, False, ""
        self.decode = json.JSONDecoder(object_pairs_hook=_pairs).raw_decode
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        try:
            self.file = path.open("rb")
        except OSError as error:
            raise InputError(f"{path} cannot be opened ({error.strerror}): give the path of a readable file.") from None

    def close(self) -> None:
        self.file.close()

    def error(self, what: str, advice: str = "download or write it again") -> InputError:
        """What to raise where the file is wrong at the next character; tells its line and byte, from 1."""
        rest = len(self.text[self.at :].encode()) + len(self.decoder.getstate()[0])
        line = self.lines + self.text.count("\n", 0, self.at)
        where = f", record {self.last[:60]!r}" if self.last else ""
        return InputError(f"{self.path} {what} (line {line:,}, byte {self.bytes_read - rest + 1:,}{where}): {advice}.")

    def syntax_error(self, what: str) -> InputError:
        """What to raise where the next character cannot stand there in JSON; a needless comma is called one."""
        before, after = self.text[: self.at].rstrip(_SPACE), self.text[self.at :].lstrip(_SPACE)
        if after.startswith(",") and after[1:].lstrip(_SPACE)[:1] in ("}", "]"):
            before, after = f"{before},", after[1:].lstrip(_SPACE)
        if before.endswith(",") and after[:1] in ("}", "]"):
            what = f"there is a comma before the closing '{after[0]}'"
        return self.error(f"is not valid JSON: {what}", "correct it there")

    def open(self, bracket: str, kind: str) -> None:
        """Take the bracket that the file, or the value of the last key, begins with."""
        if self.next_character() != bracket:
            if self.last:
                raise self.error(f"holds no JSON {kind} there", f"write one, which begins with '{bracket}'")
            raise self.error(f"holds no JSON {kind} at the top", f"give a file that begins with '{bracket}'")
        self.skip(1)

    def closed_at_once(self, bracket: str) -> bool:
        """Whether nothing is inside the brackets; then the closing one is taken."""
        empty = self.next_character() == bracket
        self.skip(empty)
        return empty

    def fill(self) -> bool:
        """Read on, at least doubling what is left in the window; False at the end of the file."""
        if self.ended:
            return False
        self.lines += self.text.count("\n", 0, self.at)
        rest, self.at = self.text[self.at :], 0
        if len(rest) > LARGEST:
            raise self.error("has a record that does not end")
        data = self.file.read(max(CHUNK, len(rest)))
        try:
            more = self.decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            place = self.bytes_read + error.start - len(self.decoder.getstate()[0])
            where = f", after record {self.last[:60]!r}" if self.last else ""
            raise InputError(
                f"{self.path} is not UTF-8 text (near byte {max(place, 0):,}{where}): convert it to UTF-8."
            ) from None
        self.bytes_read += len(data)
        self.text = rest + more
        if not data:
            self.ended = True
            self.file.close()
        return True

    def next_character(self) -> str:
        """The next character that is no space, not taken yet; empty at the end of the file."""
        while True:
            text, at = self.text, self.at
            while at < len(text) and text[at] in _SPACE:
                at += 1
            self.at = at
            if at < len(text):
                return text[at]
            if not self.fill():
                return ""

    def skip(self, characters: int) -> None:
        self.at += characters

    def value(self) -> object:
        """Take the next JSON value."""
        if not self.next_character():
            raise self.error("ends too early")
        while True:
            try:
                value, end = self.decode(self.text, self.at)
                if end + 3 <= len(self.text) or self.ended:  # a number cut as in "1e+" could go on
                    self.at = end
                    return value
            except json.JSONDecodeError as error:
                if self.ended and _is_cut(error, self.text):
                    raise self.error("ends too early") from None
                if self.ended or not (error.msg.startswith("Unterminated") or error.pos >= len(self.text) - 16):
                    self.at = error.pos
                    raise self.syntax_error(error.msg) from None
            except ValueError:
                raise self.error(TOO_LONG) from None
            except RecursionError:
                raise self.error("is nested too deeply") from None
            self.fill()

    def separator(self, closing: str) -> bool:
        """Take the comma or closing bracket after a value; whether it was the bracket."""
        found = self.next_character()
        if not found:
            raise self.error("ends too early")
        if found not in (",", closing):
            raise self.syntax_error(f"',' or '{closing}' was expected")
        self.skip(1)
        return found == closing

    def expect_end(self) -> None:
        if self.next_character():
            raise self.error("goes on after the end of its JSON value", "correct it there")


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Whether ``text`` is wrong only in that it ends: in a string, literal or number, or before what must come."""
    rest = text[error.pos :].strip(_SPACE)
    return error.msg.startswith("Unterminated") or bool(_CUT.fullmatch(rest)) or any(w.startswith(rest) for w in _WORDS)
