"""Programs in prefix notation (Polish notation): a list of tokens, each before its inputs, by which a sequence model
tells a program, and the tree that such a list means.

A token is a row's operator with its arguments, such as ``filter_color[red]``. What several rows take is written, and
run, once for each of them, as in the released code of IEP (Johnson et al., 2017b).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from compvqa.errors import InputError
from compvqa.programs.rows import Program, Row, is_program

T = TypeVar("T")


class Tree(NamedTuple, Generic[T]):
    """A token and the trees of its inputs."""

    token: T
    inputs: tuple[Tree[T], ...] = ()


def token_of(row: Row) -> str:
    """The token of a row; InputError where it has a sub-program, which has no place in a list of tokens."""
    if any(map(is_program, row.arguments)):
        raise InputError(
            f"the operator {row.operation} takes a sub-program, which prefix notation has no place for: choose a model "
            "that reads no programs."
        )
    return f"{row.operation}[{','.join(map(str, row.arguments))}]" if row.arguments else row.operation


def tree_of(program: Program) -> Tree[str]:
    """The tree of a program whose last row gives the answer; InputError where it has no row, or no tokens."""
    if not program:
        raise InputError("a question has no program: choose a model that reads none.")

    def below(number: int) -> Tree[str]:
        row = program[number]
        return Tree(token_of(row), tuple(below(taken) for taken in row.dependencies))

    return below(len(program) - 1)


def nodes(tree: Tree[T]) -> Iterator[Tree[T]]:
    """The tree and all trees in it, each before its inputs: their tokens are its prefix notation."""
    yield tree
    for taken in tree.inputs:
        yield from nodes(taken)


def parsed(tokens: Iterable[T], inputs: Callable[[T], int], missing: T) -> Tree[T]:
    """The tree that ``tokens`` mean, where ``inputs`` tells how many each takes.

    Any list means one: an input that is missing is ``missing``, which takes none, and what comes after the first whole
    tree is left out.
    """
    left = iter(tokens)

    def read() -> Tree[T]:
        token = next(left, missing)
        return Tree(token, tuple(read() for _ in range(inputs(token))))

    return read()
