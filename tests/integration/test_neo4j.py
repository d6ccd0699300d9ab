"""The neo4j backend on a real Bolt server: the same answers as DuckDB's, and graphs that survive accidents."""

import csv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.subgraphs import shapes
from compvqa.covr.subgraphs.search import SearchSettings, find_candidates
from compvqa.covr.subgraphs.search.neo4j.bolt import connect
from compvqa.covr.subgraphs.search.neo4j.export import FILES, LIST, export
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded, drop, read_back
from compvqa.covr.subgraphs.search.neo4j.occurrences import write_occurrences
from compvqa.covr.subgraphs.search.neo4j.parts import NO_GROUP
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, OCCURRENCES, OVERLAP_COLUMNS, SEEDS, SUBGRAPHS
from compvqa.errors import InputError
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.scenes.tables import TABLES
from fixtures.searchable import searchable
from unit.covr.subgraphs import graph_oracle
from unit.covr.subgraphs.graph_store import NO_LISTS, OVERLAP, overlaps
from unit.covr.subgraphs.graph_worlds import worlds, write_scenes
from unit.covr.subgraphs.related_oracle import lay

pytestmark = [pytest.mark.xdist_group("neo4j"), pytest.mark.usefixtures("server")]
SMALL = {"scenes": 6, "objects": 5, "relations": 6, "modifiers": 2}


def split_of(scene_id: str) -> str:
    return "val" if scene_id.endswith(("3", "4")) else "train"


def keys_of(g) -> list[str]:
    return [slot.key for slot in shapes.slots(shapes.shape_of(g.json())[0]) if slot.key]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs=worlds(**SMALL), full=st.booleans(), data=st.data())
def test_both_backends_give_the_same_scenes(tmp_path_factory, graphs, full, data):
    enumerating = NO_LISTS.model_copy(update={"full_grammar": full})
    world = searchable(tmp_path_factory.mktemp("world"), graphs, split_of, enumerating)
    trees = sorted(tables.read(world.subgraphs, SUBGRAPHS)["tree"].to_pylist(), key=lambda tree: (-len(tree), tree))
    chosen = trees[:5] + data.draw(st.lists(st.sampled_from(trees), max_size=10))
    with world.open("duckdb") as duckdb, world.open("neo4j") as neo4j:
        for g in map(parse, chosen):
            for split in ("train", "val"):
                assert neo4j.containing(g, split) == duckdb.containing(g, split)
                for key in keys_of(g):
                    assert neo4j.replaced(g, key, split) == duckdb.replaced(g, key, split), (g, key)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs=worlds(**SMALL), full=st.booleans(), data=st.data())
def test_two_replaced_nodes_are_found_as_by_nested_loops(tmp_path_factory, graphs, full, data):
    world = searchable(tmp_path_factory.mktemp("world"), graphs, lambda _: "train")
    inside = {graph.scene_id: {g for g, _ in graph_oracle.trees(graph, full)} for graph in graphs}
    large = sorted({g for found in inside.values() for g in found if len(keys_of(g)) > 1}, key=lambda g: g.json())
    if not large:
        return
    with world.open("neo4j") as neo4j:
        for g in data.draw(st.lists(st.sampled_from(large), min_size=1, max_size=5)):
            keys = tuple(data.draw(st.permutations(keys_of(g)))[:2])
            laid = (
                (graph.scene_id, {change.key: change.found for change in found.changes})
                for graph in graphs
                for where in graph.objects
                for found in lay(graph, g, where, lambda changes: len(changes) <= 2)
            )
            expected = {(scene, *(way[key] for key in keys)) for scene, way in laid if set(way) == set(keys)}
            assert neo4j.replaced_both(g, keys, "train") == sorted(expected), (g, keys)


def erasing(*tools: str) -> SceneGraph:
    """A man erasing a cup with each of the tools."""
    things = ["man", "cup", *tools]
    objects = {str(i): Object(str(i), name) for i, name in enumerate(things)}
    modifiers = tuple(("with", str(i)) for i in range(2, len(things)))
    return SceneGraph("s:0", objects, (Relation("erasing", "0", "1", modifiers),))


@pytest.mark.parametrize(("tools", "there"), [(("rag", "rag"), True), (("rag", "sponge"), False), (("rag",), False)])
def test_two_equal_modifiers_need_two_objects(tmp_path, tools, there):
    world = searchable(tmp_path, [erasing(*tools)], split_of)
    both = make("man", None, (Edge("erasing", make("cup"), (Modifier("with", "rag"),) * 2),))
    with world.open("neo4j") as graph:
        assert graph.containing(both, "train") == ["s:0"] * there


def test_names_are_data_whatever_they_look_like(tmp_path):
    nasty = ["a'b", 'c"d', "`e`", "$graph", "}) DETACH DELETE n //", "é\u2028\\", "two\nlines", "x" * 10_000]
    objects = {str(i): Object(str(i), name, {name: None}) for i, name in enumerate(nasty)}
    relations = tuple(Relation(name, "0", str(i)) for i, name in enumerate(nasty) if i)
    world = searchable(tmp_path, [SceneGraph("s:'0\"", objects, relations)], split_of)
    with world.open("neo4j") as graph:
        for name in nasty[1:]:
            g = make(nasty[0], nasty[0], (Edge(name, make(name, name)),))
            assert graph.containing(g, "train") == ["s:'0\""]


def test_a_node_that_is_not_there_is_refused(tmp_path):
    world = searchable(tmp_path, [erasing("rag")], split_of)
    with world.open("neo4j") as graph, pytest.raises(InputError, match="has no node 3_relation"):
        graph.replaced(make("man", None, (Edge("erasing", make("cup")),)), "3_relation", "train")


def write_many(folder, count: int, noun: str = "man"):
    """Scene tables of so many scenes of two objects each, with boxes and groups."""
    things = {"0": Object("0", noun, {"red": "color", "odd": None}, (1.5, 2.0, 30.25, 0.1)), "1": Object("1", "cup")}
    relations = (Relation("on", "0", "1", (("with", "1"),)),)
    return write_scenes(folder, [SceneGraph(f"s:{i:03}", things, relations) for i in range(count)], split_of)


def whole(server, loaded, folder) -> bool:
    """Whether the server's graph has exactly the rows of the tables in ``folder``, and says so itself."""
    loaded.verify()
    rows = {schema.name: [] for schema in TABLES}
    for part in range(loaded.parts):
        for scene, objects, relations, modifiers in read_back(server, loaded.graph, part):
            rows["scenes"].append(scene)
            for *thing, attributes, groups in objects:
                rows["objects"].append([scene[0], *thing])
                named = zip(attributes, groups, strict=True)
                rows["attributes"] += [[scene[0], thing[0], name, None if g == NO_GROUP else g] for name, g in named]
            rows["relations"] += [[scene[0], number, a, b, name] for number, name, a, b in relations]
            rows["modifiers"] += [[scene[0], number, name, tool] for number, name, _, tool in modifiers]
    return all(
        rows[schema.name] == [list(row.values()) for row in tables.read(path, schema).to_pylist()]
        for schema in TABLES
        for path in [folder / f"{schema.name}.parquet"]
    )


def test_a_graph_comes_back_as_it_went_and_a_second_run_does_nothing(tmp_path):
    one, two = write_many(tmp_path / "one", 25), write_many(tmp_path / "two", 25, "dog")
    with connect(5) as server:
        first, second = Loaded(server, one, batch=10), Loaded(server, two, batch=4)
        assert (first.new, second.new) == (3, 7)
        assert whole(server, first, one) and whole(server, second, two)
        again = Loaded(server, one, batch=7)
        assert again.new == 0 and whole(server, again, one)
        assert drop(server, one) == 3 and drop(server, one) == 0
        assert whole(server, second, two)
        assert Loaded(server, one, batch=7).new == 4


def test_two_runs_at_once_load_each_part_once(tmp_path):
    folder = write_many(tmp_path / "scenes", 60)

    def load(_) -> int:
        with connect(20) as server:
            return Loaded(server, folder, batch=3).new

    with connect(5) as server:  # the schema is there before they begin
        Loaded(server, write_many(tmp_path / "other", 1, "cat"), batch=1)
        with ThreadPoolExecutor(3) as pool:
            assert sum(pool.map(load, range(3))) == 20
        assert whole(server, Loaded(server, folder, batch=3), folder)


def test_threads_whose_writes_collide_each_learn_whether_theirs_was_the_first():
    """Twelve write much the same names, half of them backwards: they refuse each other, and lock each other out."""
    first, write = [], "UNWIND $names AS name CREATE (s:Race {name: name, round: $round})"

    def work(server, mine) -> None:
        for i in mine:
            names = list(range(i % 7, i % 7 + 30))
            first.extend([i // 12] * server.write(write, names=names[:: -1 if i % 2 else 1], round=i // 12))

    with connect(20) as server:
        server.define("CREATE CONSTRAINT race IF NOT EXISTS FOR (s:Race) REQUIRE (s.name, s.round) IS UNIQUE")
        # one that waits forever for another's answer must not keep the tests from ending
        threads = [Thread(target=work, args=(server, range(n, 1200, 4)), daemon=True) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(first) == list(range(100))
        server.write("MATCH (s:Race) DELETE s")


def test_a_search_in_a_graph_that_was_changed_on_the_server_is_refused(tmp_path):
    world = searchable(tmp_path, [erasing("rag"), replace(erasing("sponge"), scene_id="s:1")], split_of)
    tables.write(tmp_path / "overlap.parquet", OVERLAP, [])
    with connect(5) as server:
        graph = Loaded(server, world.folder, batch=1).graph
        server.write("MATCH (o:Object {graph: $graph, name: 'sponge'}) SET o.name = 'mop'", graph=graph)
        out = [(tmp_path / "seeds.parquet", tmp_path / "candidates.parquet")]
        # the object, and the man erasing a cup with it
        told = f"graph {graph} .* 2 occurrences .* on the server alone and 2 in the tables alone; .*--drop"
        with pytest.raises(InputError, match=told):
            find_candidates(world.graph, tmp_path / "overlap.parquet", out, SearchSettings(backend="neo4j"), 1)
        drop(server, world.folder)


def test_a_scene_that_the_enumeration_left_out_is_not_asked_for(tmp_path):
    enumerating = NO_LISTS.model_copy(update={"max_per_scene": 4})
    graphs = [erasing("rag", "sponge"), SceneGraph("s:1", {"7": Object("7", "dog", {"red": None})})]
    world = searchable(tmp_path, graphs, split_of, enumerating)
    with connect(5) as server:
        loaded = Loaded(server, world.folder, batch=10)
        assert write_occurrences(world.graph, loaded, tmp_path / "found.parquet", SearchSettings()) == 2
    assert set(tables.read(tmp_path / "found.parquet", OCCURRENCES)["scene_id"].to_pylist()) == {"s:1"}


def test_a_graph_that_was_changed_on_the_server_is_refused(tmp_path):
    folder = write_many(tmp_path / "scenes", 12, "bird")
    with connect(5) as server:
        loaded = Loaded(server, folder, batch=5)
        scene = "(:Scene {graph: $graph, scene_id: 's:007'})"
        change = f"MATCH {scene}-[:CONTAINS]->(o:Object {{object_id: '0'}}) SET o.name = 'plane'"
        server.write(change, graph=loaded.graph)
        with pytest.raises(InputError, match="does not hold the objects of .* load-neo4j --drop"):
            loaded.verify()
        drop(server, folder)
        assert Loaded(server, folder, batch=5).verify() == 3


def test_a_graph_imported_from_csv_is_taken_for_loaded(tmp_path):
    """The files are read here as neo4j-admin's manual says that it reads them."""
    graphs = [erasing("rag", 'a "good", sponge'), SceneGraph("s:1", {"7": Object("7", "dog")})]
    folder = write_scenes(tmp_path / "scenes", graphs, split_of)
    export(folder, tmp_path / "csv", batch=1)
    with connect(5) as server:
        for label, (kind, *_) in FILES.items():
            for properties, ids, ends in imported(tmp_path / "csv" / f"{label.lower()}.csv"):
                if kind == "N":
                    text = f"CREATE (n:{label}) SET n = $properties"
                    server.write(text, properties=properties | {"at": ids[0]})
                else:
                    a, b = (end.partition("(")[2].rstrip(")") for end in ends)
                    text = f"MATCH (a:{a} {{at: $a}}) MATCH (b:{b} {{at: $b}}) CREATE (a)-[r:{label}]->(b)"
                    server.write(f"{text} SET r = $properties", properties=properties, a=ids[0], b=ids[1])
        loaded = Loaded(server, folder, batch=1000)
        assert loaded.new == 0 and whole(server, loaded, folder)


def imported(path):
    """The rows of a CSV file: properties by name, the ids, and the columns that hold them."""
    types = {"string": str, "long": int, "double": float, "string[]": lambda text: text.split(LIST)}
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    places = [i for i, column in enumerate(header) if column.startswith(":")]
    for row in rows:
        named = ((column.split(":"), value) for column, value in zip(header, row, strict=True) if value)
        properties = {name: types[kind](value) for (name, kind), value in named if name}
        yield properties, [int(row[i]) for i in places], [header[i] for i in places]


CAPS = {"seeds_per_subgraph": 2, "per_key": 2, "considered": 3, "group_size": 4}


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs=worlds(**SMALL), pairs=overlaps(), full=st.booleans(), caps=st.sampled_from([CAPS, {}]))
def test_both_backends_find_the_same_candidates(tmp_path_factory, graphs, pairs, full, caps):
    enumerating = NO_LISTS.model_copy(update={"full_grammar": full})
    world = searchable(tmp_path_factory.mktemp("world"), graphs, split_of, enumerating)
    rows = [dict(zip(OVERLAP_COLUMNS, (*pair, m), strict=True)) | {"model": "test"} for pair, m in pairs.items()]
    tables.write(world.folder / "overlap.parquet", OVERLAP, rows)
    made = []
    for options in ({"backend": "duckdb"}, {"backend": "neo4j", "neo4j": {"batch": 2}}):
        out = [(world.folder / f"seeds{i}.parquet", world.folder / f"candidates{i}.parquet") for i in range(2)]
        judged = world.folder / "overlap.parquet"
        find_candidates(world.graph, judged, out, SearchSettings(**options, **caps), 3)
        made.append([(tables.read(seeds, SEEDS), tables.read(candidates, CANDIDATES)) for seeds, candidates in out])
    assert made[0] == made[1]
