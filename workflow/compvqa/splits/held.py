"""What a split holds out, as predicates of questions, and what its table tells of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa

from compvqa import tables
from compvqa.errors import InputError
from compvqa.programs.properties import Predicate, Question
from compvqa.scenes.pairs import Pair

_TOLD = pa.schema([(name, pa.string()) for name in ("split", "variant", "part", "without")])
DRAWN = "held out: "  # begins the counts of a split that tell what was drawn for it
HELD = "held"  # in a split's metadata: what it tells of a pair that it holds out, as JSON


class Describing(Question, Protocol):
    """A question of a language that knows descriptions."""

    @property
    def scene_ids(self) -> Collection[str]: ...

    def descriptions(self) -> set[frozenset[str]]:
        """The words that the program says of one object, for each that it describes."""


@dataclass(frozen=True)
class HeldOut:
    """Whether a question asks for what is held out; and of a pair of values also whether it shows it (parts without it
    take no such question either), and whether it is asked alike, but for another pair of the same kinds."""

    asked: Predicate
    shown: Predicate | None = None
    alike: Predicate | None = None
    pair: Pair | None = None

    def flags(self, question: Question) -> tuple[bool, bool, bool]:
        """Whether a question asks for it; whether it does or shows it; and whether it asks alike for other."""
        asked = self.asked(question)
        near = asked or (self.shown is not None and self.shown(question))
        return asked, near, self.alike is not None and self.alike(question)

    def in_part(self, question: Question, having: bool) -> bool:
        """Whether a question has it, as it counts for a part that is to have it, or not to."""
        asked, near, _ = self.flags(question)
        return asked if having else near


@dataclass(frozen=True)
class HeldPair:
    """What a split's table tells of the pair that it holds out: the kinds of its values, its diversity and what one
    value tells of the other in train (:class:`compvqa.scenes.values.Seen`), the variant whose runs are kept from it,
    and the parts with the pair, each with a part that is like it but for the pair."""

    split: str
    pair: Pair
    kinds: tuple[str, str]
    diversity: int
    bits: float
    variant: str
    gaps: tuple[tuple[str, str], ...]

    def metadata(self) -> dict[str, str]:
        """For the metadata of the split's table."""
        return {HELD: json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)}


def held_in(split: Path) -> dict[str, str]:
    """Of the metadata of a split's table what it tells of the pair that it holds out, if it does."""
    return {key: value for key, value in tables.metadata(split).items() if key == HELD}


def held_pair(split: Path) -> HeldPair | None:
    """The pair that a split's table, or that of a published part of it, tells of; None where it holds out no pair."""
    told = held_in(split).get(HELD)
    if told is None:
        return None
    found: dict[str, Any] = json.loads(told)
    lists = {key: tuple(found[key]) for key in ("pair", "kinds")} | {"gaps": tuple(map(tuple, found["gaps"]))}
    return HeldPair(**found | lists)


def tell_held(db: duckdb.DuckDBPyConnection, splits: Iterable[Path]) -> None:
    """Make the table ``held`` in ``db``: split, variant, part, without (the part that it is compared with), for each
    gap that the splits' tables tell of."""
    rows = [
        {"split": told.split, "variant": told.variant, "part": part, "without": without}
        for told in filter(None, map(held_pair, splits))
        for part, without in told.gaps
    ]
    db.register("held", pa.Table.from_pylist(rows, _TOLD))


def describing(question: Question) -> Describing:
    """The question, of whose objects its language knows what is said; :class:`InputError` where it does not."""
    if not hasattr(question, "descriptions"):
        raise InputError("the language of the questions does not tell what describes one object: draw no pair.")
    found: Any = question
    return found  # type: ignore[no-any-return]
