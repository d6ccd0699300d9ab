"""What a question of another generator claims about its images, as programs with the answers that they should have.

A claim is one of these, or a list of them, all of which have to hold. Places of images are counted from 1:

* ``{"subgraph": tree, "in": [1, 3]}``: these images hold it, and no others;
* ``{"subgraph": tree, "count": 2}``: all images together hold so many;
* ``{"subgraph": tree, "only": 2}``: the one image that holds it; ``"but"``: the one that lacks it;
* ``{"subgraph": tree, "most": 2}``: the image that holds most of it; ``"least"``: that holds the fewest;
* ``{"program": rows, "answer": "true"}``: a program's answer; with ``"at": 2``, about this image alone.

A claim may say no more than that nothing else is an answer too: where it fails, the question has several, and is not
wrong. So are those of the other images of ``only`` and ``but``, and a program's with ``"alone": true``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compvqa.covr.questions.references import rows
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.programs.rows import Program, Row, from_json

_WHICH, _RANKS = ("only", "but"), ("most", "least")
_OF_SUBGRAPHS = ("in", "count", *_WHICH, *_RANKS)
_OF_PROGRAMS = {"program", "answer", "at", "alone"}


class NoClaim(ValueError):
    """Why something is no claim."""


@dataclass(frozen=True)
class Asked:
    """A program with the answer that it should have on these scenes, or (``alone``) need not have alone."""

    program: Program
    answer: str
    scene_ids: Sequence[str]
    alone: bool = False


@dataclass(frozen=True)
class Ranked:
    """A program whose number should be the largest, or the smallest, in the scene at ``place`` (from 0)."""

    program: Program
    place: int
    scene_ids: Sequence[str]
    largest: bool

    def first(self, numbers: Sequence[int]) -> bool:
        """Whether the number at the place is beyond all others."""
        return self.shared(numbers) and numbers.count(numbers[self.place]) == 1

    def shared(self, numbers: Sequence[int]) -> bool:
        """Whether no number is beyond the one at the place; most of what is nowhere is in no scene."""
        number = numbers[self.place]
        return number == (max if self.largest else min)(numbers) and (number > 0 or not self.largest)


def claims(claim: object, scene_ids: Sequence[str]) -> list[Asked | Ranked]:
    """What has to hold for a claim, in its order; ValueError (where it can say why, :class:`NoClaim`), TypeError or
    KeyError where it is none."""
    found = [asked for one in (claim if isinstance(claim, list) else [claim]) for asked in _claim(one, scene_ids)]
    if not found:
        raise NoClaim("nothing is claimed")
    return found


def _claim(claim: object, scene_ids: Sequence[str]) -> Iterator[Asked | Ranked]:
    if not isinstance(claim, dict):
        raise NoClaim("a claim is an object")
    if "program" in claim:
        yield _of_program(claim, scene_ids)
        return
    said = claim.keys() & set(_OF_SUBGRAPHS)
    if len(said) != 1 or claim.keys() != {"subgraph", *said}:
        raise NoClaim("a claim about a subgraph says one thing of it")
    (how,) = said
    value, found = claim[how], rows(parse(json.dumps(claim["subgraph"])))
    count, there = ([*found, Row(operation, (), (len(found) - 1,))] for operation in ("Count", "Exists"))
    if how == "count":
        if type(value) is not int or value < 0:
            raise NoClaim(f"count is {value!r}, and none but a whole number from 0 on can be one")
        yield Asked(count, str(value), scene_ids)
    elif how in _RANKS:
        yield Ranked(count, _place(value, scene_ids), scene_ids, how == "most")
    else:
        named = {_place(place, scene_ids) for place in (value if how == "in" else [value])}
        for place, scene_id in enumerate(scene_ids):
            held = (place in named) != (how == "but")
            yield Asked(there, str(held).lower(), [scene_id], how in _WHICH and place not in named)


def _of_program(claim: dict, scene_ids: Sequence[str]) -> Asked:
    if claim.keys() - _OF_PROGRAMS or not isinstance(claim["answer"], str):
        raise NoClaim("a claim about a program has its answer, as text")
    at, alone = claim.get("at"), claim.get("alone", False)
    if type(alone) is not bool:
        raise NoClaim("alone is true or false")
    of = scene_ids if at is None else [scene_ids[_place(at, scene_ids)]]
    return Asked(from_json(json.dumps(claim["program"])), claim["answer"], of, alone)


def _place(place: object, scene_ids: Sequence[str]) -> int:
    """A place from 1 as an index."""
    if type(place) is not int or not 1 <= place <= len(scene_ids):
        raise NoClaim(f"there is no image at the place {place!r}, only from 1 to {len(scene_ids)}")
    return place - 1
