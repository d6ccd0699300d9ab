"""A run in print: each row of a program with what it gave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.executor import Images, Relations, trace
from compvqa.covr.questions.references import condition_rows, rows
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.covr.trace import show_trace, show_value, traced
from compvqa.programs.printed import show
from compvqa.programs.rows import Row
from compvqa.scenes.graph import Object, Relation, SceneGraph
from fixtures.table10 import ROWS


def library(scene_id, *materials):
    """A scene with a table of each material, and a book on each."""
    tables = {f"t{i}": Object(f"t{i}", "table", {material: "material"}) for i, material in enumerate(materials)}
    books = {f"b{i}": Object(f"b{i}", "book") for i in range(len(materials))}
    return SceneGraph(scene_id, tables | books, tuple(Relation("on", f"b{i}", f"t{i}") for i in range(len(materials))))


SCENES = [library("A", "wood", "wood"), library("B", "metal"), library("C", "wood", "metal")]
BOOKS = rows(make("book", None, (Edge("on", make("table", "wood")),)))


def test_each_row_of_table_10_shows_its_value():
    program = [*BOOKS, Row("GroupByImages", (), (3,)), Row("KeepIfValuesCountEq", (2,), (4,)), Row("Count", (), (5,))]
    values = [
        "A: table t0, table t1; B: table t0; C: table t0, table t1",
        "A: table t0, table t1; C: table t0",
        "A: book b0, book b1; B: book b0; C: book b0, book b1",
        "A: book b0, book b1; C: book b0",
        "A: book b0, book b1; C: book b0",
        "A: book b0, book b1",
        "1",
    ]
    assert traced(program, SCENES) == [(*row, value) for row, value in zip(ROWS, values, strict=True)]
    assert show_trace(program, SCENES).splitlines()[-2:] == [
        "6      KeepIfValuesCountEq  ◆ 5, 2          A: book b0, book b1",
        "7      Count                ◆ 6             1",
    ]


def test_the_row_without_an_answer_says_why_and_ends_the_values():
    program = [*BOOKS, Row("Unique", (), (3,)), Row("QueryName", (), (4,))]
    assert [line.split("  ")[-1].strip() for line in show_trace(program, SCENES).splitlines()[-2:]] == [
        "no answer: not unique",
        "◆ 5",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1, "b0"), "B: book b0"),
        (Images([0, 2]), "A, C"),
        (Relations(["on", "near"]), "on, near"),
        ([[], [], []], "nothing"),
        (Images(), "nothing"),
        (True, "true"),
        (3, "3"),
        ("red", "red"),
    ],
)
def test_values_of_all_types(value, text):
    assert show_value(value, SCENES) == text


@given(st.sampled_from(["wood", "metal", "glass"]), st.sampled_from(["All", "Some", "None"]))
def test_the_trace_is_the_program_with_values(material, quantifier):
    program = [Row("Find", ("table",)), Row(quantifier, (condition_rows(material, ()),), (0,))]
    plain, traced = show(program).splitlines(), show_trace(program, SCENES).splitlines()
    assert len(plain) == len(traced)
    assert all(with_value.startswith(line) for line, with_value in zip(plain, traced, strict=True))
    value = trace(program, SCENES)[-1]
    assert traced[2].endswith(str(value).lower())
    assert traced[3:] == plain[3:]
