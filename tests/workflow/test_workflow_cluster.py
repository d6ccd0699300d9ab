"""What a cluster asks of the workflow, seen without one: the profile, other folders, downloads apart from jobs."""

import re
import shutil
from dataclasses import replace

import pytest

from fixtures.project import copy_project

GROUPED = re.compile(r"^\[.*\] Group job (\w+) ")


def dry(root, folder, *arguments, config=None):
    """What a dry run says in a fresh copy of the project, on a machine that has no Slurm."""
    project = copy_project(root, folder)
    project = replace(project, config=config) if config else project.full()
    (folder / "bin").mkdir()
    (folder / "bin/which").symlink_to(shutil.which("which"))  # the plugin looks for Slurm by it
    project.environment = {"PATH": str(folder / "bin")}
    return project.run("--dry-run", *arguments).stdout


def blocks(output):
    """The parts of a dry run that tell of jobs, by their rule."""
    told = re.split(r"^ *\[\w+ \w+ +\d+ [\d:]+ \d+\]", output, flags=re.MULTILINE)
    named = ((re.search(r"\b(?:local)?rule (\w+):", block), block) for block in told)
    return [(match[1], block) for match, block in named if match]


def test_the_command_works_as_typed_from_the_projects_root(root, tmp_path):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs snakemake-executor-plugin-slurm")
    output = dry(root, tmp_path / "project", "--profile", "slurm")
    jobs = blocks(output)
    assert "slurm_account=lab" in output and len(jobs) > 100
    groups = [match[1] for line in output.splitlines() if (match := GROUPED.match(line))]
    assert {"scenes", "dataset", "paper"} <= set(groups)


def test_a_group_holds_no_job_that_needs_a_gpu(root, tmp_path):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs snakemake-executor-plugin-slurm")
    project = copy_project(root, tmp_path / "project").full()
    path = project.folder / project.config
    text = path.read_text().replace("models:\n", "models:\n  gpus: 1\n", 1)
    path.write_text(text + "overlap:\n  method: learned\n")
    output = project.run("--dry-run", "--profile", "slurm").stdout
    gpus = {name for name, block in blocks(output) if re.search(r"\bgpu=1\b", block)}
    assert {"overlap", "word_filter", "image_filter", "presence", "others", "train", "predict"} <= gpus
    profile = (root / "slurm/config.yaml").read_text().split("\ngroups:\n")[1].split("\ngroup-components:")[0]
    grouped = {line.split(":")[0].strip() for line in profile.splitlines()}
    assert "balance" in grouped and not grouped & gpus


def test_memory_and_time_grow_with_the_attempt(root, tmp_path):
    def given(attempt):
        block = dict(blocks(dry(root, tmp_path / str(attempt), "--attempt", str(attempt))))["train"]
        return [int(re.search(rf"\b{name}=(\d+)", block)[1]) for name in ("mem_mb", "runtime")]

    assert all(second > first for first, second in zip(given(1), given(2), strict=True))


@pytest.mark.parametrize("config", ["covr", "covr-released"])
def test_fetch_stages_all_that_the_chain_needs_from_the_network(root, tmp_path, config):
    config = f"config/{config}.yaml"
    jobs = blocks(dry(root, tmp_path / "fetch", "fetch", config=config))
    assert {"checkpoint", "fetch"} < {name for name, _ in jobs}
    project = copy_project(root, tmp_path / "chain")
    project.config = config
    for name, block in jobs:
        for path in re.search(r"output: (.*)", block)[1].split(", ") if name != "fetch" else []:
            (project.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (project.folder / path).write_text("")
    wanted = project.plan()
    assert "index" in wanted
    assert not {name for name in wanted if name == "checkpoint" or name.startswith("download_")}


@pytest.mark.xdist_group("finished")  # one process, so that the chain runs once
def test_a_run_in_another_folder_reads_shared_resources_and_writes_none(finished, tmp_path):
    scratch, shared = tmp_path / "scratch", finished.folder / "resources"
    scratch.mkdir()
    (scratch / "resources").symlink_to(shared)

    def state(folder):
        return {path: path.lstat().st_mtime_ns for path in folder.rglob("*") if ".snakemake" not in path.parts}

    before, project = state(shared), state(finished.folder)
    target = "results/tiny/scenes/scenes.parquet"
    done = finished.run(target, "--directory", str(scratch)).stdout
    assert "rule sprites:" not in done and state(shared) == before and state(finished.folder) == project
    assert (scratch / target).read_bytes() == (finished.folder / target).read_bytes()
    assert (scratch / "logs/scenes.log").is_file()


@pytest.mark.xdist_group("finished")
def test_shards_of_questions_are_gone_once_they_are_gathered_and_their_records_stay(finished):
    shards = finished.folder / "results/tiny/questions/shards"
    assert {path.name for path in shards.iterdir()} == {f"{n}-of-2.parquet.prov.json" for n in (1, 2)}
    assert not list((finished.folder / "results/tiny/questions/dropped").glob("*"))
