"""A program as the rows of the paper's Table 10, in parts that a page can colour, and as a graph to draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compvqa.programs import wings
from compvqa.programs.graph import graph
from compvqa.programs.rows import Program, Row, from_json, is_program
from compvqa.programs.wings import TraceModule
from compvqa.scenes.graph import SceneGraph

LONG = 240  # characters of a value that are shown
LETTER, HIGH, DOWN, ASIDE = 6.8, 22, 34, 12  # pixels of the graph: a letter, a row, a level, between two lanes
WORDS = 24  # characters of a row's words that its graph shows


@dataclass(frozen=True)
class Line:
    """One row: its index (1-based; ``3.2`` in a sub-program), how deep it stands, and its parts as text.

    ``arguments`` are pairs (text, kind); kinds are ``row`` (the output of that row), ``word``, ``number``. ``value`` is
    what it gave, where the program was run, and ``objects`` the ids of the objects that this names.
    """

    index: str
    level: int
    operator: str
    arguments: tuple[tuple[str, str], ...]
    value: str = ""
    objects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stop:
    """A row in a drawn graph: the line that it is, its words in short, and the middle of its left edge, in pixels."""

    line: Line
    words: str
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """A graph to draw: rows as boxes of one size, and the lines between them (from, to; of a sub-program)."""

    width: float
    height: float
    box: float
    stops: tuple[Stop, ...]
    lines: tuple[tuple[float, float, float, float, bool], ...]


def lines(program: str) -> tuple[Line, ...]:
    """The rows of a program in JSON; a sub-program's rows follow the row that holds it."""
    return tuple(_lines(from_json(program), "", 0, {}, {}))


def run(program: str, scenes: Sequence[SceneGraph], language: str) -> tuple[Line, ...]:
    """The same with the value that each row gave on ``scenes``, long ones cut."""
    trace: TraceModule = wings.part(language, "trace")
    rows = from_json(program)
    values = {index: text for index, _, _, text in trace.traced(rows, scenes)}
    named = called(scenes[0], language) if len(scenes) == 1 else {}
    return tuple(_lines(rows, "", 0, values, {name: object_id for object_id, name in named.items()}))


def called(scene: SceneGraph, language: str) -> dict[str, str]:
    """What the language's traces call a scene's objects, by their ids; empty where it does not tell."""
    tell = getattr(wings.part(language, "trace"), "called", None)
    return tell(scene) if tell else {}


def _lines(
    program: Program, prefix: str, level: int, values: Mapping[str, str], ids: Mapping[str, str]
) -> Iterator[Line]:
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
        value = values.get(index, "")
        found = tuple(ids[name] for name in value.split(", ") if name in ids)
        cut = value if len(value) <= LONG else f"{value[:LONG]} …"
        yield Line(index, level, row.operation, tuple(shown), cut, found)
        for sub in inner:
            yield from _lines(sub, f"{index}.", level + 1, values, ids)


def drawn(program: str, listed: Sequence[Line]) -> Drawing:
    """The graph of a program in JSON, from above to below, whose rows are ``listed``."""
    placed, by_index = graph(from_json(program)), {line.index: line for line in listed}
    words = {node.index: _words(node.row) for node in placed.nodes}
    letters = max((len(f"{node.row.operation} {words[node.index]}".strip()) for node in placed.nodes), default=0)
    box = round(LETTER * letters + 20, 1)
    at = {node.index: (round(node.lane * (box + ASIDE), 1), DOWN * node.level + HIGH / 2) for node in placed.nodes}
    stops = (Stop(by_index[node.index], words[node.index], *at[node.index]) for node in placed.nodes)
    edges = (
        (
            at[edge.start][0] + box / 2,
            at[edge.start][1] + HIGH / 2,
            at[edge.end][0] + box / 2,
            at[edge.end][1] - HIGH / 2,
        )
        + (edge.inner,)
        for edge in placed.edges
    )
    width = placed.lanes * (box + ASIDE) - ASIDE
    return Drawing(round(width, 1), DOWN * placed.levels - DOWN + HIGH, box, tuple(stops), tuple(edges))


def _words(row: Row) -> str:
    """A row's own arguments in short."""
    text = " ".join(str(argument) for argument in row.arguments if not is_program(argument))
    return text if len(text) <= WORDS else f"{text[: WORDS - 1]}…"
