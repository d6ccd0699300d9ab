"""Answers of CLEVR's programs over one scene, as operations on bit masks.

A set of objects is a mask, one object its number. A program whose ``unique`` finds none or several objects is
ill-posed: it has no answer, which is told apart from "no".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from compvqa.clevr.language import GROUPS, LANGUAGE, OBJECT, OBJECTS
from compvqa.clevr.scene import Scene
from compvqa.errors import InputError
from compvqa.programs.language import ProgramTypeError
from compvqa.programs.rows import Program

# A number, a word, a truth value, or objects as the bits of a number: an operator says which, as no checker can see
Value: TypeAlias = Any
Function = Callable[[Scene, Sequence, Sequence], Value]
ILL_POSED = None  # what an ill-posed program gives


def only(mask: int) -> int | None:
    """The number of the one object in a mask; None if there are none or several."""
    return mask.bit_length() - 1 if mask and not mask & (mask - 1) else None


def _filter(group: str) -> Function:
    return lambda scene, given, names: given[0] & scene.having[group].get(names[0], 0)


def _same(group: str) -> Function:
    place = GROUPS.index(group)
    return lambda scene, given, _: scene.having[group][scene.objects[given[0]][place]] & ~(1 << given[0])


def _query(group: str) -> Function:
    place = GROUPS.index(group)
    return lambda scene, given, _: scene.objects[given[0]][place]


def _relate(scene: Scene, given: Sequence, names: Sequence) -> int:
    if names[0] not in scene.relations:
        raise InputError(
            f"The scene {scene.scene_id} knows no relation {names[0]!r}, only {', '.join(sorted(scene.relations))}: "
            "correct the program."
        )
    return scene.relations[names[0]][given[0]]


def _equal(scene: Scene, given: Sequence, _: Sequence) -> bool:
    return given[0] == given[1]


FUNCTIONS: dict[str, Function] = {
    "scene": lambda scene, *_: scene.everything,
    "unique": lambda _, given, __: only(given[0]),
    "relate": _relate,
    "union": lambda _, given, __: given[0] | given[1],
    "intersect": lambda _, given, __: given[0] & given[1],
    "count": lambda _, given, __: given[0].bit_count(),
    "exist": lambda _, given, __: given[0] != 0,
    "equal_object": _equal,
    "equal_integer": _equal,
    "less_than": lambda _, given, __: given[0] < given[1],
    "greater_than": lambda _, given, __: given[0] > given[1],
}
for _group in GROUPS:
    FUNCTIONS |= {
        f"filter_{_group}": _filter(_group),
        f"same_{_group}": _same(_group),
        f"query_{_group}": _query(_group),
        f"equal_{_group}": _equal,
    }


def values(program: Program, scene: Scene) -> list[Value]:
    """The value of each row; the list ends at the first that is ill-posed, which is None."""
    found: list[Value] = []
    for row in program:
        given = [found[index] for index in row.dependencies]
        found.append(FUNCTIONS[row.operation](scene, given, row.arguments))
        if found[-1] is ILL_POSED:
            break
    return found


def answer(program: Program, scene: Scene) -> str | None:
    """The program's answer in words ("yes", "no", "3", "red"); None where it is ill-posed.

    Raises :class:`ProgramTypeError` where the program is no program of the language, or gives objects.
    """
    if LANGUAGE.check(program) in (OBJECT, OBJECTS):
        raise ProgramTypeError(len(program), f"{program[-1].operation} gives objects, which are no answer")
    return in_words(values(program, scene)[-1])


def in_words(value: Value | None) -> str | None:
    """A value as an answer."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is ILL_POSED else str(value)
