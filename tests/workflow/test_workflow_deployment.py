"""Jobs take Python from conda, from an image, or from Snakemake's own folder, whichever was asked for."""

import os
import re
import shutil

import pytest

from fixtures.deployments import Deployments
from fixtures.project import Project, copy_project

SMALL = "world={settings: {train_scenes: 3, val_scenes: 3, encoder_scenes: 3, calibration_scenes: 3}}"
APPTAINER = ("--sdm", "apptainer")


@pytest.fixture
def deployments(tmp_path) -> Deployments:
    """Stand-ins for conda and Apptainer."""
    return Deployments(tmp_path / "deployments")


@pytest.fixture
def project(root, tmp_path, deployments) -> Project:
    """A project with an image, where both are at hand."""
    project = copy_project(root, tmp_path / "project")
    project.environment = {"PATH": deployments.path(os.environ["PATH"])}
    (project.folder / "containers").mkdir()
    (project.folder / "containers/cpu.sif").touch()
    return project


@pytest.mark.parametrize("way", ["none", "conda", "apptainer"])
def test_a_job_runs_the_python_of_its_environment_on_the_checkouts_package(project, deployments, way):
    project.run("sprites", *(("--sdm", way) * (way != "none")), "--config", SMALL)
    package = str(project.folder / "workflow")
    assert deployments.used("inside") == [package] * (way != "none")
    assert not deployments.used("bin")  # a python on PATH is never taken
    made = deployments.calls()
    assert len(made) == (way != "none")
    if way == "conda":
        [path] = re.findall(r"--file (\S+)", made[0])
        assert (project.folder / path).read_text() == (project.folder / "envs/data.yaml").read_text()
    if way == "apptainer":
        assert f"--bind {project.folder} " in made[0] and " containers/cpu.sif bash -c " in made[0]


def test_an_image_sees_the_checkout_when_the_workflow_runs_in_another_folder(project, deployments, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(project.folder / "containers", elsewhere / "containers")
    project.run("sprites", *APPTAINER, "--directory", str(elsewhere), "--config", SMALL)
    [call] = deployments.calls()
    assert f"--home {elsewhere} " in call and f"--bind {project.folder} " in call
    assert deployments.used("inside") == [str(project.folder / "workflow")]


def test_all_of_the_chain_can_be_planned_with_one_image(project):
    assert len(project.full().plan(*APPTAINER)) > 30


def test_a_missing_image_is_named(project):
    done = project.run("--dry-run", *APPTAINER, "--config", "models={gpus: 1}", check=False)
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert "There is no image containers/gpu.sif: build it as docs/environments.md says" in done.stdout


def test_gpu_jobs_and_the_search_in_neo4j_run_in_their_own_images(project):
    """An address needs no file; a dry run tells which images it would fetch."""
    images = "containers={cpu: 'docker://here/cpu', gpu: 'docker://here/gpu', neo4j: 'docker://here/neo4j'}"
    chosen = ["models={gpus: 1}", "dataset={candidates: {backend: neo4j}}"]
    all_of_it = project.run("--dry-run", *APPTAINER, "--config", images, *chosen).stdout
    assert set(re.findall(r"docker://here/(\w+) will be pulled", all_of_it)) == {"cpu", "gpu", "neo4j"}
    on_cpus = project.run("--dry-run", *APPTAINER, "--config", images).stdout
    assert set(re.findall(r"docker://here/(\w+) will be pulled", on_cpus)) == {"cpu"}
