"""The check of a template's text and program before anything is asked by it: slots, forms, rows and types."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from string import Formatter

from compvqa.covr.language import LANGUAGE, OPERATORS
from compvqa.programs.language import PROGRAM, SIZE, ProgramTypeError
from compvqa.programs.rows import Row

SkeletonRow = tuple[str, list[str | int], list[int]]
REFER = "Refer"
# What stands for rows that are made of references, as an operator that takes and gives the same types.
ALIKE = {REFER: ("Find", 0), "Objects": ("Filter", 1), "Between": ("RelationBetween", 2)}
_TEST = (Row("Scene", (), ()), Row("Exists", (), (0,)))


def check_text(text: str, forms: Collection[str]) -> str:
    """``text`` as it is; ValueError where its braces do not close, or ask for something but a slot in one of
    ``forms``."""
    for name, form in _fields(text):
        if not name.isidentifier():
            raise ValueError(f"'{{{name}}}' names no slot: write it as {{slot}} or {{reference:form}}")
        if form and "{" not in form and form not in forms:
            raise ValueError(f"'{{{name}:{form}}}' has an unknown form: use one of {', '.join(sorted(forms))}")
    return text


def check_program(rows: Sequence[SkeletonRow]) -> Sequence[SkeletonRow]:
    """``rows`` as they are; ValueError where one (counted from 0, as its dependencies are) can be no row of a program,
    whatever its slots are filled with."""
    if not rows:
        raise ValueError("it has no rows")
    for at, (operation, arguments, dependencies) in enumerate(rows):
        if operation in ALIKE and (len(arguments), len(dependencies)) != (1, ALIKE[operation][1]):
            raise ValueError(f"row {at}: {operation} takes one argument and {ALIKE[operation][1]} dependencies")
    _typed([], rows)
    return rows


def slots(text: str, rows: Sequence[SkeletonRow]) -> set[str]:
    """The names that a template's kind must fill in its text and program."""
    named = {name for name, _ in _fields(text)}
    for operation, arguments, _ in rows:
        named |= {str(argument) for argument in arguments if operation == REFER}
        named |= {item[1:] for item in (operation, *arguments) if isinstance(item, str) and item.startswith("$")}
    return named


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """The slots of a text, each with its form, which may be a slot itself: ``{ref:{form}}``."""
    for _, name, form, _ in Formatter().parse(text):
        if name is not None:
            yield name, form or ""
            yield from _fields(form or "")


def _typed(done: list[Row], rows: Sequence[SkeletonRow]) -> None:
    """Check the types of ``rows`` after those that are ``done``; of an operator that is a slot one must fit."""
    for at, (operation, arguments, dependencies) in enumerate(rows[len(done) :], len(done)):
        if operation.startswith("$"):
            return _one_fits(done, rows, at)
        done = [*done, _row(operation, arguments, dependencies)]
        try:
            LANGUAGE.check(done)
        except ProgramTypeError as fault:
            raise ValueError(f"row {at}: {str(fault).partition(': ')[2]}") from None
    return None


def _one_fits(done: list[Row], rows: Sequence[SkeletonRow], at: int) -> None:
    operation, arguments, dependencies = rows[at]
    for name in OPERATORS:
        try:
            return _typed(done, [*rows[:at], (name, arguments, dependencies), *rows[at + 1 :]])
        except ValueError:
            continue
    raise ValueError(f"row {at}: no operator in the place of {operation} takes these arguments and dependencies")


def _row(operation: str, arguments: Sequence[str | int], dependencies: Sequence[int]) -> Row:
    if operation == "Between":  # whose operator takes the relation's name apart
        arguments = ()
    name = ALIKE[operation][0] if operation in ALIKE else operation
    kinds = OPERATORS[name].arguments if name in OPERATORS else ()
    written = OPERATORS[name].written if name in OPERATORS else None
    kinds = (*kinds, written[0]) if written else kinds
    given = [_value(item, kinds[number] if number < len(kinds) else "") for number, item in enumerate(arguments)]
    return Row(name, tuple(given), tuple(dependencies))


def _value(item: str | int, kind: str) -> object:
    """What may stand in a slot of this kind; anything else as it is."""
    if isinstance(item, str) and item.startswith("$"):
        return {SIZE: 1, PROGRAM: _TEST}.get(kind, item)
    return item
