"""CLEVR's language: the functions that its programs are made of, and the types of what they take and give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from compvqa.programs.language import TRUTH, Language, Operator
from compvqa.programs.rows import Program, Row

GROUPS = ("size", "color", "material", "shape")  # of attributes, in the order that programs filter by them
# what a function may give, besides a truth value
OBJECTS, OBJECT, NUMBER = "objects", "object", "number"
VALUES = {group: f"an object's {group}" for group in GROUPS}
RELATION = "relation"


def _operators() -> Iterator[Operator]:
    many, single, numbers = (OBJECTS,), (OBJECT,), ((NUMBER,), (NUMBER,))
    yield Operator("scene", (), (), OBJECTS, "every object of the scene")
    for group in GROUPS:
        yield Operator(f"filter_{group}", (many,), (VALUES[group],), OBJECTS, f"those objects that have the {group}")
    yield Operator("unique", (many,), (), OBJECT, "the one object; no answer if there are none or several")
    meaning = "the objects that stand in the relation to the object, which is none of them"
    yield Operator("relate", (single,), (RELATION,), OBJECTS, meaning)
    for group in GROUPS:
        yield Operator(f"same_{group}", (single,), (), OBJECTS, f"the other objects that have the object's {group}")
    yield Operator("union", (many, many), (), OBJECTS, "the objects that are in one set or both")
    yield Operator("intersect", (many, many), (), OBJECTS, "the objects that are in both sets")
    yield Operator("count", (many,), (), NUMBER, "how many objects there are")
    yield Operator("exist", (many,), (), TRUTH, "whether there is at least one object")
    for group in GROUPS:
        yield Operator(f"query_{group}", (single,), (), VALUES[group], f"the object's {group}")
    for group in GROUPS:
        value = (VALUES[group],)
        yield Operator(f"equal_{group}", (value, value), (), TRUTH, f"whether two {group}s are the same")
    yield Operator("equal_object", (single, single), (), TRUTH, "whether two objects are the same")
    yield Operator("equal_integer", numbers, (), TRUTH, "whether two numbers are the same")
    yield Operator("less_than", numbers, (), TRUTH, "whether the first number is less than the second")
    yield Operator("greater_than", numbers, (), TRUTH, "whether the first number is greater than the second")


LANGUAGE = Language("clevr", tuple(_operators()), resampled="images")
OPERATORS = LANGUAGE.operators


def from_functions(functions: list[dict[str, Any]]) -> list[Row]:
    """The program of a question in CLEVR's own JSON.

    Functions are called by the key ``function`` (released files) or ``type`` (the generator's); other keys, such as
    ``_output``, don't count. ValueError where an entry is none.
    """
    rows = []
    for number, entry in enumerate(functions, 1):
        name = entry.get("function", entry.get("type")) if isinstance(entry, dict) else None
        words = (entry.get("value_inputs") or []) if isinstance(name, str) else None
        if not isinstance(name, str) or not isinstance(words, list) or not isinstance(entry.get("inputs"), list):
            raise ValueError(f"entry {number} is no function with inputs: {json.dumps(entry)[:80]}")
        rows.append(Row(name, tuple(words), tuple(entry["inputs"])))
    return rows


def to_functions(program: Program) -> list[dict[str, Any]]:
    """The program as CLEVR's released questions have it."""
    return [
        {"function": row.operation, "inputs": list(row.dependencies), "value_inputs": list(row.arguments)}
        for row in program
    ]
