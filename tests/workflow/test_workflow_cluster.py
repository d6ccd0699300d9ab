"""What a cluster asks of the workflow, seen without one: the profile, other folders, downloads apart from jobs."""

import os
import re
import shutil
from dataclasses import replace

import pytest
import yaml

from fixtures.project import copy_project
from fixtures.warm import python

GROUPED = re.compile(r"^\[.*\] Group job (\w+) ")


def without_slurm(root, folder, config=None):
    """A fresh copy of the project, on a machine that has no Slurm."""
    project = copy_project(root, folder)
    project = replace(project, config=config) if config else project.full()
    (folder / "bin").mkdir()
    (folder / "bin/which").symlink_to(shutil.which("which"))  # the plugin looks for Slurm by it
    project.environment = {"PATH": str(folder / "bin")}
    return project


def dry(root, folder, *arguments, config=None):
    """What a dry run says there."""
    return without_slurm(root, folder, config).run("--dry-run", *arguments).stdout


def blocks(output):
    """The parts of a dry run that tell of jobs, by their rule."""
    told = re.split(r"^ *\[\w+ \w+ +\d+ [\d:]+ \d+\]", output, flags=re.MULTILINE)
    named = ((re.search(r"\b(?:local)?rule (\w+):", block), block) for block in told)
    return [(match[1], block) for match, block in named if match]


def test_the_command_works_as_typed_from_the_projects_root(root, tmp_path):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs snakemake-executor-plugin-slurm")
    output = dry(root, tmp_path / "project", "--profile", "slurm")
    jobs = blocks(output)
    assert "slurm_account" not in output and len(jobs) > 100
    groups = [match[1] for line in output.splitlines() if (match := GROUPED.match(line))]
    assert {"scenes", "dataset", "paper"} <= set(groups)


PARSED = """
import sys
from snakemake.cli import parse_args
args = parse_args(sys.argv[1:])[1]
print(args.slurm_partition_config, args.jobs, args.max_jobs_per_timespan.max_jobs, args.max_jobs_per_timespan.timespan)
"""


@pytest.mark.parametrize("named", ["--profile={}", "--profile {}", "SNAKEMAKE_PROFILE"])
@pytest.mark.parametrize("relative", [True, False])
def test_the_profile_finds_its_partitions_from_any_folder(root, tmp_path, named, relative):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs snakemake-executor-plugin-slurm")
    profile = os.path.relpath(root / "slurm", tmp_path) if relative else str(root / "slurm")
    arguments = [] if named.isupper() else named.format(profile).split()
    environment = {named: profile} if named.isupper() else {}

    def parsed(**more):
        words = ("-c", PARSED, *arguments, "--snakefile", root / "workflow/Snakefile")
        done = python(*words, folder=tmp_path, environment=environment | more)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    path, *limits = parsed()
    assert os.path.isabs(path) and os.path.samefile(path, root / "config/profiles/slurm/partitions.yaml")
    assert limits == ["200", "5", "1.0"]
    assert parsed(SNAKEMAKE_SLURM_PARTITIONS="mine.yaml")[0] == str(tmp_path / "mine.yaml")


def test_the_account_comes_from_the_environment_and_the_profile_from_anywhere(root, tmp_path):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs snakemake-executor-plugin-slurm")
    project = without_slurm(root, tmp_path / "project")
    configs = [str(project.folder / config) for config in (*project.under, project.config)]
    project = replace(project, folder=tmp_path, under=tuple(configs[:-1]), config=configs[-1])
    project.environment |= {"SBATCH_ACCOUNT": "my-lab"}
    where = ("--snakefile", "project/workflow/Snakefile", "--directory", "scratch", "--profile", "project/slurm")
    output = project.run("--dry-run", *where).stdout
    assert "slurm_account=my-lab" in output and len(blocks(output)) > 100


def test_memory_and_time_grow_with_the_inputs_that_are_there(root, tmp_path):
    project = copy_project(root, tmp_path / "project")
    made = project.folder / "results/tiny/questions/questions.parquet"

    def given():
        done = project.run("--dry-run", "results/tiny/dataset/questions.parquet").stdout
        block = dict(blocks(done))["balance"]
        return [int(re.search(rf"\b{name}=(\d+)", block)[1]) for name in ("mem_mb", "runtime")]

    without = given()
    made.parent.mkdir(parents=True)
    with made.open("wb") as file:
        file.truncate(5_000_000_000)
    assert given() == [without[0] + 2 * 5000, without[1] + 10]


def test_a_group_holds_no_job_that_needs_a_gpu(root, tmp_path):
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs snakemake-executor-plugin-slurm")
    project = copy_project(root, tmp_path / "project").full()
    path = project.folder / project.config
    text = path.read_text().replace("models:\n", "models:\n  gpus: 1\n", 1)
    path.write_text(text.replace("dataset:\n", "dataset:\n  overlap: {method: learned}\n", 1))
    output = project.run("--dry-run", "--profile", "slurm").stdout
    gpus = {name for name, block in blocks(output) if re.search(r"\bgpu=1\b", block)}
    assert {"overlap", "word_filter", "image_filter", "presence", "others", "train", "predict"} <= gpus
    profile = (root / "slurm/config.yaml").read_text().split("\ngroups:\n")[1].split("\ngroup-components:")[0]
    grouped = {line.split(":")[0].strip() for line in profile.splitlines()}
    assert "balance" in grouped and not grouped & gpus


def test_gpus_share_a_training_and_a_model_that_reads_no_regions_waits_for_none(root, tmp_path):
    project = copy_project(root, tmp_path / "project")
    path = project.folder / project.config
    data = yaml.safe_load(path.read_text())
    data["models"] |= {"trained": ["lstm-tiny"], "gpus": 2, "splits": [], "curve": {}}
    data["dataset"] |= {"presence": {"method": "none"}, "judged": {}}
    path.write_text(yaml.safe_dump(data))
    output = project.run("--dry-run", "--printshellcmds", "results/tiny/evaluation/scores.parquet").stdout
    jobs = dict(blocks(output))
    assert {"train", "predict"} <= set(jobs) and not {"features", "pretrain"} & set(jobs)
    assert "--processes 2 " in jobs["train"] and re.search(r"\bgpu=2\b", jobs["train"])
    assert re.search(r"\bgpu=1\b", jobs["predict"]) and "--features" not in jobs["train"] + jobs["predict"]
    assert "lstm-tiny.iid.iid" in output and "lstm-tiny.iid.text" not in output


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
