"""A language of programs: its operators, what each takes and gives, and the check of a program's types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from compvqa.programs.rows import Program, Row

# What every language knows: truth values, which sub-programs give, and numbers that are written down in a row.
TRUTH, SIZE, PROGRAM = "truth value", "size", "sub-program"


class ProgramTypeError(ValueError):
    """A program is ill-typed; ``row`` is the row at fault, counted from 1, as printed."""

    def __init__(self, row: int, message: str):
        super().__init__(f"row {row}: {message}")
        self.row = row


@dataclass(frozen=True)
class Operator:
    """An operator's signature, and in words what it gives.

    ``inputs`` lists, for each dependency, the types it may have; with ``alike`` all must have the same. ``arguments``
    are the kinds of its arguments: :data:`SIZE`, :data:`PROGRAM`, or what a name names. ``rest`` is the type of any
    number of further dependencies, each of which goes with one further argument of kind ``rest_argument``.
    ``written`` is the kind of a further argument that may stand in the place of the last dependency, and the type
    that it counts as.
    """

    name: str
    inputs: tuple[tuple[str, ...], ...]
    arguments: tuple[str, ...]
    output: str
    meaning: str
    rest: str | None = None
    rest_argument: str | None = None
    alike: bool = False
    written: tuple[str, str] | None = None


@dataclass(frozen=True)
class Language:
    """The operators that programs of one name are made of.

    ``resampled``: what intervals of scores draw anew, where the config does not say: questions, or the images that they
    are about, where many questions are about one image.
    """

    name: str
    all_operators: tuple[Operator, ...]
    resampled: Literal["questions", "images"] = "questions"

    @cached_property
    def operators(self) -> Mapping[str, Operator]:
        """The operators by name."""
        return {operator.name: operator for operator in self.all_operators}

    def check(self, program: Program) -> str:
        """The type of the program's value; raises :class:`ProgramTypeError` that names the row at fault."""
        if not program:
            raise ProgramTypeError(1, "the program has no rows")
        types: list[str] = []
        for position, row in enumerate(program):
            try:
                types.append(self._row_type(position, row, types))
            except ProgramTypeError:
                raise
            except ValueError as fault:
                raise ProgramTypeError(position + 1, str(fault)) from None
        return types[-1]

    def _row_type(self, position: int, row: Row, types: list[str]) -> str:
        operator = self.operators.get(row.operation)
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
        if operator.alike and len(set(given)) > 1:
            raise ValueError(f"{row.operation} compares {' with '.join(given)}")
        if len(row.arguments) != len(kinds):
            raise ValueError(f"{row.operation} takes {len(kinds)} arguments, not {len(row.arguments)}")
        for kind, argument in zip(kinds, row.arguments, strict=True):
            self._check_argument(operator.name, kind, argument)
        return operator.output

    def _check_argument(self, operation: str, kind: str, argument: object) -> None:
        if kind == SIZE:
            if type(argument) is not int or argument < 0:
                raise ValueError(f"{operation} takes a number, not {argument!r}")
        elif kind == PROGRAM:
            if not isinstance(argument, tuple) or not all(isinstance(row, Row) for row in argument):
                raise ValueError(f"{operation} takes a sub-program, not {argument!r}")
            try:
                output = self.check(argument)
            except ProgramTypeError as fault:
                raise ValueError(f"in {operation}'s sub-program, {fault}") from None
            if output != TRUTH:
                raise ValueError(f"{operation}'s sub-program gives {output}, not a truth value")
        elif not isinstance(argument, str) or not argument:
            raise ValueError(f"{operation} takes the name of a {kind}, not {argument!r}")


def _signature(operator: Operator, row: Row) -> tuple[list[Iterable[str]], list[str]]:
    """The dependencies' types and the arguments' kinds that the row should have."""
    inputs: list[Iterable[str]] = list(operator.inputs)
    kinds = list(operator.arguments)
    if operator.written and len(row.dependencies) == len(inputs) - 1:
        kind, counts_as = operator.written
        left: list[Iterable[str]] = [(counts_as,)] * (len(inputs) - 1) if operator.alike else inputs[:-1]
        return left, [*kinds, kind]
    if operator.rest is not None:
        extra = max(len(row.arguments) - len(kinds), 0)
        inputs += [(operator.rest,)] * extra
        kinds += [operator.rest_argument or ""] * extra
    return inputs, kinds
