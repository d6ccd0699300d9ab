"""The chain on the neo4j backend gives the tables that it gives on DuckDB."""

import json
import os
import re
import subprocess
import sys

import pytest
import yaml

from compvqa import tables
from compvqa.covr.filters.words.overlap import OverlapSettings, overlap
from compvqa.covr.subgraphs import shapes
from compvqa.covr.subgraphs.enumerate import SubgraphSettings, enumerate_scenes
from compvqa.covr.subgraphs.search import SearchSettings, find_candidates
from compvqa.covr.subgraphs.search.neo4j.bolt import connect
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import by_rank
from fixtures.project import copy_project
from fixtures.real import real_scenes
from fixtures.searchable import Searchable

pytestmark = pytest.mark.xdist_group("neo4j")
SETTINGS = {"seeds_per_subgraph": 1, "per_key": 5}


@pytest.fixture(scope="module")
def real(shared, tmp_path_factory):
    """The real subsets of GQA and imSitu, enumerated, and their overlap table."""
    folder, data = tmp_path_factory.mktemp("real"), shared / "data"
    Lexicon.from_gqa(data / "vocab").dump(folder / "lexicon.json")
    scenes = real_scenes(data, folder / "lexicon.json", folder)
    made = Searchable(scenes, folder / "subgraphs.parquet", folder / "occurrences.parquet")
    enumerate_scenes(scenes, 0, 1, made.subgraphs, made.occurrences, SubgraphSettings(texts=False))
    overlap(scenes, folder / "lexicon.json", folder / "overlap.parquet", OverlapSettings())
    return made


def candidates_of(world: Searchable, out, shards: int = 8, **settings):
    """The seeds and candidates of the first of some shards."""
    files = [(out / f"seeds{i}.parquet", out / f"candidates{i}.parquet") for i in range(shards)]
    find_candidates(
        world.graph, world.folder.parent / "overlap.parquet", files, SearchSettings(**SETTINGS, **settings), 1
    )
    return tables.read(files[0][0], SEEDS), tables.read(files[0][1], CANDIDATES)


def test_candidates_of_the_real_subset(real, server, tmp_path):
    expected = candidates_of(real, tmp_path / "duckdb")
    found = candidates_of(real, tmp_path / "neo4j", backend="neo4j")
    assert expected[1].num_rows > 1000
    assert found[0].equals(expected[0]) and found[1].equals(expected[1])


def test_single_questions_of_the_real_subset(real, server, tmp_path):
    seeds, _ = candidates_of(real, tmp_path)
    trees = by_rank(1, "asked", sorted(set(seeds["tree"].to_pylist())))[:25]
    with real.open("duckdb") as duckdb, real.open("neo4j") as neo4j:
        for g in map(parse, trees):
            assert neo4j.containing(g, "train") == duckdb.containing(g, "train")
            for slot in shapes.slots(shapes.shape_of(g.json())[0]):
                if slot.key:
                    assert neo4j.replaced(g, slot.key, "train") == duckdb.replaced(g, slot.key, "train")


def small(root, folder):
    """A project of fewer scenes that trains nothing, and its config."""
    project = copy_project(root, folder)
    config = yaml.safe_load((project.folder / project.config).read_text())
    scenes = {"train_scenes": 100, "val_scenes": 50, "encoder_scenes": 0, "calibration_scenes": 0}
    config["world"]["settings"] = scenes
    config["dataset"]["presence"] = {"method": "none"}  # it sees no graph
    config["models"]["trained"] = []
    return project, config


def given(project, config) -> None:
    (project.folder / project.config).write_text(yaml.safe_dump(config))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, set()),
        ({"neo4j": {"load": True}}, {"load_neo4j", "load_testbed"}),
        ({"candidates": {"backend": "neo4j"}}, {"load_neo4j"}),
        ({"candidates": {"backend": "neo4j"}, "neo4j": {"command": "serve-neo4j $FOLDER"}}, set()),
    ],
)
def test_when_loading_is_a_job_of_its_own(root, tmp_path, settings, expected):
    project, config = small(root, tmp_path / "project")
    config["dataset"] |= settings
    given(project, config)
    assert {rule for rule in project.plan() if rule.startswith("load_")} == expected


@pytest.mark.long_neo4j
def test_the_workflow_loads_the_test_bed_and_loads_changed_tables_again(root, tmp_path, server):
    project, config = small(root, tmp_path / "project")
    config["dataset"]["neo4j"] = {"load": True, "batch": 50}
    given(project, config)
    files = [f"results/tiny/{file}" for file in ("graphs/neo4j.json", "evaluation/neo4j.json")]
    project.run(files[1])
    scenes, testbed = (json.loads((project.folder / file).read_text()) for file in files)
    ids = {"graph": scenes["graph"], "dataset": testbed["dataset"]}
    with connect(5) as client:
        counted = client.read("MATCH (s:Scene {graph: $graph}) RETURN count(s) AS n", **ids)
        counted += client.read("MATCH (q:Question {dataset: $dataset}) RETURN count(q) AS n", **ids)
        counted += client.read("MATCH (:Model {dataset: $dataset})-[a:ANSWERED]->() RETURN count(a) AS n", **ids)
        assert scenes["server"] == client.described()
    assert [row["n"] for row in counted[:2]] == [scenes["scenes"], testbed["questions"]]
    assert scenes["scenes"] >= 150 and testbed["models"] == 2 and counted[2]["n"] > 0
    assert (scenes["parts loaded"], testbed["parts loaded"]) == (-(-scenes["scenes"] // 50), 0)
    told = subprocess.run(
        [sys.executable, "-m", "compvqa", "audit", *files[:1]],
        cwd=project.folder,
        env=os.environ | {"PYTHONPATH": "workflow"},
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    assert f"graph {scenes['graph']}, server {scenes['server']}" in told

    config["scores"]["resamples"] = 51
    given(project, config)
    assert not {"load_neo4j", "load_testbed"} & project.plan(*files)
    config["dataset"]["balance"]["train_per_template"] = 39
    given(project, config)
    assert {"load_neo4j", "load_testbed"} & project.plan(*files) == {"load_testbed"}
    config["sources"][0]["enabled"] = False
    given(project, config)
    assert "load_neo4j" in project.plan(*files)


@pytest.mark.long_neo4j
def test_the_chain_with_a_server_of_its_own(root, tmp_path, server_command, monkeypatch):
    for name in ("NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    project, config = small(root, tmp_path / "project")
    made = {}
    for backend in ("duckdb", "neo4j"):
        config["dataset"]["candidates"]["backend"] = backend
        config["dataset"]["neo4j"] = {"command": server_command, "batch": 50}
        given(project, config)
        project.run("results/tiny/dataset/questions.parquet")
        results = project.folder / "results/tiny"
        names = ["dataset/questions.parquet"] + [
            f"graphs/{table}/{shard}-of-2.parquet" for table in ("seeds", "candidates", "related") for shard in (1, 2)
        ]
        made[backend] = {name: tables.read(results / name) for name in names}
    expected = made.pop("duckdb")
    assert len(expected["dataset/questions.parquet"]) > 100
    for found in made.values():
        assert [name for name, table in expected.items() if not table.equals(found[name])] == []
    told = "".join(p.read_text() for p in (*project.folder.rglob("*.prov.json"), *project.folder.rglob("*.log")))
    assert "occurrences by Cypher" in told and not re.search("NEO4J_AUTH|NEO4J_PASSWORD|password", told)
    assert not list((results / "graphs").glob("**/.neo4j.*"))
