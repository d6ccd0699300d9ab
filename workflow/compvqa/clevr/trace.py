"""A program's run in print: its functions, each with the value that it gave in the scene."""

from __future__ import annotations

from collections.abc import Sequence

from compvqa.clevr.executor import ILL_POSED, Value, in_words, values
from compvqa.clevr.language import OBJECT, OBJECTS, OPERATORS
from compvqa.clevr.scene import Scene, of_graph, ordered
from compvqa.programs.printed import listing
from compvqa.programs.rows import Program
from compvqa.scenes.graph import SceneGraph


def traced(program: Program, scenes: Sequence[SceneGraph]) -> list[tuple[str, str, str, str]]:
    """Index, function, arguments and value of each row in print, in the one scene.

    Objects are printed in words with their ids: ``small red metal cube 3``. An ill-posed function says why and is the
    last with a value.
    """
    (graph,) = scenes
    return traced_in(program, of_graph(graph), ordered(graph))


def traced_in(program: Program, scene: Scene, ids: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """The same in a scene whose objects have these ids."""
    found = values(program, scene)
    printed = [show_value(row.operation, value, scene, ids) for row, value in zip(program, found, strict=False)]
    if found[-1] is ILL_POSED:
        many = found[program[len(found) - 1].dependencies[0]].bit_count()
        printed[-1] = f"no answer: {many} objects, not one"
    printed += [""] * (len(program) - len(found))
    return [(*line, value) for line, value in zip(listing(program), printed, strict=True)]


def answered(program: Program, scenes: Sequence[SceneGraph]) -> str | None:
    """The program's answer in the one scene; None where it is ill-posed."""
    (graph,) = scenes
    return in_words(values(program, of_graph(graph))[-1])


def called(graph: SceneGraph) -> dict[str, str]:
    """What each object of a scene is called in print, by its id."""
    scene = of_graph(graph)
    return dict(zip(ordered(graph), _called(scene, ordered(graph)), strict=True))


def nouns(program: Program) -> set[str]:
    """The shapes that a program looks for."""
    return {name for row in program if row.operation == "filter_shape" for name in row.arguments}


def show_value(function: str, value: Value, scene: Scene, ids: Sequence[str]) -> str:
    """What a function gave, in words; ``ids`` are those of the scene's objects."""
    kind = OPERATORS[function].output
    if kind not in (OBJECT, OBJECTS):
        return in_words(value) or ""
    mask = value if kind == OBJECTS else 0 if value is ILL_POSED else 1 << value
    return ", ".join(name for i, name in enumerate(_called(scene, ids)) if mask >> i & 1) or "nothing"


def _called(scene: Scene, ids: Sequence[str]) -> list[str]:
    return [f"{' '.join(attributes)} {object_id}" for attributes, object_id in zip(scene.objects, ids, strict=True)]
