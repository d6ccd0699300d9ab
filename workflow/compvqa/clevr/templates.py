"""Templates of CLEVR's questions: the original's JSON format, read and checked.

A file is a list of families. Each has ``text`` (phrasings with slots such as ``<C>``, and words that may be left out,
as in ``[that is]``), ``params`` (the slots with their types), ``nodes`` (functions, or composites such as
``relate_filter_unique`` that stand for several) and ``constraints`` (``NULL``: a slot stays empty; ``OUT_NEQ``: two
nodes give different things).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from compvqa.clevr.language import GROUPS, LANGUAGE, OBJECT, OBJECTS, OPERATORS, RELATION
from compvqa.errors import InputError
from compvqa.files import read_text
from compvqa.programs.language import ProgramTypeError
from compvqa.programs.rows import Row

COMPOSITE = re.compile(r"(?P<relate>relate_)?filter(_(?P<end>unique|count|exist))?")
TYPES = {**{group.capitalize(): group for group in GROUPS}, "Relation": RELATION}
SLOT = re.compile(r"<[^<>]*>")
Choice = tuple[str | None, ...]  # what a node's slots are filled with; None leaves one empty


@dataclass(frozen=True)
class Node:
    """A node of a template: a function or a composite, the nodes it takes, and its slots' names."""

    kind: str
    inputs: tuple[int, ...]
    slots: tuple[str, ...] = ()

    @cached_property
    def composite(self) -> Any:
        """The parts of a composite's name (:class:`re.Match`), where the node is one, else None."""
        return COMPOSITE.fullmatch(self.kind)


@dataclass(frozen=True)
class Template:
    """A family of questions."""

    name: str  # "<file>_<number in it>"
    texts: tuple[str, ...]
    nodes: tuple[Node, ...]
    slots: Mapping[str, str]  # name -> size, color, material, shape or relation
    empty: frozenset[str] = frozenset()  # slots that stay empty (NULL)
    different: tuple[tuple[int, int], ...] = ()  # nodes that give different things (OUT_NEQ)

    def program(self, choices: Sequence[Choice], last: bool = False) -> list[Row]:
        """The program where each node's slots are filled by its choice.

        A ``filter`` of which all slots are empty gives what it takes; with ``last`` what the row above it gives, as in
        the original code.
        """
        rows: list[Row] = []
        place: list[int] = []  # of each node's last row
        for node, choice in zip(self.nodes, choices, strict=True):
            inputs = tuple(place[index] for index in node.inputs)
            if node.composite is None:
                rows.append(Row(node.kind, tuple(choice), inputs))
            else:
                rows += _expand(node.composite, choice, inputs[0], len(rows))
                if all(word is None for word in choice) and not node.composite["end"]:
                    place.append(len(rows) - 1 if last else inputs[0])
                    continue
            place.append(len(rows) - 1)
        return rows

    def reordered(self, order: Sequence[int]) -> Template:
        """The same template with its nodes listed in another order, in which each is after those that it takes."""
        place = {number: new for new, number in enumerate(order)}
        nodes = [self.nodes[number] for number in order]
        return replace(
            self,
            nodes=tuple(replace(node, inputs=tuple(place[i] for i in node.inputs)) for node in nodes),
            different=tuple((min(pair), max(pair)) for a, b in self.different for pair in [(place[a], place[b])]),
        )

    @property
    def file(self) -> str:
        """The name of its file."""
        return self.name.rpartition("_")[0]

    @property
    def last(self) -> str:
        """The function that gives the answer."""
        node = self.nodes[-1]
        return node.composite["end"] or node.kind if node.composite else node.kind


def _expand(composite: re.Match, choice: Choice, start: int, above: int) -> list[Row]:
    """The rows that a composite stands for; ``above`` are there already, and ``start`` gives the first its input."""
    filled = [(f"filter_{group}", word) for group, word in zip(GROUPS, choice[-len(GROUPS) :], strict=True) if word]
    if composite["relate"]:
        filled.insert(0, ("relate", choice[0] or ""))
    rows: list[Row] = []
    for operation, word in filled:
        rows.append(Row(operation, (word,), (start,)))
        start = above + len(rows) - 1
    if composite["end"]:
        rows.append(Row(composite["end"], (), (start,)))
    return rows


def template_files(*folders: Path) -> list[Path]:
    """The template files of some folders, by their names; of two of one name that of the first folder counts."""
    found = {file.name: file for folder in reversed(folders) for file in folder.glob("*.json")}
    if not found:
        where = " or ".join(map(str, folders))
        raise InputError(f"{where} holds no templates (*.json): correct the path, or put some there.")
    return [found[name] for name in sorted(found)]


def read_templates(*folders: Path) -> list[Template]:
    """The families of all template files of some folders; InputError tells file, family and fault."""
    return [template for file in template_files(*folders) for template in read_file(file)]


def read_file(file: Path) -> list[Template]:
    """The families of one file."""
    try:
        entries = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise InputError(f"{file} is not valid JSON (line {error.lineno}: {error.msg}): correct it there.") from None
    if not isinstance(entries, list):
        raise InputError(f"{file} is no list of templates: give a file in the format of CLEVR's templates.")
    found = []
    for number, entry in enumerate(entries):
        try:
            found.append(_template(f"{file.stem}_{number}", entry))
        except (ValueError, TypeError, KeyError, AttributeError) as fault:
            why = f"lacks {fault}" if isinstance(fault, KeyError) else f"is malformed: {fault}"
            raise InputError(f"{file}, template {number} (counted from 0), {why}; correct it.") from None
    return found


def _template(name: str, entry: dict) -> Template:
    if not isinstance(entry, dict):
        raise ValueError("it is no table")
    slots = {item["name"]: _slot_type(item["type"]) for item in entry["params"]}
    nodes = tuple(
        Node(item["type"], tuple(item["inputs"]), tuple(item.get("side_inputs") or ())) for item in entry["nodes"]
    )
    texts = tuple(entry["text"])
    empty, different = _constraints(entry.get("constraints") or [], slots, len(nodes))
    template = Template(name, texts, nodes, slots, empty, different)
    _check_slots(template)
    _check_types(template)
    _check_texts(template)
    return template


def _slot_type(name: str) -> str:
    if name not in TYPES:
        raise ValueError(f"there is no type of slots {name!r} (known: {', '.join(TYPES)})")
    return TYPES[name]


def _constraints(entries: list, slots: Mapping[str, str], nodes: int) -> tuple[frozenset, tuple]:
    empty, different = set(), []
    for item in entries:
        kind, params = item["type"], item["params"]
        if kind == "NULL" and len(params) == 1 and slots.get(params[0], RELATION) != RELATION:
            empty.add(params[0])
        elif kind == "OUT_NEQ" and len(params) == 2 and all(type(i) is int and 0 <= i < nodes for i in params):
            different.append((min(params), max(params)))
        else:
            raise ValueError(f"there is no constraint {kind} of {params} (known: NULL of a slot, OUT_NEQ of two nodes)")
    return frozenset(empty), tuple(different)


def _check_slots(template: Template) -> None:
    used: list[str] = []
    for number, node in enumerate(template.nodes):
        kinds = [template.slots.get(slot) for slot in node.slots]
        if node.composite:
            expected = [RELATION] * bool(node.composite["relate"]) + list(GROUPS)
            if len(node.inputs) != 1:
                raise ValueError(f"node {number}, {node.kind}, takes one input, not {len(node.inputs)}")
        elif node.kind in OPERATORS:
            expected = [kind.rpartition(" ")[2] for kind in OPERATORS[node.kind].arguments]
        else:
            raise ValueError(f"node {number} is of no known function {node.kind!r}")
        if kinds != expected:
            raise ValueError(f"node {number}, {node.kind}, takes slots of {expected}, not {kinds}")
        if any(type(index) is not int or not 0 <= index < number for index in node.inputs):
            raise ValueError(f"node {number}, {node.kind}, takes the nodes {list(node.inputs)}, not all above it")
        used += node.slots
    if len(used) != len(set(used)) or set(used) != set(template.slots):
        raise ValueError("its params are not the slots of its nodes, each once")
    taken = {index for node in template.nodes for index in node.inputs}
    if idle := set(range(len(template.nodes) - 1)) - taken:
        raise ValueError(f"no node takes what node {min(idle)} gives")


def _check_types(template: Template) -> None:
    program = template.program([tuple("word" for _ in node.slots) for node in template.nodes])
    try:
        output = LANGUAGE.check(program)
    except ProgramTypeError as fault:
        raise ValueError(f"its program is ill-typed: {fault}") from None
    if output in (OBJECT, OBJECTS):
        raise ValueError(f"its program ends in {program[-1].operation}, which gives {output} and no answer")


def _check_texts(template: Template) -> None:
    if not template.texts:
        raise ValueError("it has no text")
    for text in template.texts:
        if unknown := set(SLOT.findall(text)) - set(template.slots):
            raise ValueError(f"the text {text!r} has the unknown slot {min(unknown)}")
        depth = [text[:i].count("[") - text[:i].count("]") for i in range(len(text) + 1)]
        if depth[-1] or not set(depth) <= {0, 1}:
            raise ValueError(f"the text {text!r} has brackets that do not pair")
