"""The canonical form of subgraphs, their numbering and sizes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.subgraphs.subgraph import Edge, Modifier, Subgraph, make, parse

names = st.sampled_from(["man", "dog", "cup", 'a "b"', "é"])
attributes = st.none() | st.sampled_from(["red", "tall"])
modifiers = st.lists(st.builds(Modifier, names, names), max_size=2).map(tuple)


def subgraphs(depth: int = 2):
    if depth == 0:
        return st.builds(make, names, attributes)
    edges = st.lists(st.builds(Edge, names, subgraphs(depth - 1), modifiers), max_size=2).map(tuple)
    return st.builds(make, names, attributes, edges)


UNCORKING = make(
    "man",
    "standing",
    (Edge("uncorking", make("wine bottle"), (Modifier("with", "corkscrew"),)),),
)


def shuffled(node: Subgraph) -> Subgraph:
    edges = tuple(Edge(e.name, shuffled(e.target), e.modifiers[::-1]) for e in reversed(node.edges))
    return make(node.name, node.attribute, edges)


@given(subgraphs())
def test_the_key_does_not_depend_on_the_order_of_branches(g):
    assert shuffled(g) == g and shuffled(g).key == g.key


@given(subgraphs())
def test_json_round_trip(g):
    assert parse(g.json()) == g


def test_size_depth_and_numbers_of_figure_3():
    assert (UNCORKING.size, UNCORKING.depth, UNCORKING.n_attributes) == (5, 4, 1)
    assert [(number, node.name) for number, node in UNCORKING.objects()] == [(0, "man"), (2, "wine bottle")]
    assert json.loads(UNCORKING.json()) == [
        "man", "standing", [["uncorking", ["wine bottle", None, []], [["with", "corkscrew"]]]]
    ]  # fmt: skip


@given(subgraphs())
def test_numbers_are_distinct_and_below_the_size(g):
    numbers = [number for number, _ in g.objects()]
    assert len(set(numbers)) == len(numbers) and max(numbers) < g.size
