"""Subgraphs and their occurrences: the set-wise enumeration against nested loops."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.subgraphs import shapes
from compvqa.covr.subgraphs.enumerate import SubgraphSettings, enumerate_scenes
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make, parse
from compvqa.covr.subgraphs.tables import OCCURRENCES, SUBGRAPHS
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.seeds import shard_of
from unit.covr.subgraphs import graph_oracle
from unit.covr.subgraphs.graph_worlds import worlds, write_scenes

QUERY_SIDE = {"ignore_nouns": ("cup",), "dull_nouns": ("hat",)}


def enumerate_all(folder, graphs, shards=1, **options):
    """Subgraphs by key, the rows of occurrences, and counts of all shards."""
    scenes = write_scenes(folder / "scenes", graphs)
    subgraphs, occurrences, counts = {}, [], []
    for shard in range(shards):
        files = folder / f"subgraphs{shard}.parquet", folder / f"occurrences{shard}.parquet"
        counts.append(enumerate_scenes(scenes, shard, shards, *files, SubgraphSettings(**options)))
        subgraphs |= {row["subgraph_key"]: row for row in tables.read(files[0], SUBGRAPHS).to_pylist()}
        occurrences += tables.read(files[1], OCCURRENCES).to_pylist()
    return subgraphs, occurrences, counts


@settings(max_examples=15)
@given(graphs=worlds(), full=st.booleans(), no_boxes=st.sampled_from(["accept", "refuse"]))
def test_finds_what_nested_loops_find(tmp_path_factory, graphs, full, no_boxes):
    options = QUERY_SIDE | {"full_grammar": full, "no_boxes": no_boxes, "max_per_scene": 10**9}
    subgraphs, occurrences, _ = enumerate_all(tmp_path_factory.mktemp("world"), graphs, **options)
    expected = {
        (graph.scene_id, key, ids): any(graph_oracle.usable(graph, tree, SubgraphSettings(**options)) for tree in trees)
        for graph in graphs
        for (key, ids), trees in graph_oracle.trees(graph, full).items()
    }
    found = {
        (row["scene_id"], parse(subgraphs[row["subgraph_key"]]["tree"]), tuple(row["object_ids"])): row["seed"]
        for row in occurrences
    }
    assert len(found) == len(occurrences)
    assert found == expected
    for row in subgraphs.values():
        graph = parse(row["tree"])
        sizes = graph.key, graph.size, graph.depth, graph.n_attributes
        assert sizes == (row["subgraph_key"], row["size"], row["depth"], row["n_attributes"])
        assert (row["shape"], row["names"]) == shapes.spelled(graph)
        assert row["text"]


def wearer(*relations: Relation) -> SceneGraph:
    """A man with a red hat, a coat and a cup."""
    things = [
        Object("1", "man"),
        Object("2", "hat", {"red": "color"}),
        Object("3", "coat"),
        Object("4", "cup"),
    ]
    return SceneGraph("s:1", {thing.object_id: thing for thing in things}, relations)


def keys_of(folder, graph, seeds=False, **options) -> set[int]:
    _, occurrences, _ = enumerate_all(folder, [graph], **options)
    return {row["subgraph_key"] for row in occurrences if row["seed"] or not seeds}


def test_the_key_does_not_depend_on_the_order_of_branches(tmp_path):
    hat, coat = Relation("wearing", "1", "2"), Relation("holding", "1", "3")
    v_shape = make("man", None, (Edge("wearing", make("hat", "red")), Edge("holding", make("coat"))))
    turned = make("man", None, (Edge("holding", make("coat")), Edge("wearing", make("hat", "red"))))
    assert v_shape.key == turned.key
    assert v_shape.key in keys_of(tmp_path / "a", wearer(hat, coat))
    assert keys_of(tmp_path / "a", wearer(hat, coat)) == keys_of(tmp_path / "b", wearer(coat, hat))


def test_branches_of_a_v_end_in_different_objects(tmp_path):
    both = make("man", None, (Edge("holding", make("hat")), Edge("wearing", make("hat"))))
    graph = wearer(Relation("holding", "1", "2"), Relation("wearing", "1", "2"))
    assert both.key not in keys_of(tmp_path, graph)


def test_a_seed_has_all_modifiers_and_the_index_each_subset(tmp_path):
    graph = wearer(Relation("putting", "1", "2", (("on", "3"), ("into", "4"))))

    def putting(*modifiers):
        return make("man", None, (Edge("putting", make("hat"), tuple(Modifier(*m) for m in modifiers)),)).key

    subsets = {
        putting(),
        putting(("on", "coat")),
        putting(("into", "cup")),
        putting(("on", "coat"), ("into", "cup")),
    }
    whole = putting(("into", "cup"), ("on", "coat"))
    assert subsets <= keys_of(tmp_path, graph)
    assert subsets & keys_of(tmp_path, graph, seeds=True) == {whole}


def test_shards_hold_whole_scenes_and_together_all(tmp_path):
    graphs = [SceneGraph(f"s:{i}", wearer().objects, (Relation("wearing", "1", "2"),)) for i in range(20)]
    _, one, _ = enumerate_all(tmp_path / "one", graphs)
    _, three, counts = enumerate_all(tmp_path / "three", graphs, shards=3)
    assert sorted(map(str, one)) == sorted(map(str, three))
    assert [c["in"] for c in counts] == [sum(shard_of(g.scene_id, 3) == i for g in graphs) for i in range(3)]


def test_a_scene_with_too_many_subgraphs_is_left_out_and_counted(tmp_path):
    things = {str(i): Object(str(i), f"thing {i}") for i in range(30)}
    crowded = SceneGraph("s:crowd", things, tuple(Relation("near", "0", str(i)) for i in range(1, 30)))
    _, occurrences, counts = enumerate_all(tmp_path, [crowded, wearer()], max_per_scene=100)
    assert {row["scene_id"] for row in occurrences} == {"s:1"}
    assert counts[0]["dropped: more than 100 occurrences in a scene"] == 1


@pytest.mark.parametrize("shards", [1, 2])
def test_a_folder_of_no_scenes_gives_empty_tables(tmp_path, shards):
    subgraphs, occurrences, _ = enumerate_all(tmp_path, [], shards)
    assert not subgraphs and not occurrences


def test_refused_scenes_without_boxes_are_counted_and_are_no_seeds(tmp_path):
    _, occurrences, counts = enumerate_all(tmp_path, [wearer()], no_boxes="refuse")
    assert occurrences and not any(row["seed"] for row in occurrences)
    assert counts[0]["not seeds: scene without boxes"] == 1
