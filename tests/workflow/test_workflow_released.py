"""COVR's released files in place of a chain that makes questions: what runs, what it gives, what is told."""

import csv

import numpy as np
import pytest
import yaml

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.scenes.tables import SCENES
from fixtures.project import Project, copy_project
from fixtures.released import detections, write_covr
from unit.covr.released.released_worlds import release

pytestmark = pytest.mark.xdist_group("released")
FILES = ("train.jsonl", "val.jsonl", "test.jsonl")
MADE_BEFORE = {"ingest", "scenes", "lexicon", "subgraphs", "candidates", "questions", "balance", "pretrain", "validity"}


@pytest.fixture
def official(root, tmp_path) -> Project:
    """The project with the config of the released files."""
    project = copy_project(root, tmp_path)
    project.config = "config/covr-released.yaml"
    return project


def edit(project: Project, **sections: object) -> None:
    """Put other sections into the project's config."""
    path = project.folder / project.config
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | sections, sort_keys=False))


@pytest.fixture(scope="module")
def small(root, tmp_path_factory) -> Project:
    """The project with two small worlds' questions as files, all splits of the official config, and no models."""
    folder = tmp_path_factory.mktemp("small")
    project = copy_project(root, folder)
    release(folder / "resources/covr", root / "config/templates/covr", scenes=25, most_seeds=60)
    data = yaml.safe_load((root / "config/covr-released.yaml").read_text())
    data["dataset"]["test"] = "resources/covr/test.jsonl"
    data["splits"] = {"names": ["iid", "has-quant-all", "tpl-verifyattr", "program-1", "lexical-1"], "m_scale": 0.02}
    data["scores"] = {"resamples": 50}
    data["models"] = {"seeds": [1]}
    shown = ("table3", "figure5", "table5", "splits", "table6", "accuracy-properties")
    data["paper"]["show"] = [f"covr/{name}" for name in shown]
    project.config = "config/small.yaml"
    (folder / project.config).write_text(yaml.safe_dump(data, sort_keys=False))
    return project


def test_the_official_files_are_all_there_is_before_the_splits(official):
    plan = official.plan()
    assert {"download_covr_covr_dataset_zip", "read_questions", "split", "baseline", "scores", "table", "index"} <= plan
    assert not plan & MADE_BEFORE


def test_where_to_get_other_files_is_told(official):
    edit(official, dataset={"kind": "covr_released", "train": "resources/covr/train.jsonl", "dev": "gone/val.jsonl"})
    done = official.run("--dry-run", check=False)
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert "gone/val.jsonl does not exist: download the dataset as https://github.com/benbogin/covr-" in done.stdout


@pytest.mark.parametrize("name", ["covr/table10", "covr/words"])
def test_what_needs_scene_graphs_is_refused(official, name):
    edit(official, paper={"show": [name]})
    done = official.run("--dry-run", check=False)
    assert done.returncode == 1 and "Traceback" not in done.stdout and f"paper.show names {name}, which" in done.stdout


def test_a_file_of_another_kind_stops_the_run_with_one_sentence(official):
    (official.folder / "page.jsonl").write_text("<!doctype html>\n<p>Sign in</p>\n")
    edit(official, dataset={"kind": "covr_released", "train": "page.jsonl", "dev": "page.jsonl"})
    done = official.run("results/covr-released/dataset/questions.parquet", check=False)
    told = [line for line in done.stdout.splitlines() if line.startswith("compvqa: ")]
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert len(told) == 1 and "page.jsonl has no JSON object: give a file of COVR's questions" in told[0]


def test_files_run_through_splits_baselines_scores_and_tables(small):
    small.run()
    results = small.folder / "results/covr-released"
    questions = tables.read(results / "dataset/questions.parquet", DATASET).to_pylist()
    lines = sum(len((small.folder / "resources/covr" / name).read_text().splitlines()) for name in FILES)
    assert len(questions) == lines
    scores = tables.read(results / "evaluation/scores.parquet").to_pylist()
    assert {row["model"] for row in scores} == {"maj", "majtempl"}
    assert {row["text"] for row in scores} == {"generated", "paraphrased"}
    for split in ("has-quant-all", "program-1", "lexical-1"):
        held = [row for row in scores if (row["split"], row["part"]) == (split, "test_comp")]
        assert held and all(row["n"] > 0 for row in held)
    overall = next(r for r in scores if (r["run"], r["split"], r["part"]) == ("maj.iid.iid.1", "iid", "test"))
    assert overall["n"] <= sum(row["part"] == "test" for row in questions)
    with (results / "paper/covr/splits.csv").open() as file:
        sizes = {row["Split"]: row["Train"] for row in csv.DictReader(file)}
    assert int(sizes["HAS-QUANT-ALL"]) > 0 and not sizes["HAS-QUANT"]
    page = (results / "paper/questions.html").read_text()
    assert "start scene (orange)" not in page and "subgraph of size" not in page


def test_models_are_trained_on_them_without_pretraining(small):
    target = "results/covr-released/runs/visualbert-tiny.iid.iid.1/predictions.parquet"
    scenes = "results/covr-released/scenes/scenes.parquet"
    small.run(scenes)
    draw = np.random.default_rng(0)
    names = [image.partition(":")[2] for image in tables.read(small.folder / scenes, SCENES)["image"].to_pylist()]
    (small.folder / "resources/covr_features").mkdir()
    write_covr(small.folder / "resources/covr_features", [(name, detections(draw, 3)) for name in names])
    edit(small, models={"trained": ["visualbert-tiny"], "seeds": [1], "splits": ["has-quant-all"]})
    assert not small.plan(target) & MADE_BEFORE
    small.run(target)
    asked = {row["question_id"] for row in tables.read(small.folder / target).to_pylist()}
    questions = tables.read(small.folder / "results/covr-released/dataset/questions.parquet", DATASET).to_pylist()
    assert asked == {row["question_id"] for row in questions if row["part"] != "train"}
