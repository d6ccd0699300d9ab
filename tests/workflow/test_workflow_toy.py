"""A test-bed of a stranger's own: language, world, template, setup, model, contrast and page lie beside his config."""

import re
import shutil
from dataclasses import replace

import pytest

from fixtures.project import Project

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that COVR's chain runs once
OPERATOR = '        Operator("none", (("balls",),), (), TRUTH, "whether there is none"),\n'


def of_the_project(project: Project) -> dict:
    """The files of the project itself, with their bytes."""
    found = [path for part in ("config", "rules", "workflow") for path in (project.folder / part).rglob("*")]
    return {path: path.read_bytes() for path in found if path.is_file() and "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def toy(root, finished, tmp_path_factory) -> Project:
    """A copy of the project in which COVR's chain has run, and the toy test-bed, in a folder of its own."""
    folder = tmp_path_factory.mktemp("toy") / "project"
    shutil.copytree(finished.folder, folder, symlinks=True)
    shutil.copytree(root / "tests/fixtures/toy", folder / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    project = replace(finished, folder=folder, config="mine/toy.yaml", under=())
    before = of_the_project(project)
    project.run()
    assert of_the_project(project) == before
    return project


def test_it_runs_from_nothing_to_its_page(toy):
    folder = toy.folder / "results/toy"
    shown = (folder / "paper/toy/gap.csv").read_text()
    assert re.match("Model and split,Seen", shown) and {"bag on no-red", "maj on no-red"} < set(
        re.split("[,\n]", shown)
    )
    assert "Seen and unseen colours" in (folder / "paper/toy/index.html").read_text()
    assert toy.plan() == set()


def test_an_operator_added_to_it_reruns_nothing_of_covr(toy, finished):
    path = toy.folder / "mine/plugins/toy/language.py"
    path.write_text(path.read_text().replace("    ),\n)", OPERATOR + "    ),\n)"))
    assert OPERATOR in path.read_text()
    covr = replace(toy, config=finished.config, under=finished.under)
    beside = covr.environment | {"COMPVQA_PLUGINS": str(toy.folder / "mine/plugins")}
    assert replace(covr, environment=beside).plan() == set()
    assert {"toy_questions", "split"} <= toy.plan()
