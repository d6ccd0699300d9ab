"""A program's run in print: its rows in the form of Table 10, each with the value that it gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compvqa.covr.executor import Entailment, Groups, Images, ProgramError, Relations, answer_text, execute, trace
from compvqa.programs.printed import listing, table
from compvqa.programs.rows import Program, walk
from compvqa.scenes.graph import SceneGraph


def show_trace(program: Program, scenes: Sequence[SceneGraph], lexicon: Entailment | None = None) -> str:
    """The program as ``programs.printed.show`` prints it, with a last column for what each row gave on ``scenes``."""
    return table(("Index", "Operator", "Arguments", "Value"), traced(program, scenes, lexicon))


def traced(
    program: Program, scenes: Sequence[SceneGraph], lexicon: Entailment | None = None
) -> list[tuple[str, str, str, str]]:
    """Index, operator, arguments and value of each row in print.

    Objects are printed by scene with name and id: ``w:1: dog 3, dog 7; w:2: dog 1``. A row without an answer
    says why and is the last with a value; the rows of a sub-program, run once an object, have none.
    """
    values: list[Any] = []
    try:
        trace(program, scenes, lexicon, values)
        printed = [show_value(value, scenes) for value in values]
    except ProgramError as error:
        printed = [*(show_value(value, scenes) for value in values), f"no answer: {error.reason}"]
    by_index = {str(number): text for number, text in enumerate(printed, 1)}
    return [(*line, by_index.get(line[0], "")) for line in listing(program)]


def answered(program: Program, scenes: Sequence[SceneGraph], lexicon: Entailment | None = None) -> str | None:
    """The program's answer on ``scenes``; None where it has none."""
    try:
        return answer_text(execute(program, scenes, lexicon))
    except ProgramError:
        return None


def nouns(program: Program) -> set[str]:
    """The nouns that a program looks for."""
    return {name for row in walk(program) if row.operation == "Find" for name in row.arguments}


def show_value(value: Any, scenes: Sequence[SceneGraph]) -> str:
    """A row's value in a few words."""
    if isinstance(value, Relations):
        return ", ".join(value) or "nothing"
    if isinstance(value, Images):
        return ", ".join(scenes[index].scene_id for index in value) or "nothing"
    if isinstance(value, Groups):
        return _by_scene(value, scenes)
    if isinstance(value, tuple):
        return _by_scene([(value[0], [value[1]])], scenes)
    if isinstance(value, list):
        return _by_scene(enumerate(value), scenes)
    return answer_text(value)


def _by_scene(found: Any, scenes: Sequence[SceneGraph]) -> str:
    parts = []
    for index, ids in found:
        names = ", ".join(f"{scenes[index].objects[object_id].name} {object_id}" for object_id in ids)
        if names:
            parts.append(f"{scenes[index].scene_id}: {names}")
    return "; ".join(parts) or "nothing"
