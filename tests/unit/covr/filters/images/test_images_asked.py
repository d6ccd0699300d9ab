"""What the classifier is asked: each pair once, and nothing that no filter asks."""

import pytest

from compvqa import tables
from compvqa.covr.filters.images.asked import ASKED, TREES, ask_candidates, ask_pairs
from compvqa.covr.subgraphs.keys import kinds_of
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.store import StoreSettings
from compvqa.covr.subgraphs.subgraph import make, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from unit.covr.filters.images.classifier_worlds import ClassifierWorld


@pytest.mark.parametrize("tried", [1, 3, 30])
def test_simple_subgraphs_of_seeds_are_asked_of_their_first_differing_candidates(tmp_path, tried):
    world = ClassifierWorld(tmp_path)
    world.store.search()
    out, trees = tmp_path / "asked.parquet", tmp_path / "trees.parquet"
    number = ask_candidates(world.seeds, world.candidates, tried, out, trees, StoreSettings())
    graphs = {row["seed"]: parse(row["tree"]) for row in tables.read(world.seeds, SEEDS).to_pylist()}
    expected = {
        (row["scene_id"], part.key)
        for row in tables.read(world.candidates, CANDIDATES).to_pylist()
        if kinds_of(row["key"]) and row["rank"] < tried
        for part in simple_subgraphs(graphs[row["seed"]])
    }
    found = [tuple(row.values()) for row in tables.read(out, ASKED).to_pylist()]
    assert found == sorted(expected) and number == len(found)
    named = {row["subgraph_key"]: parse(row["tree"]) for row in tables.read(trees, TREES).to_pylist()}
    assert {key: g.key for key, g in named.items()} == {key: key for _, key in found}


def test_pairs_are_asked_once(tmp_path):
    dog, cat = make("dog"), make("cat", "old")
    pairs = [("s:2", dog), ("s:1", cat), ("s:2", dog), ("s:1", dog)]
    out, trees = tmp_path / "asked.parquet", tmp_path / "trees.parquet"
    assert ask_pairs(iter(pairs), out, trees, StoreSettings()) == 3
    expected = sorted({("s:2", dog.key), ("s:1", cat.key), ("s:1", dog.key)})
    assert [tuple(row.values()) for row in tables.read(out, ASKED).to_pylist()] == expected


def test_nothing_may_be_asked(tmp_path):
    assert ask_pairs([], tmp_path / "asked.parquet", tmp_path / "trees.parquet", StoreSettings()) == 0


@pytest.mark.parametrize(
    ("key", "kinds"),
    [
        ("pos", set()),
        ("no_mult", set()),
        ("0_attr", {"attribute"}),
        ("2_name", {"object"}),
        ("1_relation_neg_attr_root", {"relation", "attribute"}),
        ("0_name_neg_object_2", {"object"}),
    ],
)
def test_a_key_tells_the_kinds_of_nodes_that_differ(key, kinds):
    assert kinds_of(key) == kinds
