"""Simple subgraphs: what a classifier of images may be asked about."""

from hypothesis import given

from compvqa.covr.subgraphs.simple import closest_subgraphs, simple_subgraphs
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from fixtures.subgraphs import subgraphs


def is_simple(g):
    n_objects = 1 + sum(1 + len(edge.modifiers) for edge in g.edges)
    leaf = not any(edge.target.edges for edge in g.edges)
    return n_objects <= 2 and len(g.edges) <= 1 and g.n_attributes <= 1 and leaf


@given(subgraphs())
def test_the_closest_are_those_simple_ones_of_the_root_that_no_other_says_more_than(g):
    simple, closest = simple_subgraphs(g), closest_subgraphs(g)
    assert closest and set(closest) <= set(simple) and all(map(is_simple, simple))
    for one in closest:
        assert one.name == g.name
        more = [other for other in closest if other != one and one in simple_subgraphs(other)]
        assert not more
    said = {part for one in closest for part in simple_subgraphs(one)}
    assert make(g.name) in said
    assert g.attribute is None or make(g.name, g.attribute) in said
    for edge in g.edges:
        assert make(g.name, None, (Edge(edge.name, make(edge.target.name)),)) in said


def test_closest_subgraphs_of_a_dog():
    cat = make("cat", "old", (Edge("on", make("table")),))
    g = make("dog", "red", (Edge("near", cat, (Modifier("with", "ball"),)),))
    found = {one.json() for one in closest_subgraphs(g)}
    near = (Edge("near", make("cat")),)
    assert found == {
        make("dog", "red", near).json(),
        make("dog", None, (Edge("near", make("cat", "old")),)).json(),
    }
    assert closest_subgraphs(make("dog", "red")) == [make("dog", "red")]
