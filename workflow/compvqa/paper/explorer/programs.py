"""A program as the rows of the paper's Table 10, in parts that a page can colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compvqa.programs import wings
from compvqa.programs.rows import Program, from_json
from compvqa.programs.wings import TraceModule
from compvqa.scenes.graph import SceneGraph

LONG = 240  # characters of a value that are shown


@dataclass(frozen=True)
class Line:
    """One row: its index (1-based; ``3.2`` in a sub-program), how deep it stands, and its parts as text.

    ``arguments`` are pairs (text, kind); kinds are ``row`` (the output of that row), ``word``, ``number``. ``value`` is
    what it gave, where the program was run.
    """

    index: str
    level: int
    operator: str
    arguments: tuple[tuple[str, str], ...]
    value: str = ""


def lines(program: str) -> tuple[Line, ...]:
    """The rows of a program in JSON; a sub-program's rows follow the row that holds it."""
    return tuple(_lines(from_json(program), "", 0, {}))


def run(program: str, scenes: Sequence[SceneGraph], language: str) -> tuple[Line, ...]:
    """The same with the value that each row gave on ``scenes``, long ones cut."""
    trace: TraceModule = wings.part(language, "trace")
    rows = from_json(program)
    told = trace.traced(rows, scenes)
    values = {index: text if len(text) <= LONG else f"{text[:LONG]} …" for index, _, _, text in told}
    return tuple(_lines(rows, "", 0, values))


def _lines(program: Program, prefix: str, level: int, values: Mapping[str, str]) -> Iterator[Line]:
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
        yield Line(index, level, row.operation, tuple(shown), values.get(index, ""))
        for sub in inner:
            yield from _lines(sub, f"{index}.", level + 1, values)
