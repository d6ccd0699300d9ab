"""Names of any characters through loading, search, export and import on a Neo4j server come out as they went in."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j.bolt import PASSWORD, URI, USER, connect
from compvqa.covr.subgraphs.search.neo4j.export import LIST, export
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded
from compvqa.covr.subgraphs.search.neo4j.service import serving
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.covr.subgraphs.tables import SUBGRAPHS
from compvqa.scenes.graph import Object, Relation, SceneGraph
from fixtures.searchable import searchable
from integration.conftest import neo4j_at
from unit.covr.subgraphs.graph_store import NO_LISTS
from unit.covr.subgraphs.graph_worlds import worlds, write_scenes

pytestmark = pytest.mark.xdist_group("neo4j")
PIECES = [
    "'",
    '"',
    '""',
    "\\",
    "\\\\",
    "`",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "$",
    "$graph",
    "{}",
    ",",
    ";",
    " ",
    "é",
    "\u2028",
]
PIECES += [
    "}) DETACH DELETE n //",
    "\\u0027",
    "𝔘",
    "\u0000",
    "\ufeff",
    "x" * 10_000,
    "null",
    "true",
    "1.0",
    "=1",
    "//",
    "--",
]


def texts(*without: str) -> st.SearchStrategy[str]:
    """Texts of the pieces, and any others; not empty."""
    some = st.characters(codec="utf-8", exclude_characters="".join(without))
    return st.one_of(
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join), st.text(some, min_size=1, max_size=8)
    )


def called(graph: SceneGraph, names: dict[str, str]) -> SceneGraph:
    """The scene with other names."""
    objects = {
        i: replace(thing, name=names[thing.name], attributes={names[a]: names[a] for a in thing.attributes})
        for i, thing in graph.objects.items()
    }
    relations = tuple(
        replace(r, name=names[r.name], modifiers=tuple((names[name], tool) for name, tool in r.modifiers))
        for r in graph.relations
    )
    return replace(graph, objects=objects, relations=relations)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(graphs=worlds(scenes=5, objects=5, relations=6, modifiers=2), data=st.data())
def test_names_of_any_characters_are_loaded_and_found(tmp_path_factory, server, graphs, data):
    known = sorted({name for graph in graphs for name in names_in(graph)})
    others = data.draw(st.lists(texts(), min_size=len(known), max_size=len(known), unique=True))
    graphs = [called(graph, dict(zip(known, others, strict=True))) for graph in graphs]
    world = searchable(tmp_path_factory.mktemp("world"), graphs, lambda _: "train", NO_LISTS)
    trees = sorted(tables.read(world.subgraphs, SUBGRAPHS)["tree"].to_pylist(), key=len, reverse=True)
    with world.open("duckdb") as duckdb, world.open("neo4j") as neo4j:
        for g in map(parse, trees[:10]):
            assert neo4j.containing(g, "train") == duckdb.containing(g, "train") != []
    with connect(5) as client:
        assert Loaded(client, world.folder, 2).verify() > 0


def names_in(graph: SceneGraph) -> set[str]:
    things = [name for thing in graph.objects.values() for name in (thing.name, *thing.attributes)]
    return {*things, *(name for r in graph.relations for name in (r.name, *(m for m, _ in r.modifiers)))}


@st.composite
def scenes(draw, number: int) -> SceneGraph:
    """A scene of two objects whose ids and names are any texts."""
    one, two = draw(st.lists(texts(), min_size=2, max_size=2, unique=True))
    inside = texts(LIST)
    attributes = draw(st.dictionaries(inside, st.none() | inside, max_size=3))
    box = draw(st.none() | st.tuples(*[st.floats(0, 1e6, allow_subnormal=False)] * 4))
    objects = {one: Object(one, draw(texts()), attributes, box), two: Object(two, draw(texts()))}
    modifiers = tuple(draw(st.lists(st.tuples(texts(), st.just(one)), max_size=2)))
    relations = draw(st.lists(st.builds(Relation, texts(), st.just(one), st.just(two), st.just(modifiers)), max_size=2))
    return SceneGraph(f"{draw(texts())}:{number}", objects, tuple(relations))


@pytest.mark.long_neo4j
@settings(
    max_examples=1,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, *HealthCheck],
)
@given(st.data())
def test_neo4j_admin_imports_names_of_any_characters(root, tmp_path_factory, monkeypatch, data):
    if (found := neo4j_at(root)) is None:
        pytest.skip("needs neo4j-admin: NEO4J_HOME, or neo4j on PATH")
    folder = tmp_path_factory.mktemp("import")
    drawn = [data.draw(scenes(number)) for number in range(100)]
    tabled = write_scenes(folder / "scenes", drawn, lambda _: "train")
    export(tabled, folder / "csv", batch=7)
    (folder / "conf").mkdir()
    (folder / "conf/neo4j.conf").write_text(f"server.directories.data={folder}/data\n")
    variables = os.environ | {"NEO4J_CONF": str(folder / "conf")} | dict([pair.split("=", 1) for pair in found])

    def imported(*options):
        command = [folder / "csv/import.sh", *options]
        return subprocess.run(
            command, cwd="/", env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    first, again, instead = imported(), imported(), imported("--overwrite-destination")
    assert first.returncode == 0, first.stdout[-3000:]
    assert again.returncode and "overwrite-destination" in again.stdout, again.stdout[-3000:]
    assert instead.returncode == 0, instead.stdout[-3000:]

    for name in (URI, USER, PASSWORD):
        monkeypatch.delenv(name, raising=False)
    command = ["env", *found, sys.executable, str(root / "containers/serve_neo4j.py"), str(folder)]
    with serving(Neo4jSettings(command=" ".join(command)), folder / "any"), connect(5) as server:
        loaded = Loaded(server, tabled, batch=1000)
        assert loaded.new == 0 and loaded.verify() == loaded.parts == 15
        made = {row["name"] for row in server.read("SHOW INDEXES YIELD name RETURN name")}
        assert {"scene_id", "object_name"} <= made
