"""What every reader gives: plain scene records, and a report of all that it left out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from compvqa.scenes.graph import Box

SplitOf = Callable[[str], str]  # raw scene id -> "train" or "val", for a file that holds both
MAX_NAME = 60  # characters
_STRANGE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff()\[\]{}<>|\"\\;?*=~^`]")
_WORD = re.compile(r"\w")
_SENTENCE = re.compile(r".* [^ .]+[.!]")  # its last word has no other dot, as "t.v." has; a "?" is strange anyway
KINDS = ("scene", "object", "frame", "attribute", "relation", "modifier")  # of records; causes before what they cause


@dataclass(slots=True)
class RawObject:
    """An object as annotated; its box is (x, y, w, h) in pixels, None where the source has none.

    ``groups`` has the groups of its attributes where the source tells them, by the attribute (of others the lexicon
    does); ``position`` is a row of the table of positions (x, y, z, rotation, pixel x and y, depth).
    """

    object_id: str
    name: str
    attributes: list[str] = field(default_factory=list)
    box: Box | None = None
    groups: dict[str, str] = field(default_factory=dict)
    position: tuple[float, ...] | None = None


@dataclass(slots=True)
class RawRelation:
    """A relation as annotated, with its modifiers ((name, object id), …)."""

    name: str
    subject_id: str
    object_id: str
    modifiers: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class RawScene:
    """A scene as read: id in the raw file, split (train or val), image id, size in pixels, and its graph.

    ``directions`` are the axes that relations between positions follow from, by the relation's name.
    """

    raw_id: str
    split: str
    image_id: str
    width: int | None
    height: int | None
    objects: list[RawObject]
    relations: list[RawRelation]
    directions: dict[str, tuple[float, float, float]] = field(default_factory=dict)


class Report:
    """What a reader refuses (with file, scene, record and reason) and what it drops by rule (counted).

    ``reject`` is for records that are malformed; ``count`` for what the rules of the source leave out. A run stops
    where too large a share of a kind of records was rejected, never because of what was dropped.
    """

    def __init__(self) -> None:
        self.file = ""
        self.counts: Counter[str] = Counter()
        self.rejects: list[dict[str, str]] = []
        self.reasons: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        self.examples: dict[tuple[str, str], str] = {}

    def reject(self, scene_id: object, record: str, reason: str) -> None:
        """Note that ``record`` of the scene in the current file is refused.

        Its first word is its kind, one of :data:`KINDS` or the plural of one: "object 12", "attributes of object 12".
        """
        kind = record.partition(" ")[0].removesuffix("s")
        if kind not in self.reasons:
            raise ValueError(f"the record {record!r} begins with none of {', '.join(KINDS)}")
        row = {"file": self.file, "scene_id": str(scene_id), "record": record, "reason": reason}
        row = {key: printable(value) for key, value in row.items()}
        self.rejects.append(row)
        self.counts[f"rejected: {reason}"] += 1
        self.reasons[kind][row["reason"]] += 1
        example = f"{' '.join(row['record'].split())} of scene {row['scene_id']!r}"  # in one line
        self.examples.setdefault((kind, row["reason"]), example)

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    def take_rejects(self) -> list[dict[str, str]]:
        """The rejects since the last call."""
        rejects, self.rejects = self.rejects, []
        return rejects


def printable(text: str, limit: int = 120) -> str:
    """``text`` fit for a table and a terminal: at most ``limit`` characters, without lone surrogates."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_name(text: str) -> str:
    """A name as it is written everywhere, so that "Mug" and " mug" are one: in lower case, with single spaces."""
    return " ".join(text.lower().split())


def clean_name(value: object, lower: bool = True) -> tuple[str | None, str]:
    """The name as :func:`one_name` has it, or (None, what is wrong with it).

    Not ``lower``: only its spaces are made one, for names that other files of a source tell in a case of their own.
    Refused are names that no question could print: empty, longer than 60 characters, without a letter or digit, or with
    brackets, quotes or control characters; and sentences, as Visual Genome has some ("papers are here."): two words or
    more with a full stop or an exclamation mark at the end.
    """
    if value.__class__ is str:
        return _cleaned(value, lower)
    return None, "without a name" if value is None else "name is not a text"


@lru_cache(maxsize=1 << 17)
def _cleaned(value: str, lower: bool) -> tuple[str | None, str]:
    name = one_name(value) if lower else " ".join(value.split())
    if not name:
        return None, "without a name"
    if len(name) > MAX_NAME or _STRANGE.search(name) or not _WORD.search(name):
        return None, "strange name"
    if _SENTENCE.fullmatch(name):
        return None, "name is a sentence"
    return name, ""


def clean_box(
    record: dict, width: int | None = None, height: int | None = None, report: Report | None = None
) -> tuple[Box | None, str]:
    """The box of a record with x, y, w, h in pixels, or (None, what is wrong with it).

    Its corner must not be negative and must lie in the picture of ``width`` x ``height``, if these are known; its size
    must be positive. One that leaves the picture by more than a pixel is kept as it is, and counted in ``report``.
    """
    box: Any = record.get("x"), record.get("y"), record.get("w"), record.get("h")
    x, y, w, h = box
    whole = x.__class__ is int and y.__class__ is int and w.__class__ is int and h.__class__ is int
    for value in () if whole else box:
        if value.__class__ is not int and (value.__class__ is not float or not math.isfinite(value)):
            return None, "box is not four numbers"
    if w <= 0 or h <= 0:
        return None, "box without a positive size"
    if x < 0 or y < 0:
        return None, "box with a negative corner"
    if x + w <= 1 and y + h <= 1:
        return None, "box in shares of the picture (0 to 1) where pixels are wanted"
    if max(box) > 1e6:
        return None, "box is far too large"
    if (width and x + w > width + 1) or (height and y + h > height + 1):
        if (width and x > width) or (height and y > height):
            return None, "box outside the picture"
        if report is not None:
            report.count("boxes partly outside the picture")
    return box, ""


def clean_size(record: dict, key: str) -> int | None:
    """A picture's width or height in pixels; None where it is missing or makes no sense."""
    value = record.get(key)
    return value if value.__class__ is int and 0 < value < 1_000_000 else None


def unique_names(values: object, report: Report, scene_id: str, record: str) -> list[str]:
    """The attributes of a record, cleaned and without repeats, in their given order."""
    if not isinstance(values, list):
        if values is not None:
            report.reject(scene_id, f"attributes of {record}", "attributes are not a list")
        return []
    names: dict[str, None] = {}
    for value in values:
        name, wrong = clean_name(value)
        if name is None:
            report.reject(scene_id, f"attribute {value!r} of {record}", f"attribute: {wrong}")
            continue
        if name in names:
            report.count("attributes dropped: repeated")
        else:
            names[name] = None
    return list(names)


def link(
    relations: Iterable[RawRelation], objects: list[RawObject], report: Report, scene_id: str
) -> list[RawRelation]:
    """The relations whose two objects are there, without repeats; the rest rejected or counted."""
    known = {item.object_id for item in objects}
    seen: set[tuple] = set()
    kept = []
    for relation in relations:
        triple = (relation.subject_id, relation.name, relation.object_id)
        if relation.object_id not in known or relation.subject_id not in known:
            record = f"relation {relation.subject_id} -> {relation.object_id}"
            report.reject(scene_id, record, "relation to a missing object")
        elif triple in seen:
            report.count("relations dropped: repeated")
        else:
            seen.add(triple)
            kept.append(relation)
    return kept
