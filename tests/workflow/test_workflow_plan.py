"""`make plan` says what will run, why, and about what it costs."""

import re

import pytest

from fixtures.project import copy_project
from fixtures.warm import python

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once


def plan(project, *arguments):
    words = ("workflow/plan.py", *arguments, "--configfile", *project.under, project.config)
    done = python(*words, folder=project.folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def stages(said):
    """The jobs and the text of each line of the table."""
    lines = re.findall(r"^(\w+) +(\d+)\+? +(.*)$", said, re.MULTILINE)
    return {name: (int(jobs), text) for name, jobs, text in lines}


def test_a_finished_run_has_nothing_to_do(finished):
    assert plan(finished).startswith("Nothing to do")


def test_the_data_stages_of_the_paper_are_estimated_before_any_download(root, tmp_path):
    project = copy_project(root, tmp_path / "project")
    project.config = "config/covr.yaml"
    said = plan(project)
    for stage in ("scenes", "graphs", "questions", "balance"):
        assert re.match(r"not made yet \(\d+\) +<?[\d.]+ ", stages(said)[stage][1]), stage
    for stage in ("splits", "statistics", "paper"):  # without those of trained models
        assert re.match(r"not made yet \(\d+\) +<?[\d.]+\+? ", stages(said)[stage][1]), stage
    assert re.search(r"^download +16 .* \d\d\.\d GB\+$", said, re.MULTILINE)


def test_a_changed_setting_is_named_and_what_is_after_it_follows(edited):
    path = edited.folder / edited.config
    path.write_text(path.read_text().replace("dataset:\n", "dataset:\n  related: {per_key: 4}\n", 1))
    said = stages(plan(edited))
    assert "settings changed: per_key" in said["graphs"][1]
    assert "follows questions" in said["questions"][1] and "settings changed" not in said["questions"][1]
    assert "scenes" not in said and "words" not in said
    assert said["total"][0] == sum(jobs for name, (jobs, _) in said.items() if name != "total")
    with_all = re.search(r"^total +(\d+)$", edited.run("--dry-run").stdout, re.MULTILINE)
    assert said["total"][0] == int(with_all[1]) - 1


def test_edited_code_is_told_from_a_changed_split(edited):
    with (edited.folder / "workflow/compvqa/covr/statistics.py").open("a") as file:
        file.write("\nEDITED = True\n")
    split = edited.folder / "config/splits/tpl-verifyattr.yaml"
    split.write_text(split.read_text().replace("VERIFYATTR", "COUNT"))
    said = stages(plan(edited))
    assert "settings changed: definition" in said["splits"][1]
    assert "code changed (1)" in said["statistics"][1]
    assert "balance" not in said and "train" not in said


def test_a_measured_run_gives_the_rows_that_a_next_plan_needs(edited, tmp_path):
    costs = tmp_path / "costs.tsv"
    plan(edited, "--measure", "--costs", str(costs))
    assert re.search(r"^balance\t.*\ttiny\t1\t", costs.read_text(), re.MULTILINE)
    with (edited.folder / "workflow/compvqa/covr/questions/balance.py").open("a") as file:
        file.write("\nEDITED = True\n")
    said = plan(edited, "--costs", str(costs))
    assert "Not in these numbers" not in said
    assert "code changed (1)" in stages(said)["balance"][1]
    assert re.search(r"Of the disk, [\d.,]+ [kM]B replace what is there", said)
