"""What is handed to others is made by rules, of a finished run."""

import hashlib
import json
from fnmatch import fnmatch

import mlcroissant as mlc
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from fixtures.crates import issues
from fixtures.project import Project

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once
FOLDER = "results/tiny/publish/huggingface"
# The drawn world comes in the formats of others; beside a crate lies the code that it tells of.
THEIRS = ("resources/*.png", "resources/*/imsitu/*", "*_sceneGraphs.json", "results/tiny/code/*")


def without_recipe(project: Project) -> list[str]:
    """The files in which the recipe id of their record does not stand, but for those in formats of others."""
    records = [json.loads(path.read_text()) for path in sorted(project.folder.rglob("*.prov.json"))]
    made = {output["path"]: record["recipe"] for record in records for output in record["outputs"]}
    kept = {path: recipe for path, recipe in made.items() if (project.folder / path).exists()}  # no temporary ones
    ours = [path for path in kept if not any(fnmatch(path, pattern) for pattern in THEIRS)]
    assert len(ours) > 200
    return [path for path in ours if kept[path].encode() not in (project.folder / path).read_bytes()]


@pytest.fixture
def published(edited) -> Project:
    edited.run("publish", "crate")
    return edited


def test_the_dataset_folder_and_the_crate_of_a_run(published, tmp_path, monkeypatch):
    results, folder = published.folder / "results/tiny", published.folder / FOLDER
    split = pq.read_table(results / "splits/has-quant-all.parquet").to_pylist()
    loaded = load_dataset(str(folder), name="has-quant-all", cache_dir=str(tmp_path / "cache"))
    for part, rows in loaded.items():
        assert sorted(rows["question_id"]) == sorted(row["question_id"] for row in split if row["part"] == part)
    shown = load_dataset(str(folder), name="images", split="pictures", cache_dir=str(tmp_path / "cache"))
    named = {name for part in loaded.values() for names in part["images"] for name in names}
    assert named <= set(shown["image"]) and shown[0]["picture"].size
    metadata = mlc.Dataset(jsonld=str(folder / "croissant.json")).metadata
    assert (set(metadata.issues.errors), set(metadata.issues.warnings)) == (set(), set())
    assert not list(folder.rglob("*.prov.json")) and not list(folder.rglob(".snakemake*"))

    assert issues(results, "REQUIRED", monkeypatch) == set()
    graph = json.loads((results / "ro-crate-metadata.json").read_text())["@graph"]
    runs = {entity["@id"] for entity in graph if entity["@type"] == "CreateAction"}
    stages = ("scenes/scenes.prov.json", "dataset/questions.parquet.prov.json", "paper/covr/table3.prov.json")
    assert {f"#run/{record}" for record in stages} < runs
    manifest = hashlib.sha256((results / "manifest.json").read_bytes()).hexdigest()
    assert [entity["sha256"] for entity in graph if entity["@id"] == "manifest.json"] == [manifest]

    assert without_recipe(published) == []
    assert published.plan("publish", "crate") == set()
    split = published.folder / "config/splits/has-quant-all.yaml"
    split.write_text(split.read_text().replace("title: HAS-QUANT-ALL", "title: Only all"))
    assert published.plan("publish") == {"split", "publish_has_quant_all", "publish_card", "publish"}
