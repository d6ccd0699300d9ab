"""What a program says of one object: the nouns and attributes that describe it together."""

from __future__ import annotations

from collections.abc import Iterator

from compvqa.programs.rows import Program, Row, is_program

Words = frozenset[str]
NOTHING: Words = frozenset()
SAME = ("Unique", "AssertUnique", "GroupByImages")  # give the objects that they take, and so KeepIf…
ASKED = ("QueryName", "QueryAttribute")
OFFERED = ("ChooseName", "ChooseAttribute", "VerifyAttribute")


def descriptions(program: Program, answer: str) -> set[Words]:
    """The words of each description in the program; what is asked or offered for an object, answers among it, describes
    it too. The one object that a quantifier's condition is about is described by the quantifier's scope."""
    return set(_described(program, answer, NOTHING))


def _described(program: Program, answer: str, under_test: Words) -> Iterator[Words]:
    found: list[Words] = []
    for row in program:
        taken = [found[place] for place in row.dependencies]
        found.append(_of(row, taken, under_test))
        yield found[-1]
        if row.operation in ASKED:
            yield taken[0] | {answer}
        if row.operation in OFFERED:
            yield from (taken[0] | {word} for word in row.arguments)
        for argument in row.arguments:
            if is_program(argument):
                yield from _described(argument, answer, taken[0])


def _of(row: Row, taken: list[Words], under_test: Words) -> Words:
    """What describes the objects that a row gives; nothing where it gives none."""
    match row.operation:
        case "Scene":
            return under_test
        case "Find":
            return frozenset(row.arguments)
        case "Filter":
            return taken[0] | {*row.arguments}
        case "WithRelation":
            return taken[0]
        case "WithRelationObject":
            return taken[1]
        case name if name in SAME or name.startswith("KeepIf"):
            return taken[0]
    return NOTHING
