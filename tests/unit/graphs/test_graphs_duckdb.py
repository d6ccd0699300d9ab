"""Seeds and their related scenes: the set-wise search against nested loops."""

from itertools import permutations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.errors import InputError
from compvqa.graphs import backend
from compvqa.graphs.backend import CandidateSettings, find_candidates
from compvqa.graphs.enumerate import SubgraphSettings, enumerate_scenes
from compvqa.graphs.subgraph import Edge, Modifier, Subgraph, make, parse
from compvqa.graphs.tables import CANDIDATES, OVERLAP_COLUMNS, SEEDS
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.seeds import shard_of, stable_hash
from compvqa.tables import Schema
from unit.graphs import graph_oracle
from unit.graphs.graph_worlds import ATTRIBUTE_NAMES, NOUNS, RELATION_NAMES, worlds, write_scenes

OVERLAP = Schema(
    "overlap",
    pa.schema(
        [
            ("kind", pa.string()),
            ("x", pa.string()),
            ("y", pa.string()),
            ("m", pa.float32()),
            ("model", pa.string()),
        ]
    ),
    ("kind", "x", "y"),
)
EVERYTHING = {"seeds_per_subgraph": 10**6, "per_key": 10**6, "considered": 10**6, "group_size": 10**6}
NO_LISTS = SubgraphSettings(ignore_nouns=(), ignore_relations=(), dull_nouns=(), min_box_area=0, max_per_scene=10**9)
Pairs = dict[tuple[str, str, str], float]


def split_of(scene_id: str) -> str:
    return "val" if scene_id.endswith(("3", "7")) else "train"


class Store:
    """Scenes with their subgraphs and an overlap table on disk, to search in."""

    def __init__(self, folder, graphs: list[SceneGraph], overlap: Pairs, shards: int = 1, full: bool = False):
        self.folder = folder
        self.scenes = write_scenes(folder / "scenes", graphs, split_of)
        self.files = [(folder / f"subgraphs{i}.parquet", folder / f"occurrences{i}.parquet") for i in range(shards)]
        enumerating = NO_LISTS.model_copy(update={"full_grammar": full})
        for shard, files in enumerate(self.files):
            enumerate_scenes(self.scenes, shard, shards, *files, enumerating)
        rows = [dict(zip(OVERLAP_COLUMNS, (*pair, m), strict=True)) | {"model": "test"} for pair, m in overlap.items()]
        self.overlap = folder / "overlap.parquet"
        tables.write(self.overlap, OVERLAP, rows)

    def search(self, shards: int = 1, seed: int = 0, **options):
        """Rows of seeds and of candidates, of all shards, and their counts."""
        seeds, candidates, counts = [], [], []
        subgraphs, occurrences = map(list, zip(*self.files, strict=True))
        for shard in range(shards):
            out = self.folder / f"seeds{shard}.parquet", self.folder / f"candidates{shard}.parquet"
            settings = CandidateSettings(**options)
            counts.append(
                find_candidates(self.scenes, subgraphs, occurrences, self.overlap, shard, shards, *out, settings, seed)
            )
            seeds += tables.read(out[0], SEEDS).to_pylist()
            candidates += tables.read(out[1], CANDIDATES).to_pylist()
        return sorted(seeds, key=lambda r: r["seed"]), sorted(candidates, key=str), counts


def fits(g: Subgraph, h: Subgraph, accept, at: int = 0, kinds=("noun", "attribute", "relation")) -> list[tuple]:
    """Each way to lay g on h, branch on branch, as the tuple of (key, kind, g's name, h's name) that
    differ."""
    if (g.attribute is None) != (h.attribute is None) or len(g.edges) != len(h.edges):
        return []
    own = [(f"{at}_name", "noun", g.name, h.name)]
    if g.attribute is not None:
        own.append((f"{at}_attr", "attribute", g.attribute, h.attribute))
    ways = [tuple(d for d in own if d[2] != d[3])]
    ways = [way for way in ways if all(accept(*d) for d in way)]
    if not g.edges:
        return ways
    result = []
    numbers = [at + number for number, _ in g.numbered_edges()]
    for order in permutations(h.edges):
        partial = ways
        for number, edge, other in zip(numbers, g.edges, order, strict=True):
            partial = [way + more for way in partial for more in fit_edges(number, edge, other, accept)]
        result += partial
    return result


def fit_edges(number: int, edge: Edge, other: Edge, accept) -> list[tuple]:
    if len(edge.modifiers) != len(other.modifiers):
        return []
    difference = (f"{number}_relation", "relation", edge.name, other.name)
    own = () if edge.name == other.name else (difference,)
    if not all(accept(*d) for d in own):
        return []
    ways = [own + below for below in fits(edge.target, other.target, accept, number + 1)]
    result = []
    for order in permutations(other.modifiers):
        extra, possible = (), True
        for place, (mine, theirs) in enumerate(zip(edge.modifiers, order, strict=True)):
            node = number + 1 + edge.target.size + 2 * place + 1
            change = (f"{node}_name", "noun", mine.noun, theirs.noun)
            if mine.name != theirs.name or (mine.noun != theirs.noun and not accept(*change)):
                possible = False
            elif mine.noun != theirs.noun:
                extra += (change,)
        if possible:
            result += [way + extra for way in ways]
    return result


def expected(graphs: list[SceneGraph], overlap: Pairs, full: bool):
    """For each subgraph and start scene: the scenes by key, each with the names that may be reported."""
    trees = {graph.scene_id: graph_oracle.trees(graph, full) for graph in graphs}
    inside = {scene: {h for h, _ in found} for scene, found in trees.items()}
    roots = {
        scene: {h: {ids[0] for k, ids in found if k == h} for h in inside[scene]} for scene, found in trees.items()
    }
    seedable = {
        (graph.scene_id, h)
        for graph in graphs
        for (h, _), found in trees[graph.scene_id].items()
        if any(graph_oracle.usable(graph, tree, NO_LISTS) for tree in found) and (h.edges or h.attribute)
    }

    def overlaps(_, kind, x, y):
        return overlap.get((kind, x, y), 1.0) <= 0.5

    result = {}
    for start, g in seedable:
        keys: dict[str, dict[str, set[str]]] = {}
        for scene, others in inside.items():
            if split_of(scene) != split_of(start):
                continue
            if g in others:
                keys.setdefault("pos", {})[scene] = set()
                if len(roots[start][g]) >= 2 and len(roots[scene][g]) == 1:
                    keys.setdefault("no_mult", {})[scene] = set()
            if any(fits(g, h, overlaps) for h in others):
                continue
            for h in others:
                for way in fits(g, h, lambda *_: True):
                    if len(way) == 1 and overlap.get(way[0][1:], 0.0) > 0.5:
                        keys.setdefault(way[0][0], {}).setdefault(scene, set()).add(way[0][3])
        result[start, g] = len(roots[start][g]), keys
    return result


@st.composite
def overlaps(draw) -> Pairs:
    """Some pairs of names judged, in either direction by itself, others not at all."""
    vocabulary = {"noun": NOUNS, "attribute": ATTRIBUTE_NAMES, "relation": RELATION_NAMES}
    pairs = [(kind, x, y) for kind, names in vocabulary.items() for x in names for y in names if x != y]
    return {pair: m for pair in pairs if (m := draw(st.sampled_from([None, 0.1, 0.5, 0.9, 0.9]))) is not None}


@settings(max_examples=12)
@given(graphs=worlds(scenes=8, objects=4, relations=4, modifiers=1), overlap=overlaps(), full=st.booleans())
def test_finds_what_nested_loops_find(tmp_path_factory, graphs, overlap, full):
    store = Store(tmp_path_factory.mktemp("world"), graphs, overlap, full=full)
    seeds, candidates, _ = store.search(**EVERYTHING, partition=100)
    reference = expected(graphs, overlap, full)
    by_seed = {row["seed"]: (row["scene_id"], parse(row["tree"])) for row in seeds}
    assert {by_seed[row["seed"]]: row["n_instances"] for row in seeds} == {k: n for k, (n, _) in reference.items()}
    found = {}
    for row in candidates:
        found.setdefault(by_seed[row["seed"]], {}).setdefault(row["key"], {})[row["scene_id"]] = row["names"]
    for seed, (_, keys) in reference.items():
        got = found.get(seed, {})
        assert {key: set(scenes) for key, scenes in got.items()} == {key: set(scenes) for key, scenes in keys.items()}
        for key, scenes in got.items():
            for scene, names in scenes.items():
                assert names == [] if key in ("pos", "no_mult") else names[0] in keys[key][scene]


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
    caps = {"seeds_per_subgraph": 3, "per_key": 4, "considered": 5, "group_size": 12}
    seeds, candidates, counts = store.search(**caps)
    assert counts[0]["in"] - counts[0]["dropped: over 3 start scenes of a subgraph"] == counts[0]["out"] == len(seeds)
    starts = [(row["subgraph_key"], row["split"]) for row in seeds]
    assert max(map(starts.count, starts)) == 3
    per_key = [(row["seed"], row["key"]) for row in candidates]
    assert max(map(per_key.count, per_key)) == 4
    assert all(row["seed"] == stable_hash("seed", row["subgraph_key"], row["scene_id"]) for row in seeds)


def test_shards_threads_and_partitions_change_nothing(tmp_path):
    caps = {"seeds_per_subgraph": 3, "per_key": 4, "considered": 5, "group_size": 12}
    graphs = many()
    one = Store(tmp_path / "one", graphs, EXCLUSIVE)
    seeds, candidates, _ = one.search(**caps)
    cut = Store(tmp_path / "cut", list(reversed(graphs)), EXCLUSIVE, shards=3)
    for shards, threads, partition in [(1, 2, 3), (4, 1, 1000), (3, 2, 10)]:
        again = cut.search(shards, **caps, threads=threads, partition=partition)
        assert again[:2] == (seeds, candidates)
    assert one.search(seed=1, **caps)[1] != candidates


def test_a_seed_is_in_the_shard_of_its_subgraph(tmp_path):
    store = Store(tmp_path, many(12), EXCLUSIVE)
    store.search(shards=2)
    for shard in range(2):
        rows = tables.read(tmp_path / f"seeds{shard}.parquet", SEEDS).to_pylist()
        assert {shard_of(row["subgraph_key"], 2) for row in rows} == {shard}


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
    subgraphs, occurrences = map(list, zip(*store.files, strict=True))
    g = make("man", None, (Edge("on", make("cup")),))
    settings = CandidateSettings()
    with backend.find("duckdb").load(store.scenes, subgraphs, occurrences, tmp_path / "graph", settings) as graph:
        assert graph.containing(g, "train") == ["s:012"]
        assert graph.containing(g, "val") == ["s:003"]
        assert graph.replaced(g, "2_name", "val") == []
        assert ("s:000", "hat") in graph.replaced(g, "2_name", "train")
        with pytest.raises(InputError, match="3_relation"):
            graph.replaced(g, "3_relation", "train")


def test_an_unknown_backend_or_a_wrong_overlap_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="graph backend 'oracle'"):
        backend.find("oracle")
    store = Store(tmp_path, many(3), {})
    tables.write(store.overlap, Schema("x", pa.schema([("kind", pa.string())]), ("kind",)), [])
    with pytest.raises(InputError, match="lacks the column x"):
        store.search()
