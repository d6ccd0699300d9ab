"""Where rows stand when a program is drawn: properties of any program, and what a reader sees of a few."""

from itertools import combinations

from hypothesis import given

from compvqa.programs.graph import Edge, graph
from compvqa.programs.printed import listing
from compvqa.programs.rows import Row
from fixtures.clevr_scenes import chain, drawn_programs


def places(program):
    return {node.index: (node.level, node.lane) for node in graph(program).nodes}


@given(drawn_programs())
def test_no_two_rows_meet_and_each_stands_below_what_it_takes(program):
    drawn = graph(program)
    at = places(program)
    assert list(at) == [index for index, *_ in listing(program)]
    for one, other in combinations(drawn.nodes, 2):
        assert one.level != other.level or abs(one.lane - other.lane) >= 1
    assert all(at[edge.start][0] < at[edge.end][0] for edge in drawn.edges)
    told = {(row, above) for row, line in enumerate(program, 1) for above in line.dependencies}
    assert {(int(edge.end), int(edge.start) - 1) for edge in drawn.edges} == told
    assert {level for level, _ in at.values()} == set(range(drawn.levels))
    assert all(0 <= lane <= drawn.lanes - 1 for _, lane in at.values())


def test_a_chain_is_one_line():
    program = chain(("filter_color", "red"), ("unique",), ("query_size",))
    assert places(program) == {"1": (0, 0), "2": (1, 0), "3": (2, 0), "4": (3, 0)}


def test_branches_stand_side_by_side_and_end_on_the_level_above_where_they_meet():
    program = [Row("scene"), Row("scene"), Row("filter_size", ("small",), (1,)), Row("union", (), (0, 2))]
    assert places(program) == {"1": (1, 0), "2": (0, 1), "3": (1, 1), "4": (2, 0.5)}


def test_a_row_that_two_others_take_stands_once():
    program = [Row("scene"), Row("count", (), (0,)), Row("count", (), (0,)), Row("equal_integer", (), (1, 2))]
    assert places(program) == {"1": (0, 0), "2": (1, 0), "3": (1, 1), "4": (2, 0.5)}


def test_a_sub_program_is_a_branch_above_the_row_that_holds_it():
    program = [Row("Find", ("boy",)), Row("All", ((Row("Scene"), Row("Exists", (), (0,))),), (0,))]
    drawn = graph(program)
    assert set(drawn.edges) == {Edge("1", "2"), Edge("2.1", "2.2"), Edge("2.2", "2", inner=True)}
    assert places(program) == {"1": (1, 0), "2": (2, 0.5), "2.1": (0, 1), "2.2": (1, 1)}


def test_a_program_without_rows_fills_nothing():
    assert graph([]).levels == graph([]).lanes == 0
