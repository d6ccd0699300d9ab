"""Programs in print: a table of their rows, as COVR's Table 10 has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compvqa.programs.rows import Program, is_program


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
        parts += [f'"{a}"' if isinstance(a, str) else f"{a}" for a in row.arguments if not is_program(a)]
        inner = [argument for argument in row.arguments if is_program(argument)]
        parts += [f"◆ {index}.{len(sub)}" for sub in inner]
        yield index, row.operation, ", ".join(parts)
        for sub in inner:
            yield from listing(sub, f"{index}.")
