"""What the paper's analyses ask of a program, and of a program in its scene (CLEVR, section 4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from compvqa.clevr.executor import ILL_POSED, Value, values
from compvqa.clevr.language import OPERATORS
from compvqa.clevr.scene import Scene
from compvqa.programs.rows import Program, Row
from compvqa.scenes.pairs import Occurrence

INTEGERS = ("equal_integer", "less_than", "greater_than")
TYPES = tuple(
    name for name in OPERATORS if name in ("count", "exist", *INTEGERS) or name.startswith(("query_", "equal_"))
)  # of questions (4.2): the functions that give an answer
KINDS = ("query", "count", "exist", "compare_integer", "compare_attribute")


def kind(program: Program) -> str:
    """One of :data:`KINDS`: what sort of question the last function makes it; objects are compared as attributes."""
    last = program[-1].operation
    if last in INTEGERS:
        return "compare_integer"
    return "compare_attribute" if last.startswith("equal_") else last.partition("_")[0]


def is_chain(program: Program) -> bool:
    """Whether every function takes one input at most (4.4); a program that is none is a tree."""
    return all(len(row.dependencies) <= 1 for row in program)


def relates(program: Program) -> int:
    """How many spatial relations there are."""
    return sum(row.operation == "relate" for row in program)


def same_relates(program: Program) -> int:
    """How many same-attribute relations there are."""
    return sum(row.operation.startswith("same_") for row in program)


def descriptions(program: Program, through: Sequence[str] = ()) -> Iterator[frozenset[str]]:
    """The attributes of each chain of filters, from its first one to any; it goes on through functions ``through``."""
    ending: list[list[frozenset[str]]] = []  # at each row
    for row in program:
        above = [chain for index in row.dependencies for chain in ending[index]]
        if row.operation.startswith("filter_"):
            ending.append([chain | {*row.arguments} for chain in above or [frozenset()]])
            yield from ending[-1]
        else:
            ending.append(above if row.operation in through else [])


def occurs(pair: Collection[str], program: Program, occurrence: Occurrence = "released") -> bool:
    """Whether one description has both values of a pair: an unbroken chain of filters, whatever else is in it. Of two
    branches, of what is related and of what is asked or compared no description is made. ``strict`` goes on through a
    union: "small things that are green or …" has a small green thing."""
    wanted = frozenset(pair)
    through = ("union",) if occurrence == "strict" else ()
    return any(wanted <= description for description in descriptions(program, through))


def is_absolute(program: Program, scene: Scene, answer: Value) -> bool | None:
    """Whether the question can be answered by where in the picture things are (4.6): whether its answer stays where
    each ``relate`` gives what is in that half of the picture. Ill-posed, it can't. None where no source tells places
    in the picture."""
    if scene.absolute is None:
        return None
    found = values(program, scene.absolute)
    return found[-1] is not ILL_POSED and found[-1] == answer


def is_degenerate(program: Program, scene: Scene, answer: Value) -> bool:
    """Whether a spatial relation is of no use (3): whether the answer stays where some ``relate`` gives all objects. An
    ill-posed program's answer is another."""
    for number, row in enumerate(program):
        if row.operation == "relate":
            found = values([*program[:number], Row("scene"), *program[number + 1 :]], scene)
            if found[-1] is not ILL_POSED and found[-1] == answer:
                return True
    return False
