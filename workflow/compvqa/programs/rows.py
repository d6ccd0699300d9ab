"""Programs as lists of rows: their JSON, their anonymised form, and a walk over all rows.

A row has an operator, arguments (names, numbers, or a sub-program) and dependencies: the rows whose values it takes.
Rows are counted from 0 in Python and JSON, and from 1 in print, as in COVR's Table 10. What the operators are, a
language says (:mod:`compvqa.programs.language`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Row:
    """One row of a program."""

    operation: str
    arguments: tuple[Any, ...] = ()
    dependencies: tuple[int, ...] = ()


Program = Sequence[Row]


def is_program(argument: object) -> bool:
    """Whether an argument is a sub-program."""
    return isinstance(argument, tuple)


def to_json(program: Program) -> str:
    """The program as JSON: ``[["Find", ["table"], []], …]``; a sub-program is such a list as an argument."""
    return _ENCODER.encode(_to_data(program))


def _to_data(program: Program) -> list[Any]:
    return [
        [row.operation, [_to_data(a) if is_program(a) else a for a in row.arguments], row.dependencies]
        for row in program
    ]


def from_json(text: str) -> list[Row]:
    """The program that :func:`to_json` wrote."""
    return list(_from_data(json.loads(text)))


def _from_data(data: list[Any]) -> tuple[Row, ...]:
    return tuple(
        Row(
            operation,
            tuple(_from_data(a) if isinstance(a, list) else a for a in arguments),
            tuple(dependencies),
        )
        for operation, arguments, dependencies in data
    )


def anonymize(program: Program, numbers: bool = False) -> str:
    """The program's JSON without arguments but sub-programs, which lose theirs too, and with ``numbers`` these.

    What is left is the program's structure, by which COVR's authors count and hold out programs (section 3.3, 4.2).
    """
    return to_json(_anonymous(program, numbers))


def _anonymous(program: Program, numbers: bool) -> tuple[Row, ...]:
    return tuple(
        Row(
            row.operation,
            tuple(
                _anonymous(a, numbers) if is_program(a) else a
                for a in row.arguments
                if is_program(a) or (numbers and not isinstance(a, str))
            ),
            row.dependencies,
        )
        for row in program
    )


def walk(program: Program) -> Iterator[Row]:
    """All rows, those of sub-programs after the row that holds them."""
    for row in program:
        yield row
        for argument in row.arguments:
            if is_program(argument):
                yield from walk(argument)
