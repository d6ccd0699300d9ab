"""The lines of the released COVR files, checked: JSON Lines, a question each.

``qid``, ``utterance`` (the generated text), ``paraphrased`` or ``rephrase`` (people's text: the one in version 1.0.1,
the other in the authors' code), ``scenes`` (ids of GQA's images, and names of imSitu's without their ending),
``answer``, ``pattern_name`` (the template), ``program``, and ``properties`` (those that the authors' splits hold out).
The answers of ``test.jsonl`` were not released.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compvqa.covr.released.programs import convert, plain_name
from compvqa.errors import InputError
from compvqa.programs.rows import to_json
from compvqa.scenes.raw import printable
from compvqa.scenes.readers.imsitu import image_name

TEMPLATES = {
    "choose_attr": "CHOOSEATTR",
    "choose_object": "CHOOSEOBJECT",
    "choose_rel": "CHOOSEREL",
    "compare_count": "COMPARECOUNT",
    "count_ref": "COUNT",
    "count_ref_group_by": "COUNTGROUPBY",
    "multiple_ref": "VERIFYLOGIC",
    "quantifier": "VERIFYQUANT",
    "quantifier_same_attr": "VERIFYQUANTATTR",
    "query_attr": "QUERYATTR",
    "query_object": "QUERYOBJECT",
    "specific_same_attr": "VERIFYSAMEATTR",
    "verify_attr": "VERIFYATTR",
    "verify_count_ref": "VERIFYCOUNT",
    "verify_count_ref_group_by": "VERIFYCOUNTGROUPBY",
}
UNANSWERED = "without an answer"
LONGEST = 1 << 22  # bytes of a line; a longer one is of another format


@dataclass(frozen=True)
class Line:
    """A question of a file; ``paraphrase`` and ``properties`` are None where the file has none."""

    question_id: str
    text: str
    paraphrase: str | None
    images: tuple[str, ...]
    answer: str
    template: str
    program: str
    properties: tuple[str, ...] | None


class Refused(Exception):
    """A line that is no question: the reason, what is wrong in particular, and its question id if it has one."""

    def __init__(self, reason: str, detail: str = "", question_id: str | None = None):
        super().__init__(reason)
        self.reason, self.detail, self.question_id = reason, printable(detail), question_id


def read_lines(path: Path) -> Iterator[tuple[int, Line | Refused]]:
    """Each line of the file that is not blank, by its number from 1: the question, or why it is none.

    Raises :class:`InputError` where the file cannot be opened, or no line of it is a JSON object.
    """
    objects, number = 0, 0
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}): correct the path.") from None
    with file:
        while data := file.readline(LONGEST + 1):
            number += 1
            if len(data) > LONGEST:
                break
            if data.strip():
                try:
                    record = _record(data)
                    objects += 1
                    yield number, parse(record)
                except Refused as refused:
                    yield number, refused
    wrong = f"has more than {LONGEST:,} bytes in line {number}" if len(data) > LONGEST else "has no JSON object"
    if not objects or len(data) > LONGEST:
        raise InputError(f"{path} {wrong}: give a file of COVR's questions, one object a line.")


def _record(data: bytes) -> dict:
    try:
        record = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Refused("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise Refused("not valid JSON", f"{error.msg} at character {error.pos + 1}") from None
    except (RecursionError, ValueError):
        raise Refused("not valid JSON", "it is nested too deeply, or has a number of too many digits") from None
    if not isinstance(record, dict):
        raise Refused("no JSON object")
    return record


def parse(record: dict) -> Line:
    """The question in one line's ``record``; raises :class:`Refused`."""
    question_id = _id(record.get("qid"))
    if question_id is None:
        raise Refused("without a qid")
    try:
        return Line(
            question_id,
            _text(record.get("utterance"), "utterance"),
            _paraphrase(record),
            _images(record.get("scenes")),
            _answer(record.get("answer")),
            _template(record.get("pattern_name")),
            _program(record.get("program")),
            _properties(record.get("properties")),
        )
    except Refused as refused:
        refused.question_id = question_id
        raise


def _id(value: object) -> str | None:
    """A text or whole number as text; None where it is neither, or empty."""
    if type(value) is int:
        return str(value)
    return _whole(value)


def _whole(value: object) -> str | None:
    """A text without space around it; None where it is no text, empty, or cannot be written as UTF-8."""
    if not isinstance(value, str) or not value.strip() or any("\ud800" <= c <= "\udfff" for c in value):
        return None
    return value.strip()


def _text(value: object, key: str) -> str:
    text = _whole(value)
    if text is None:
        raise Refused(f"{key} is not a text", repr(value))
    return text


def _paraphrase(record: dict) -> str | None:
    key = next((key for key in ("paraphrased", "rephrase") if record.get(key) is not None), None)
    return None if key is None else _text(record[key], key)


def _images(value: object) -> tuple[str, ...]:
    names = [_id(name) for name in value] if isinstance(value, list) else []
    known = [name for name in names if name is not None]
    if not names or len(known) < len(names):
        raise Refused("scenes are not a list of image names", repr(value))
    return tuple(_image(name) for name in known)


def _image(name: str) -> str:
    """A scene's image: GQA's have numbers, imSitu's are called by verb and number."""
    name = image_name(name)
    return f"imsitu:{name}" if "_" in name else f"vg:{name}"


def _answer(value: object) -> str:
    """The answer as our tables have it: ``true``, ``3``, ``red``."""
    if value is None:
        raise Refused(UNANSWERED)
    if isinstance(value, bool) or value in ("True", "False"):
        return str(value).lower()
    answer = _id(value)
    if answer is None:
        raise Refused("answer is no text, number or truth value", repr(value))
    return plain_name(answer)


def _template(value: object) -> str:
    if not isinstance(value, str) or value not in TEMPLATES:
        raise Refused("pattern_name is not known", repr(value))
    return TEMPLATES[value]


def _program(rows: object) -> str:
    try:
        return to_json(convert(rows))
    except ValueError as fault:
        raise Refused("program is not one of our operators", str(fault)) from None
    except RecursionError:
        raise Refused("program is not one of our operators", "it is nested too deeply") from None


def _properties(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = [_whole(name) for name in value] if isinstance(value, list) else [None]
    known = [name for name in names if name is not None]
    if len(known) < len(names):
        raise Refused("properties are not a list of names", repr(value))
    return tuple(sorted(known))
