"""Effective questions (CLEVR, 4.5 and supplement B): the smallest program that gives a question's answer in its scene.

A program is pruned by cuts: an input that is an object or a set of objects becomes all objects of the scene, and what
the answer then does not need is left out. Pruned programs may be ill-posed, so they run with sets: ``unique`` gives
what it gets, and what takes an object or a value is asked of each one in the set; the answer must be the only one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from typing import Literal

from compvqa.clevr.executor import FUNCTIONS, Value
from compvqa.clevr.language import NUMBER, OBJECT, OBJECTS, OPERATORS
from compvqa.clevr.scene import Scene
from compvqa.programs.rows import Program, Row

Cut = tuple[int, int]  # a row and which of its dependencies
Cuts = Literal["any", "one"]
Found = int | bool | frozenset[Value]  # objects are a mask, and values, of which there may be several, a set
_WHOLE = ((OBJECTS,), (NUMBER,))  # inputs that are what they are in a program that is not pruned


def set_values(program: Program, scene: Scene) -> list[Found]:
    """The value of each row where ``unique`` gives all that it gets, and functions of an object are asked of each."""
    found: list[Found] = []
    for row in program:
        given = [found[index] for index in row.dependencies]
        operator, function = OPERATORS[row.operation], FUNCTIONS[row.operation]
        if row.operation == "unique":
            found.append(given[0])
        elif all(kinds in _WHOLE for kinds in operator.inputs):
            found.append(function(scene, given, row.arguments))
        else:
            each = [function(scene, one, row.arguments) for one in product(*map(_members, given))]
            found.append(_union(each) if operator.output == OBJECTS else frozenset(each))
    return found


def _members(found: Found) -> Collection[Value]:
    return found if isinstance(found, frozenset) else [i for i in range(found.bit_length()) if found >> i & 1]


def _union(masks: list[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def effective(program: Program, scene: Scene, answer: Value, cuts: Cuts = "any") -> Program:
    """The smallest pruned program that gives ``answer``, which is what ``program`` gives in the scene.

    ``cuts``: whether any number may be made, as the paper defines it, or ``one`` at a time, as it then does it. Of
    several smallest programs it is the one that is cut nearest to the answer.
    """
    for _, chosen in sorted(all_cuts(program) if cuts == "any" else _one_cut(program), key=_order):
        smaller = pruned(program, chosen)
        found = set_values(smaller, scene)[-1]
        if found == answer or found == frozenset({answer}):
            return smaller
    return program


def _order(found: tuple[int, tuple[Cut, ...]]) -> tuple[int, list[int]]:
    size, cuts = found
    return size, [-row for row, _ in cuts]


def _cuttable(program: Program, row: int) -> list[Cut]:
    """The inputs of a row that are objects and not all objects already."""
    inputs = zip(OPERATORS[program[row].operation].inputs, program[row].dependencies, strict=True)
    return [
        (row, place)
        for place, (kinds, above) in enumerate(inputs)
        if kinds in ((OBJECTS,), (OBJECT,)) and program[above].operation != "scene"
    ]


def _one_cut(program: Program) -> list[tuple[int, tuple[Cut, ...]]]:
    cuts = [(cut,) for row in range(len(program)) for cut in _cuttable(program, row)]
    return [(len(pruned(program, chosen)), chosen) for chosen in ((), *cuts)]


def all_cuts(program: Program) -> Iterator[tuple[int, tuple[Cut, ...]]]:
    """Every choice of cuts that leaves each of them in the program, with the number of functions that are left."""

    def choose(row: int, needed: frozenset[int], cuts: tuple[Cut, ...]) -> Iterator[tuple[int, tuple[Cut, ...]]]:
        while row >= 0 and row not in needed:
            row -= 1
        if row < 0:
            yield len(needed) + len(cuts), cuts
            return
        may_cut = _cuttable(program, row)
        for flags in product((False, True), repeat=len(may_cut)):
            chosen = tuple(cut for cut, flag in zip(may_cut, flags, strict=True) if flag)
            kept = {above for place, above in enumerate(program[row].dependencies) if (row, place) not in chosen}
            yield from choose(row - 1, needed | kept, (*cuts, *chosen))

    return choose(len(program) - 1, frozenset({len(program) - 1}), ())


def pruned(program: Program, cuts: Collection[Cut]) -> list[Row]:
    """The program whose inputs ``cuts`` are all objects, each by a function ``scene`` of its own, without the functions
    that the answer does not need."""
    rows: list[Row] = []
    place: dict[int, int] = {}

    def add(row: Row) -> int:
        rows.append(row)
        return len(rows) - 1

    def keep(number: int) -> int:
        if number not in place:
            row = program[number]
            inputs = enumerate(row.dependencies)
            given = tuple(add(Row("scene")) if (number, i) in cuts else keep(above) for i, above in inputs)
            place[number] = add(Row(row.operation, row.arguments, given))
        return place[number]

    keep(len(program) - 1)
    return rows
