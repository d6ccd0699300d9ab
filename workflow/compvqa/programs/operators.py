"""Programs: lists of rows over the operators of COVR's Table 11, their types, JSON and printed form.

A row has an operator, arguments (names, numbers, or the sub-program of a quantifier) and dependencies: the
rows whose values it takes. Rows are counted from 0 in Python and JSON, and from 1 in print, as in Table 10.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

PLACEHOLDER = "_"

# what a row may give
OBJECTS, OBJECT, IMAGES, GROUPS, RELATIONS = "objects", "object", "images", "groups", "relations"
NUMBER, TRUTH, NAME = "number", "truth value", "name"
VALUES = (OBJECTS, OBJECT, IMAGES, GROUPS, RELATIONS, NUMBER, TRUTH, NAME)
# what an argument may be
NOUN, ATTRIBUTE, GROUP, RELATION, MODIFIER, SIZE, PROGRAM = (
    "noun",
    "attribute",
    "attribute group",
    "relation",
    "relation modifier",
    "size",
    "sub-program",
)


@dataclass(frozen=True)
class Row:
    """One row of a program."""

    operation: str
    arguments: tuple = ()
    dependencies: tuple[int, ...] = ()


Program = Sequence[Row]


class ProgramTypeError(ValueError):
    """A program is ill-typed; ``row`` is the row at fault, counted from 1, as printed."""

    def __init__(self, row: int, message: str):
        super().__init__(f"row {row}: {message}")
        self.row = row


@dataclass(frozen=True)
class Operator:
    """An operator's signature, and in words what it gives.

    ``inputs`` lists, for each dependency, the types it may have. ``rest`` is the type of any number of
    further dependencies, each of which goes with one further argument of kind ``rest_argument``.
    """

    name: str
    inputs: tuple[tuple[str, ...], ...]
    arguments: tuple[str, ...]
    output: str
    meaning: str
    rest: str | None = None
    rest_argument: str | None = None


_KEEP = {"Eq": "exactly", "Gt": "more than", "Lt": "fewer than", "Geq": "at least", "Leq": "at most"}
_COMPARE = {"gt": "greater than", "lt": "less than", "geq": "at least", "leq": "at most"}


def _operators() -> Iterator[Operator]:
    objects, single, many = (OBJECTS,), (OBJECT,), (OBJECTS, IMAGES, GROUPS)
    yield Operator("Scene", (), (), OBJECTS, "every object of all scenes; in a sub-program the one under test")
    yield Operator("Find", (), (NOUN,), OBJECTS, "the objects that have this name")
    yield Operator("Filter", (objects,), (ATTRIBUTE,), OBJECTS, "those objects that have the attribute")
    for name, whose in (("WithRelation", "first"), ("WithRelationObject", "second")):
        meaning = f"the {whose} objects of pairs in one scene that stand in the relation, with all its modifiers"
        yield Operator(name, (objects, objects), (RELATION,), OBJECTS, meaning, rest=OBJECTS, rest_argument=MODIFIER)
    yield Operator("Unique", (objects,), (), OBJECT, "the one object; no answer if there are none or several")
    yield Operator("AssertUnique", (objects,), (), OBJECTS, "the objects as they are; no answer if they are not one")
    meaning = "the relations from the object to the others, with all these modifiers"
    yield Operator("RelationBetween", (single, objects), (), RELATIONS, meaning, rest=OBJECTS, rest_argument=MODIFIER)
    yield Operator("UniqueImages", (objects,), (), IMAGES, "the images that hold any of the objects, each once")
    yield Operator("GroupByImages", (objects,), (), GROUPS, "the objects in one group for each image that holds any")
    for name, size in _KEEP.items():
        meaning = f"the groups of {size} so many objects"
        yield Operator(f"KeepIfValuesCount{name}", ((GROUPS,),), (SIZE,), GROUPS, meaning)
    yield Operator("Count", (many,), (), NUMBER, "how many objects, images or groups there are")
    yield Operator("Exists", (many,), (), TRUTH, "whether there is at least one object, image or group")
    for name, how in (("And", "both are"), ("Or", "one or both are")):
        yield Operator(name, ((TRUTH,), (TRUTH,)), (), TRUTH, f"whether {how} true")
    for name, how in _COMPARE.items():
        yield Operator(name, ((NUMBER,), (NUMBER,)), (), TRUTH, f"whether the first number is {how} the second")
    yield Operator("eq", ((NUMBER, NAME), (NUMBER, NAME)), (), TRUTH, "whether two numbers, or two names, are the same")
    for name, how in (("All", "every"), ("Some", "any"), ("None", "none")):
        yield Operator(name, (objects,), (PROGRAM,), TRUTH, f"whether the sub-program is true of {how} of the objects")
    yield Operator("AllSame", (objects,), (GROUP,), TRUTH, "whether all objects have the same attribute of the group")
    yield Operator("QueryName", (single,), (), NAME, "what the object is called")
    yield Operator("QueryAttribute", (single,), (GROUP,), NAME, "the object's attribute of the group")
    yield Operator("VerifyAttribute", (single,), (ATTRIBUTE,), TRUTH, "whether the object has the attribute")
    yield Operator("ChooseName", (single,), (NOUN, NOUN), NAME, "which of two names the object has")
    yield Operator("ChooseAttribute", (single,), (ATTRIBUTE, ATTRIBUTE), NAME, "which of two attributes the object has")
    yield Operator("ChooseRelation", ((RELATIONS,),), (RELATION, RELATION), NAME, "which of two relations is there")


OPERATORS = {operator.name: operator for operator in _operators()}
COMPARISONS = frozenset({"eq", "gt", "lt", "geq", "leq"})
QUANTIFIERS = frozenset({"All", "Some", "None"})


def check(program: Program) -> str:
    """The type of the program's value; raises :class:`ProgramTypeError` that names the row at fault."""
    if not program:
        raise ProgramTypeError(1, "the program has no rows")
    types: list[str] = []
    for position, row in enumerate(program):
        try:
            types.append(_row_type(position, row, types))
        except ProgramTypeError:
            raise
        except ValueError as fault:
            raise ProgramTypeError(position + 1, str(fault)) from None
    return types[-1]


def _row_type(position: int, row: Row, types: list[str]) -> str:
    operator = OPERATORS.get(row.operation)
    if operator is None:
        raise ValueError(f"there is no operator {row.operation!r}")
    given = []
    for index in row.dependencies:
        if type(index) is not int or not 0 <= index < position:
            raise ValueError(f"{row.operation} depends on row {index!r}, which is not above it")
        given.append(types[index])
    inputs, kinds = _signature(operator, row)
    if len(given) != len(inputs):
        raise ValueError(f"{row.operation} takes {len(inputs)} dependencies, not {len(given)}")
    for number, (found, allowed) in enumerate(zip(given, inputs, strict=True), 1):
        if found not in allowed:
            raise ValueError(f"{row.operation}'s dependency {number} is {found}, not {' or '.join(allowed)}")
    if operator.name == "eq" and len(given) == 2 and given[0] != given[1]:
        raise ValueError(f"eq compares {given[0]} with {given[1]}")
    if len(row.arguments) != len(kinds):
        raise ValueError(f"{row.operation} takes {len(kinds)} arguments, not {len(row.arguments)}")
    for kind, argument in zip(kinds, row.arguments, strict=True):
        _check_argument(operator.name, kind, argument)
    return operator.output


def _signature(operator: Operator, row: Row) -> tuple[list[tuple[str, ...]], list[str]]:
    """The dependencies' types and the arguments' kinds that the row should have."""
    inputs, kinds = list(operator.inputs), list(operator.arguments)
    if operator.name in COMPARISONS and len(row.dependencies) == 1:
        return [(NUMBER,)], [SIZE]  # the second number may be written down instead of computed
    if operator.rest is not None:
        extra = max(len(row.arguments) - len(kinds), 0)
        inputs += [(operator.rest,)] * extra
        kinds += [operator.rest_argument] * extra
    return inputs, kinds


def _check_argument(operation: str, kind: str, argument: object) -> None:
    if kind == SIZE:
        if type(argument) is not int or argument < 0:
            raise ValueError(f"{operation} takes a number, not {argument!r}")
    elif kind == PROGRAM:
        if not _is_program(argument) or not all(isinstance(row, Row) for row in argument):
            raise ValueError(f"{operation} takes a sub-program, not {argument!r}")
        try:
            output = check(argument)
        except ProgramTypeError as fault:
            raise ValueError(f"in {operation}'s sub-program, {fault}") from None
        if output != TRUTH:
            raise ValueError(f"{operation}'s sub-program gives {output}, not a truth value")
    elif not isinstance(argument, str) or not argument:
        raise ValueError(f"{operation} takes the name of a {kind}, not {argument!r}")


def _is_program(argument: object) -> bool:
    return isinstance(argument, tuple)


def to_json(program: Program) -> str:
    """The program as JSON: ``[["Find", ["table"], []], …]``; a sub-program is such a list as an argument."""
    return json.dumps(_to_data(program), ensure_ascii=False, separators=(",", ":"))


def _to_data(program: Program) -> list:
    return [
        [row.operation, [_to_data(a) if _is_program(a) else a for a in row.arguments], row.dependencies]
        for row in program
    ]


def from_json(text: str) -> list[Row]:
    """The program that :func:`to_json` wrote."""
    return list(_from_data(json.loads(text)))


def _from_data(data: list) -> tuple[Row, ...]:
    return tuple(
        Row(
            operation,
            tuple(_from_data(a) if isinstance(a, list) else a for a in arguments),
            tuple(dependencies),
        )
        for operation, arguments, dependencies in data
    )


def anonymize(program: Program) -> str:
    """The program's JSON with each noun, attribute, group, relation and modifier replaced by one placeholder.

    Numbers and operators stay: programs with equal results need the same reasoning (COVR, section 3.3).
    """
    return to_json(_anonymous(program))


def _anonymous(program: Program) -> tuple[Row, ...]:
    return tuple(
        Row(
            row.operation,
            tuple(_anonymous(a) if _is_program(a) else PLACEHOLDER if isinstance(a, str) else a for a in row.arguments),
            row.dependencies,
        )
        for row in program
    )


def walk(program: Program) -> Iterator[Row]:
    """All rows, those of sub-programs after the row that holds them."""
    for row in program:
        yield row
        for argument in row.arguments:
            if _is_program(argument):
                yield from walk(argument)


def show(program: Program) -> str:
    """The program in the form of Table 10: index, operator, arguments; ◆ 3 is the value of row 3.

    A sub-program's rows are counted apart and set in below the row that holds it, as ``2.1``, ``2.2``, ….
    """
    return table(("Index", "Operator", "Arguments"), listing(program))


def table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    """Lines of text in columns as wide as they need."""
    lines = [head, *lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def listing(program: Program, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Index, operator and arguments of each row in print; ``prefix`` is the index of the row above and a dot."""
    for position, row in enumerate(program, 1):
        index = f"{prefix}{position}"
        parts = [f"◆ {prefix}{dependency + 1}" for dependency in row.dependencies]
        parts += [f'"{a}"' if isinstance(a, str) else f"{a}" for a in row.arguments if not _is_program(a)]
        inner = [argument for argument in row.arguments if _is_program(argument)]
        parts += [f"◆ {index}.{len(sub)}" for sub in inner]
        yield index, row.operation, ", ".join(parts)
        for sub in inner:
            yield from listing(sub, f"{index}.")
