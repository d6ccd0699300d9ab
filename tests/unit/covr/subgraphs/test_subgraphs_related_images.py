"""The related scenes of seeds: the set-wise search against nested loops over objects, key by key.

``COMPVQA_WORLDS=100`` tries many more worlds than the default.
"""

import os
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa.covr.subgraphs.subgraph import parse
from unit.covr.subgraphs import graph_oracle
from unit.covr.subgraphs.graph_store import EVERYTHING, NO_LISTS, Store, drawn_overlap, overlaps, split_of
from unit.covr.subgraphs.graph_worlds import drawn_world, worlds
from unit.covr.subgraphs.related_compare import FAMILIES, SEARCHED, differences
from unit.covr.subgraphs.related_oracle import World, instances

WORLDS = int(os.environ.get("COMPVQA_WORLDS", "8"))  # searches that hypothesis draws; 10 times as many drawn worlds
AT_LEAST = 30  # rows of each kind of key
ONCE = pytest.mark.xdist_group("drawn-worlds")  # one process, so that they are searched once


@settings(max_examples=WORLDS)
@given(graphs=worlds(scenes=8, objects=4, relations=4, modifiers=1), overlap=overlaps(), full=st.booleans())
def test_finds_what_nested_loops_find(tmp_path_factory, graphs, overlap, full):
    store = Store(tmp_path_factory.mktemp("world"), graphs, overlap, full=full)
    seeds, candidates, _ = store.search(**EVERYTHING, partition=100)
    expected = {}
    for graph in graphs:
        for (g, ids), trees in graph_oracle.trees(graph, full).items():
            roots, usable = expected.setdefault((graph.scene_id, g), (set(), []))
            roots.add(ids[0])
            usable.extend(graph_oracle.usable(graph, tree, NO_LISTS) for tree in trees)
    n_instances = {at: len(roots) for at, (roots, usable) in expected.items() if any(usable)}
    n_instances = {(scene, g): n for (scene, g), n in n_instances.items() if g.edges or g.attribute}
    assert {(row["scene_id"], parse(row["tree"])): row["n_instances"] for row in seeds} == n_instances
    wrong, _ = differences(World(graphs, split_of, overlap), seeds, candidates)
    assert [wrong[kind] for family in SEARCHED for kind in FAMILIES[family] if kind in wrong] == []


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The differences and the numbers of rows in many drawn worlds of both grammars."""
    wrong, rows = {}, Counter()
    for full in (False, True):
        numbers = range(10 * WORLDS)[full::2]
        graphs = [graph for number in numbers for graph in drawn_world(number)]
        overlap = {pair: m for number in numbers for pair, m in drawn_overlap(number).items()}
        store = Store(tmp_path_factory.mktemp("worlds"), graphs, overlap, full=full)
        seeds, candidates, _ = store.search(**EVERYTHING)
        more, counts = differences(World(graphs, split_of, overlap), seeds, candidates)
        rows += counts
        for kind, cases in more.items():
            wrong.setdefault(kind, []).extend(cases)
    return wrong, rows


@ONCE
@pytest.mark.parametrize(
    "family",
    [
        pytest.param(f, marks=() if f in SEARCHED else pytest.mark.xfail(strict=True, reason="not searched"))
        for f in FAMILIES
    ],
)
def test_finds_each_kind_of_key_in_many_worlds(compared, family):
    wrong, rows = compared
    assert [wrong[kind][:1] for kind in FAMILIES[family] if kind in wrong] == []
    assert min(rows[kind] for kind in FAMILIES[family]) >= AT_LEAST


@ONCE
def test_the_drawn_worlds_have_every_kind_of_key_and_no_other(compared):
    _, rows = compared
    assert set(rows) == {kind for kinds in FAMILIES.values() for kind in kinds}
    assert min(rows.values()) >= AT_LEAST, rows


@pytest.mark.parametrize("number", range(10))
def test_the_nested_loops_find_what_the_grammar_allows(number):
    """Laid without a change, each tree of a scene is found at exactly the roots that the grammar gives it."""
    for graph in drawn_world(number):
        roots = {}
        for g, ids in graph_oracle.trees(graph, full=True):
            roots.setdefault(g, set()).add(ids[0])
        for other in drawn_world(number)[:3]:
            for g, _ in graph_oracle.trees(other, full=True):
                assert set(instances(graph, g)) == roots.get(g, set())
