"""A program as the rows of the paper's Table 10, in parts that a page can colour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compvqa.programs.operators import Program, from_json


@dataclass(frozen=True)
class Line:
    """One row: its index (1-based; ``3.2`` in a sub-program), how deep it stands, and its parts as text.

    ``arguments`` are pairs (text, kind); kinds are ``row`` (the output of that row), ``word``, ``number``.
    """

    index: str
    level: int
    operator: str
    arguments: tuple[tuple[str, str], ...]


def lines(program: str) -> tuple[Line, ...]:
    """The rows of a program in JSON; a sub-program's rows follow the row that holds it."""
    return tuple(_lines(from_json(program), "", 0))


def _lines(program: Program, prefix: str, level: int) -> Iterator[Line]:
    for number, row in enumerate(program, start=1):
        index = f"{prefix}{number}"
        inner = [argument for argument in row.arguments if isinstance(argument, tuple)]
        shown = [(f"{prefix}{dependency + 1}", "row") for dependency in row.dependencies]
        shown += [
            (str(argument), "word" if isinstance(argument, str) else "number")
            for argument in row.arguments
            if not isinstance(argument, tuple)
        ]
        shown += [(f"{index}.{len(sub)}", "row") for sub in inner]
        yield Line(index, level, row.operation, tuple(shown))
        for sub in inner:
            yield from _lines(sub, f"{index}.", level + 1)
