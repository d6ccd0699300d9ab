"""Seeds and their related scenes: what is reported of them, caps, shards and refusals."""

import pyarrow as pa
import pytest

from compvqa import tables
from compvqa.covr.subgraphs import search
from compvqa.covr.subgraphs.search import CandidateSettings
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, Subgraph, make
from compvqa.covr.subgraphs.tables import CANDIDATES, OCCURRENCES, SEEDS
from compvqa.errors import InputError
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.seeds import text_key
from compvqa.tables import Schema
from unit.covr.subgraphs.graph_store import Store


def pair_scene(number: int, noun: str, relation: str, other: str, attribute: str | None = None) -> SceneGraph:
    attributes = {attribute: None} if attribute else {}
    things = {"0": Object("0", noun, attributes), "1": Object("1", other)}
    return SceneGraph(f"s:{number:03}", things, (Relation(relation, "0", "1"),))


EXCLUSIVE = {("noun", x, y): 0.9 for x in ("man", "dog", "cup", "hat") for y in ("man", "dog", "cup", "hat") if x != y}


def rows_of(store: Store, tree: Subgraph, **options) -> list[dict]:
    seeds, candidates, _ = store.search(**options)
    chosen = {row["seed"] for row in seeds if row["tree"] == tree.json()}
    return [row for row in candidates if row["seed"] in chosen]


def test_the_start_scene_is_the_first_positive_and_ranks_run_from_zero(tmp_path):
    graphs = [pair_scene(i, "man", "on", "cup") for i in (0, 1, 2)] + [pair_scene(4, "dog", "on", "cup")]
    store = Store(tmp_path, graphs, EXCLUSIVE)
    seeds, candidates, _ = store.search()
    start = {row["seed"]: row["scene_id"] for row in seeds}
    for row in candidates:
        if row["key"] == "pos":
            assert (row["rank"] == 0) == (row["scene_id"] == start[row["seed"]])
    rows = rows_of(store, make("man", None, (Edge("on", make("cup")),)))
    ranks = {}
    for row in rows:
        ranks.setdefault((row["seed"], row["key"]), []).append(row["rank"])
    assert all(sorted(of_key) == list(range(len(of_key))) for of_key in ranks.values())
    replaced = [row for row in rows if row["key"] == "0_name"]
    assert {(row["scene_id"], *row["nodes"], *row["names"]) for row in replaced} == {("s:004", 0, "dog")}


@pytest.mark.parametrize(("m", "kept"), [(0.2, False), (0.9, True), (None, True)])
def test_a_scene_with_an_overlapping_reading_is_no_distractor(tmp_path, m, kept):
    things = {"0": Object("0", "person"), "1": Object("1", "cup"), "2": Object("2", "dog")}
    both = SceneGraph("s:001", things, (Relation("on", "0", "1"), Relation("on", "2", "1")))
    overlap = EXCLUSIVE | ({("noun", "man", "person"): m} if m is not None else {})
    store = Store(tmp_path, [pair_scene(0, "man", "on", "cup"), both], overlap)
    rows = rows_of(store, make("man", None, (Edge("on", make("cup")),)))
    assert ("0_name" in {row["key"] for row in rows}) == kept


def test_relations_overlap_in_one_direction(tmp_path):
    overlap = {("relation", "near", "riding"): 0.1, ("relation", "riding", "near"): 0.9}
    graphs = [pair_scene(0, "man", "near", "dog"), pair_scene(1, "man", "riding", "dog")]
    store = Store(tmp_path, graphs, overlap)
    assert not [r for r in rows_of(store, make("man", None, (Edge("near", make("dog")),))) if r["key"] == "1_relation"]
    assert [r for r in rows_of(store, make("man", None, (Edge("riding", make("dog")),))) if r["key"] == "1_relation"]


def test_a_replaced_name_may_turn_the_order_of_branches(tmp_path):
    def two(number, first, second):
        things = {"0": Object("0", "man"), "1": Object("1", "hat"), "2": Object("2", "cup")}
        return SceneGraph(f"s:{number:03}", things, (Relation(first, "0", "1"), Relation(second, "0", "2")))

    store = Store(
        tmp_path,
        [two(0, "wearing", "holding"), two(1, "wearing", "zipping")],
        {("relation", "holding", "zipping"): 1.0},
    )
    tree = make("man", None, (Edge("holding", make("cup")), Edge("wearing", make("hat"))))
    rows = [row for row in rows_of(store, tree) if row["key"] == "1_relation"]
    assert [(row["scene_id"], row["names"]) for row in rows] == [("s:001", ["zipping"])]


def many(count: int = 60) -> list[SceneGraph]:
    nouns, others = ("man", "dog", "cup"), ("hat", "cup", "dog")
    return [pair_scene(i, nouns[i % 3], "on", others[i // 3 % 3], "red" if i % 2 else None) for i in range(count)]


def test_caps_hold_and_are_counted(tmp_path):
    store = Store(tmp_path, many(), EXCLUSIVE)
    caps = {"seeds_per_subgraph": 3, "seeds_per_scene": 2, "per_key": 4, "considered": 5, "group_size": 12}
    seeds, candidates, counts = store.search(**caps)
    dropped = [
        counts[f"dropped: over {cap}"] for cap in ("3 start scenes of a subgraph", "2 subgraphs of a start scene")
    ]
    assert counts["in"] - sum(dropped) == counts["out"] == len(seeds) and all(dropped)
    starts = [(row["subgraph_key"], row["split"]) for row in seeds]
    assert max(map(starts.count, starts)) == 3
    scenes = [row["scene_id"] for row in seeds]
    assert max(map(scenes.count, scenes)) == 2
    per_key = [(row["seed"], row["key"]) for row in candidates]
    assert max(map(per_key.count, per_key)) == 4
    assert all(row["seed"] == text_key(f"{row['subgraph_key']} {row['scene_id']}") for row in seeds)


def test_shards_threads_and_partitions_change_nothing(tmp_path):
    caps = {"seeds_per_subgraph": 3, "per_key": 4, "considered": 5, "group_size": 12}
    graphs = many()
    one = Store(tmp_path / "one", graphs, EXCLUSIVE)
    seeds, candidates, _ = one.search(**caps)
    cut = Store(tmp_path / "cut", list(reversed(graphs)), EXCLUSIVE, shards=3)
    for shards, threads, partition in [(1, 2, 3), (4, 1, 1000), (3, 2, 10), (4 * len(seeds), 1, 10)]:  # many are empty
        again = cut.search(shards, **caps, threads=threads, partition=partition)
        assert again[:2] == (seeds, candidates)
    assert one.search(seed=1, **caps)[1] != candidates


def test_shapes_that_are_in_no_scene_change_nothing(tmp_path):
    caps = {"seeds_per_subgraph": 3, "per_key": 4, "considered": 5, "group_size": 12}
    store = Store(tmp_path, many(), EXCLUSIVE)
    alone = store.search(**caps)
    things = {str(i): Object(str(i), noun, {"old": None}) for i, noun in enumerate(("man", "dog", "cup"))}
    larger = SceneGraph("s:900", things, (Relation("on", "0", "1"), Relation("near", "0", "2", (("with", "1"),))))
    found, occurring = Store(tmp_path / "larger", [larger], EXCLUSIVE, full=True).files[0]
    tables.write(occurring, OCCURRENCES, [])
    store.files.append((found, occurring))
    assert store.search(**caps) == alone


def test_a_scene_without_objects_has_nothing_to_search(tmp_path):
    assert Store(tmp_path, [SceneGraph("s:000", {}, ())], EXCLUSIVE).search()[:2] == ([], [])


def test_of_a_scene_with_several_exclusive_names_one_is_taken(tmp_path):
    things = {str(i): Object(str(i), noun) for i, noun in enumerate(("dog", "cup", "hat"))}
    several = SceneGraph("s:001", things, tuple(Relation("on", str(i), str((i + 1) % 3)) for i in range(3)))
    more = SceneGraph("s:002", things, (Relation("on", "0", "1"), Relation("on", "2", "1")))
    store = Store(tmp_path, [pair_scene(0, "man", "on", "cup"), several, more], EXCLUSIVE)
    tree = make("man", None, (Edge("on", make("cup")),))
    rows = [row for row in rows_of(store, tree, per_key=1_000) if row["key"] == "0_name"]
    assert sorted(row["scene_id"] for row in rows) == ["s:001", "s:002"]
    assert all(row["names"] in (["dog"], ["hat"]) for row in rows)


def test_a_seed_and_its_candidates_are_in_the_shard_of_its_subgraph(tmp_path):
    store = Store(tmp_path, many(12), EXCLUSIVE)
    store.search(shards=5)
    for shard in range(5):
        rows = tables.read(tmp_path / f"seeds{shard}.parquet", SEEDS).to_pylist()
        found = tables.read(tmp_path / f"candidates{shard}.parquet", CANDIDATES).to_pylist()
        assert {row["subgraph_key"] % 5 for row in rows} == {shard}
        assert {row["seed"] for row in rows} == {row["seed"] for row in found}


def test_modifiers_objects_are_replaced_and_modifiers_names_never(tmp_path):
    def erasing(number, modifier, tool):
        things = {"0": Object("0", "man"), "1": Object("1", "cup"), "2": Object("2", tool)}
        return SceneGraph(f"s:{number:03}", things, (Relation("erasing", "0", "1", ((modifier, "2"),)),))

    graphs = [erasing(0, "with", "hat"), erasing(1, "with", "dog"), erasing(2, "into", "hat")]
    store = Store(tmp_path, graphs, EXCLUSIVE)
    tree = make("man", None, (Edge("erasing", make("cup"), (Modifier("with", "hat"),)),))
    negatives = {(row["key"], row["scene_id"]) for row in rows_of(store, tree) if row["key"] != "pos"}
    assert negatives == {("4_name", "s:001")}


def test_one_question_at_a_time(tmp_path):
    store = Store(tmp_path, many(18), {})
    g = make("man", None, (Edge("on", make("cup")),))
    settings = CandidateSettings()
    with search.find("duckdb").load(store.graph, tmp_path / "graph", settings) as graph:
        assert graph.containing(g, "train") == ["s:012"]
        assert graph.containing(g, "val") == ["s:003"]
        assert graph.replaced(g, "2_name", "val") == []
        assert ("s:000", "hat") in graph.replaced(g, "2_name", "train")
        with pytest.raises(InputError, match="3_relation"):
            graph.replaced(g, "3_relation", "train")


def test_an_unknown_backend_or_a_wrong_overlap_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="graph backend 'oracle'"):
        search.find("oracle")
    store = Store(tmp_path, many(3), {})
    tables.write(store.overlap, Schema("x", pa.schema([("kind", pa.string())]), ("kind",)), [])
    with pytest.raises(InputError, match="lacks the column x"):
        store.search()
