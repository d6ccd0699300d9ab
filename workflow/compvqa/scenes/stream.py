"""Large JSON files, one record at a time.

The standard library's decoder (C) is run on a window of the file that slides from record to record, so that
a file of any size needs the memory of its largest record. On scene graphs this took two thirds of the time of
ijson's C backend, and unlike it tells repeated keys inside a record.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path

from compvqa.errors import InputError

CHUNK = 1 << 20  # bytes
LARGEST = 1 << 28  # characters; a record that is still not closed by then is a broken file
_SPACE = " \t\r\n"


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


def members(path: Path | str) -> Iterator[tuple[str, object]]:
    """The (key, value) pairs of the JSON object in the file, repeated keys included, in their order.

    Raises :class:`InputError` where the file is missing, truncated, not UTF-8, not JSON, or no object.
    """
    window = _Window(Path(path))
    if window.next_character() != "{":
        raise window.error("holds no JSON object at the top")
    window.skip(1)
    if window.next_character() == "}":
        window.skip(1)
    else:
        closing = ","
        while closing == ",":
            key = window.value()
            if not isinstance(key, str) or window.next_character() != ":":
                raise window.error("is not valid JSON: a key and a colon were expected")
            window.last = key
            window.skip(1)
            yield key, window.value()
            closing = window.separator("}")
    window.expect_end()


def elements(path: Path | str) -> Iterator[object]:
    """The elements of the JSON array in the file; errors as for :func:`members`."""
    window = _Window(Path(path))
    if window.next_character() != "[":
        raise window.error("holds no JSON array at the top")
    window.skip(1)
    if window.next_character() == "]":
        window.skip(1)
    else:
        closing, number = ",", 0
        while closing == ",":
            window.last = str(number)
            yield window.value()
            closing = window.separator("]")
            number += 1
    window.expect_end()


class _Window:
    """A window of decoded text on a file, refilled as values are taken from it."""

    def __init__(self, path: Path):
        self.path = path
        self.text, self.at, self.passed = "", 0, 0
        self.bytes_read, self.ended, self.last = 0, False, ""
        self.decode = json.JSONDecoder(object_pairs_hook=_pairs).raw_decode
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        try:
            self.file = path.open("rb")
        except OSError as error:
            raise InputError(f"{path} cannot be opened ({error.strerror}): give the path of a readable file.") from None

    def error(self, what: str) -> InputError:
        where = f", record {self.last[:60]!r}" if self.last else ""
        return InputError(
            f"{self.path} {what} (at character {self.passed + self.at:,}{where}): download or write it again."
        )

    def fill(self) -> bool:
        """Read on, at least doubling what is left in the window; False at the end of the file."""
        if self.ended:
            return False
        self.passed += self.at
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
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self.text) - 16
                if not cut:
                    self.at = error.pos
                    raise self.error(f"is not valid JSON: {error.msg}") from None
                if self.ended:
                    raise self.error("ends too early") from None
            except RecursionError:
                raise self.error("is nested too deeply") from None
            self.fill()

    def separator(self, closing: str) -> str:
        """Take the comma or closing bracket after a value."""
        found = self.next_character()
        if not found:
            raise self.error("ends too early")
        if found not in (",", closing):
            raise self.error(f"is not valid JSON: ',' or '{closing}' was expected")
        self.skip(1)
        return found

    def expect_end(self) -> None:
        if self.next_character():
            raise self.error("goes on after the end of its JSON value")
        self.file.close()
