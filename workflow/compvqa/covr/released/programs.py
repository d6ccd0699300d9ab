"""The programs of the released COVR files as programs over our operators.

A released program is a list of rows ``{"operation": "find", "arguments": ["dog"], "dependencies": []}``. Besides the
operators' names, these differ:

* A relation's modifier is a relation of its own, ``pulling:_with`` beside ``pulling``; ours is one row for both.
* A quantifier's condition gives objects, where ours says whether the object under test is among them.
* Groups are counted by way of their keys, and a relation is chosen by way of its name; ours need no row for that.

Rows come in the order in which our own programs have them, so that equal programs are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compvqa.covr.language import LANGUAGE, QUANTIFIERS
from compvqa.programs.rows import Program, Row

OPERATORS = {
    "scene": "Scene",
    "find": "Find",
    "filter": "Filter",
    "with_relation": "WithRelation",
    "with_relation_object": "WithRelationObject",
    "unique": "Unique",
    "assert_unique": "AssertUnique",
    "relation_between_nouns": "RelationBetween",
    "unique_images": "UniqueImages",
    "group_by_images": "GroupByImages",
    "keep_if_values_count_eq": "KeepIfValuesCountEq",
    "keep_if_values_count_geq": "KeepIfValuesCountGeq",
    "keep_if_values_count_leq": "KeepIfValuesCountLeq",
    "keys": "",  # the row's dependency stands for it
    "count": "Count",
    "exists": "Exists",
    "logic_and": "And",
    "logic_or": "Or",
    **{name: name for name in ("eq", "gt", "lt", "geq", "leq")},
    "all": "All",
    "some": "Some",
    "none": "None",
    "all_same": "AllSame",
    "query_name": "QueryName",
    "query_attr": "QueryAttribute",
    "verify_attr": "VerifyAttribute",
    "choose_name": "ChooseName",
    "choose_attr": "ChooseAttribute",
    "choose_relation": "ChooseRelation",
}
MODIFIER = ":_"  # between a relation and its modifier, in one name
_RELATIONS = ("WithRelation", "WithRelationObject")
_OF_A_RELATION = ("unique", "query_name")  # rows between a relation and its choice
_MOST_ROWS = 200  # COVR's longest programs have about 20


@dataclass(frozen=True)
class _Node:
    """A row with the rows that it depends on."""

    operation: str
    arguments: tuple
    inputs: tuple[_Node, ...]


def convert(rows: object) -> Program:
    """The program that the last of the released ``rows`` gives, checked; ValueError says why there is none."""
    result = tuple(_written(_read(rows), []))
    LANGUAGE.check(result)
    return result


def plain_name(name: str) -> str:
    """A relation's released name without the mark of modifiers."""
    return name.replace(MODIFIER, " ")


def _read(rows: object) -> _Node:
    if not isinstance(rows, list) or not 0 < len(rows) <= _MOST_ROWS:
        raise ValueError(f"a program is a list of 1 to {_MOST_ROWS} rows")
    nodes: list[_Node] = []
    for number, row in enumerate(rows):
        try:
            nodes.append(_node(row, nodes))
        except ValueError as fault:
            raise ValueError(f"released row {number}: {fault}") from None
    return nodes[-1]


def _node(row: object, above: Sequence[_Node]) -> _Node:
    """A released row, whose dependencies are among the nodes of the rows ``above``."""
    if not isinstance(row, dict):
        raise ValueError("it is no mapping")
    name, arguments, dependencies = row.get("operation"), row.get("arguments") or [], row.get("dependencies") or []
    if not isinstance(name, str) or name not in OPERATORS:
        raise ValueError(f"there is no operation {name!r}")
    if not isinstance(arguments, list) or not isinstance(dependencies, list):
        raise ValueError("its arguments and dependencies are not lists")
    if not all(type(index) is int and 0 <= index < len(above) for index in dependencies):
        raise ValueError(f"it depends on {dependencies}, which are not rows above it")
    inputs = tuple(above[index] for index in dependencies)
    operation = OPERATORS[name]
    relation_chosen = name in _OF_A_RELATION and inputs and inputs[0].operation == "RelationBetween"
    if not operation or relation_chosen:
        if len(inputs) != 1:
            raise ValueError(f"{name} takes one dependency")
        return inputs[0]
    if operation in QUANTIFIERS:
        arguments = [_condition(argument) for argument in arguments]
    elif operation == "Filter":  # one attribute may stand in a list
        arguments = [a[0] if isinstance(a, list) and len(a) == 1 else a for a in arguments]
    if operation in _RELATIONS and len(arguments) == 1 and isinstance(arguments[0], str):
        return _relation(operation, arguments[0], inputs)
    if operation == "ChooseRelation":
        arguments = [plain_name(a) if isinstance(a, str) else a for a in arguments]
    return _Node(operation, tuple(arguments), inputs)


def _condition(rows: object) -> tuple[Row, ...]:
    return tuple(_written(_Node("Exists", (), (_read(rows),)), []))


def _relation(operation: str, name: str, inputs: tuple[_Node, ...]) -> _Node:
    """A relation; a modifier becomes part of the relation it belongs to, where the subjects were found by that."""
    relation, mark, modifier = name.partition(MODIFIER)
    if mark and len(inputs) == 2:
        whole = _modified(inputs[0], operation, relation, modifier, inputs[1])
        if whole is not None:
            return whole
    return _Node(operation, (plain_name(name),), inputs)


def _modified(node: _Node, operation: str, relation: str, modifier: str, what: _Node) -> _Node | None:
    """``node`` with a modifier more at the last of its rows that is the relation; None if it has none."""
    if node.operation != operation:
        return None
    if node.arguments[0] == relation:
        return replace(node, arguments=(*node.arguments, modifier), inputs=(*node.inputs, what))
    inner = _modified(node.inputs[0], operation, relation, modifier, what) if node.inputs else None
    return inner and replace(node, inputs=(inner, *node.inputs[1:]))


def _written(node: _Node, rows: list[Row]) -> list[Row]:
    """``rows`` with those of ``node`` behind them."""
    _write(node, rows)
    return rows


def _write(node: _Node, rows: list[Row]) -> int:
    """Append the rows of ``node`` and give the last one's number. A row that several depend on is written for each.

    Of relations of one object all targets come first, then the object, then the relations.
    """
    links: list[_Node] = []
    while node.operation == "WithRelation" and node.inputs:
        links.insert(0, node)
        node = node.inputs[0]
    targets = [[_write(target, rows) for target in link.inputs[1:]] for link in links]
    found = [_write(one, rows) for one in node.inputs]
    rows.append(Row(node.operation, node.arguments, tuple(found)))
    for link, others in zip(links, targets, strict=True):
        rows.append(Row(link.operation, link.arguments, (len(rows) - 1, *others)))
    if len(rows) > _MOST_ROWS:
        raise ValueError(f"it has more than {_MOST_ROWS} rows")
    return len(rows) - 1
