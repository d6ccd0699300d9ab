"""Programs: their JSON, their printed form, and what the checker refuses."""

import json

import pytest
from hypothesis import given

from compvqa.covr.executor import RUN
from compvqa.covr.language import LANGUAGE, OPERATORS
from compvqa.covr.questions.references import condition_rows, rows
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from compvqa.programs.language import ProgramTypeError
from compvqa.programs.printed import listing, show
from compvqa.programs.rows import Row, anonymize, from_json, is_program, to_json, walk
from fixtures.subgraphs import subgraphs
from fixtures.table10 import ROWS


def book_on_wood_table():
    return make("book", None, (Edge("on", make("table", "wood")),))


def test_the_program_of_table_10():
    program = [
        *rows(book_on_wood_table()),
        Row("GroupByImages", (), (3,)),
        Row("KeepIfValuesCountEq", (2,), (4,)),
        Row("Count", (), (5,)),
    ]
    assert LANGUAGE.check(program) == "number"
    assert list(listing(program)) == ROWS
    assert show(program).splitlines()[:3] == [
        "Index  Operator             Arguments",
        '1      Find                 "table"',
        '2      Filter               ◆ 1, "wood"',
    ]


def test_every_operator_says_what_it_gives():
    meanings = [operator.meaning for operator in OPERATORS.values()]
    assert all(8 < len(meaning) < 100 for meaning in meanings)
    assert len(set(meanings)) == len(meanings)


def test_a_sub_program_is_printed_below_its_quantifier():
    program = [Row("Find", ("boy",)), Row("All", (condition_rows("happy", ()),), (0,))]
    assert show(program).splitlines()[2:] == [
        "2      All       ◆ 1, ◆ 2.3",
        "2.1    Scene",
        '2.2    Filter    ◆ 2.1, "happy"',
        "2.3    Exists    ◆ 2.2",
    ]


def test_relation_modifiers_are_arguments_with_their_objects_as_dependencies():
    g = make("man", None, (Edge("uncorking", make("bottle"), (Modifier("with", "corkscrew"),)),))
    assert rows(g)[-1] == Row("WithRelation", ("uncorking", "with"), (2, 0, 1))
    assert LANGUAGE.check(rows(g)) == "objects"


@given(subgraphs(), subgraphs())
def test_json_keeps_programs_and_their_types(g, condition):
    program = [*rows(g)]
    program.append(Row("Some", (condition_rows("red", condition.edges),), (len(program) - 1,)))
    assert from_json(to_json(program)) == program
    assert LANGUAGE.check(from_json(to_json(program))) == "truth value"
    assert json.loads(to_json(program))[0][0] == "Find"


@given(subgraphs())
def test_anonymous_programs_keep_structure_and_by_a_switch_numbers_but_no_names(g):
    program = [*rows(g), Row("GroupByImages", (), (len(rows(g)) - 1,))]
    program += [Row("KeepIfValuesCountGeq", (3,), (len(program) - 1,)), Row("Count", (), (len(program),))]
    program.append(Row("Some", (condition_rows("red", ()),), (0,)))
    for numbers, kept in ((False, set()), (True, {3})):
        hidden = from_json(anonymize(program, numbers))
        assert [(r.operation, r.dependencies) for r in hidden] == [(r.operation, r.dependencies) for r in program]
        assert [row.operation for row in walk(hidden)] == [row.operation for row in walk(program)]
        assert {a for row in walk(hidden) for a in row.arguments if not is_program(a)} == kept


@pytest.mark.parametrize(
    ("program", "row", "words"),
    [
        ([], 1, "no rows"),
        ([Row("Fly", ("cat",))], 1, "no operator 'Fly'"),
        ([Row("Find", ("cat",)), Row("Count", (), (1,))], 2, "not above it"),
        ([Row("Find", ("cat",)), Row("QueryName", (), (0,))], 2, "is objects, not object"),
        ([Row("Find", ())], 1, "takes 1 arguments, not 0"),
        ([Row("Find", ("cat",)), Row("Count", (), (0,)), Row("eq", ("3",), (1,))], 3, "takes a number"),
        ([Row("Find", ("cat",)), Row("Count", (), (0,)), Row("gt", (), (1, 0))], 3, "not number"),
        ([Row("Find", ("cat",)), Row("Filter", ("red",), ())], 2, "takes 1 dependencies, not 0"),
        ([Row("Find", ("cat",)), Row("All", ((Row("Scene"),),), (0,))], 2, "not a truth value"),
        ([Row("Find", ("cat",)), Row("All", ((Row("Exists", (), (0,)),),), (0,))], 2, "sub-program, row 1"),
        ([Row("Find", ("a",)), Row("AssertUnique", (), (0,)), Row("QueryName", (), (1,))], 3, "is objects, not object"),
        ([Row("Find", ("a",)), Row("ChooseRelation", ("on", "in"), (0,))], 2, "is objects, not relations"),
        ([Row("Find", ("a",)), Row("WithRelation", ("on", "with"), (0, 0))], 2, "takes 3 dependencies"),
    ],
)
def test_the_checker_names_the_row_at_fault(program, row, words):
    with pytest.raises(ProgramTypeError, match=words) as caught:
        LANGUAGE.check(program)
    assert caught.value.row == row


def test_every_operator_can_be_run():
    assert set(OPERATORS) == set(RUN)
