"""The same config and seed give the same bytes, however the work is cut, ordered or hashed, on whatever processor."""

import shutil
from dataclasses import replace

import pytest
import yaml

from fixtures.answers import assert_answers_hold
from fixtures.project import OLD_PROCESSOR, Project, copy_project

TABLES = ("*/dataset/*.parquet", "*/splits/*.parquet", "*/questions/questions.parquet")


def cut_otherwise(project: Project, folder, shards: int, cores: int, target: str, *made: str) -> Project:
    """A copy of a project that has run, run again to ``target`` in other pieces, on other cores, with other hashes and
    with the kernels that BLAS would choose for an old processor.

    ``made`` are the folders of results that it has to make anew. What does not depend on the pieces is kept: encoders
    and words' filters are promised to be equal on one type of machine, and are not trained twice.
    """
    shutil.copytree(project.folder, folder, symlinks=True)
    other = replace(project, folder=folder, environment={"PYTHONHASHSEED": "77", **OLD_PROCESSOR})
    for name in made:
        shutil.rmtree(folder / "results" / name)
    other.run(target, "--config", f"shards={shards}", cores=cores)
    return other


FILTERED = ("covr/thresholds", "covr/risk")  # pages that no chain without a learned image filter has


def _unfiltered(project: Project) -> str:
    """The demo's config on a third of its scenes without learned filters, so without the scenes that these learn from;
    the test below is about filters."""
    config = yaml.safe_load((project.folder / "config/config.yaml").read_text())
    config["dataset"] |= {"presence": {"method": "none"}, "overlap": {"method": "lexicon"}}
    config["dataset"]["balance"]["target_risk"] = None
    scenes = {"train_scenes": 200, "val_scenes": 70, "encoder_scenes": 0, "calibration_scenes": 0}
    config["world"]["settings"] = scenes
    config["paper"]["show"] = [page for page in config["paper"]["show"] if page not in FILTERED]
    (project.folder / "config/unfiltered.yaml").write_text(yaml.safe_dump(config))
    return "config/unfiltered.yaml"


def test_the_demo_has_equal_hashes_for_shards_cores_and_hash_seeds_and_all_its_answers_hold(root, tmp_path):
    project = copy_project(root, tmp_path / "one")
    project.config, project.environment = _unfiltered(project), {"PYTHONHASHSEED": "1"}
    project.run("dataset", "--config", "shards=1")
    made = [f"covr-sprites/{name}" for name in ("graphs", "filters/presence", "questions", "dataset", "splits")]
    other = cut_otherwise(project, tmp_path / "four", 4, 1, "dataset", *made)
    assert other.hashes(*TABLES) == project.hashes(*TABLES)
    assert assert_answers_hold(other.folder / "results/covr-sprites") > 10_000


@pytest.mark.xdist_group("finished")  # one process, so that the chain runs once
def test_the_filters_are_judged_the_same_for_shards_cores_and_hash_seeds(finished, tmp_path):
    target = "results/tiny/evaluation/filters.parquet"
    other = cut_otherwise(finished, tmp_path / "three", 3, 1, target, "tiny/graphs", "tiny/arms", "tiny/evaluation")
    judged = ("tiny/evaluation/filters.parquet", "tiny/evaluation/distractors.parquet", "tiny/**/generated.parquet")
    assert other.hashes(*judged) == finished.hashes(*judged) and len(other.hashes(*judged)) == 4
