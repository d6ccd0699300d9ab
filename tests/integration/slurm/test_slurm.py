"""The chain on a real Slurm, by `snakemake --profile slurm` as a user types it, beside a run on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixtures.project import Project, copy_project
from fixtures.slurm import Unavailable, cluster, install

pytestmark = pytest.mark.xdist_group("slurm")  # one process: there can be one Slurm on a machine
HERE = Path(__file__).parent
QUICK = ("--slurm-init-seconds-before-status-checks", "2")  # the profile's patience is for jobs of minutes
FIELDS = ("jobid", "partition", "state", "alloctres", "comment", "timelimitraw", "submit", "account")
CHANGED = ("--config", "models={gpus: 1}")
CONFIG = ("--configfile", "config/tiny.yaml", *CHANGED)
MOST_JOBS = 45
MOST_A_SECOND = 2 * 5  # of the runs of the chain and of accidents, by the profile
LONGEST = 3600  # seconds


@dataclass(frozen=True)
class Ran:
    """A job of the cluster, as sacct tells of it; ``minutes`` and ``memory`` (MB) are what it was given, ``wildcards``
    what its comment says of them, ``submitted`` the second of its submission."""

    state: str
    partition: str
    gpus: int
    memory: int
    minutes: int
    wildcards: str
    submitted: str
    account: str


@dataclass(frozen=True)
class Runs:
    """What ran: the project on the cluster and here, the folder of accidents, and the jobs by what they ran."""

    cluster: Project
    here: Project
    accidents: Path
    jobs: dict[str, list[Ran]]


@pytest.fixture(scope="module")
def slurm() -> Iterator[None]:
    """A Slurm of our own, or a reason to skip."""
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs snakemake-executor-plugin-slurm")
    try:
        install()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with tempfile.TemporaryDirectory(prefix="slurm.") as folder, cluster(Path(folder) / "slurm"):
        yield


@pytest.fixture(scope="module")
def runs(slurm, root, tmp_path_factory) -> Runs:
    """All runs, at the same time: most of the time jobs wait for each other. Those of the cluster run as a user would
    start them; the one here forks, so that their results are those of jobs that had another start."""
    there, here = (copy_project(root, tmp_path_factory.mktemp(name) / "project") for name in ("cluster", "here"))
    accidents = tmp_path_factory.mktemp("scratch")
    smk = ("--snakefile", str(HERE / "accidents.smk"), "--directory", str(accidents))
    on_slurm = ("--profile", "slurm", *QUICK)
    processes = {
        "chain": started(there, *on_slurm, *CONFIG),
        "accidents": started(Project(root), *smk, *on_slurm, *CONFIG, log=accidents),
    }
    end = time.monotonic() + LONGEST
    cancelled = False
    with ThreadPoolExecutor(1) as thread:
        local = thread.submit(here.run, *CHANGED)
        while any(process.poll() is None for process, _ in processes.values()) and time.monotonic() < end:
            time.sleep(1)
            cancelled = cancelled or cancel("rule_cancelled")
        local.result()
    for name, (process, log) in processes.items():
        process.terminate()  # nothing, if it has ended
        assert process.wait(60) == 0, f"{name} failed:\n{log.read_text()[-6000:]}"
    return Runs(there, here, accidents, accounted())


def started(project: Project, *arguments: str, log: Path | None = None) -> tuple[subprocess.Popen, Path]:
    """Snakemake in the project's folder, its output in a file."""
    out = (log or project.folder) / "snakemake.out"
    with out.open("w") as file:
        command = [sys.executable, "-m", "snakemake", *arguments]
        environment = os.environ | {"SBATCH_ACCOUNT": "lab"}
        return subprocess.Popen(
            command, cwd=project.folder, env=environment, stdout=file, stderr=subprocess.STDOUT
        ), out


def cancel(comment: str) -> bool:
    """Cancel the job of this comment if it runs; whether it did."""
    listed = subprocess.run(["squeue", "-h", "-t", "R", "-o", "%i %k"], capture_output=True, text=True).stdout
    found = [line.split()[0] for line in listed.splitlines() if line.split()[1:] == [comment]]
    return bool(found) and subprocess.run(["scancel", found[0]]).returncode == 0


def accounted() -> dict[str, list[Ran]]:
    """What sacct knows, by the rule or the group that ran, in the order of submission."""
    listed = subprocess.run(
        ["sacct", "-X", "-n", "-P", "-o", ",".join(FIELDS)], capture_output=True, text=True, check=True
    ).stdout
    jobs = defaultdict(list)
    for line in sorted(listed.splitlines(), key=lambda line: int(line.split("|")[0])):
        _, partition, state, allocated, comment, minutes, submitted, account = line.split("|")
        given = dict(item.split("=") for item in allocated.split(","))
        rule, _, wildcards = comment.removeprefix("rule_").partition("_wildcards_")
        memory = int(given["mem"].removesuffix("M")) if given["mem"].endswith("M") else 1024 * int(given["mem"][:-1])
        gpus = int(given.get("gres/gpu", 0))
        ran = Ran(state.split()[0], partition, gpus, memory, int(minutes), wildcards, submitted, account)
        jobs[rule].append(ran)
    return dict(jobs)


def hashes(project: Project) -> dict[str, str]:
    """The sha256 of all results but the records, which tell times and jobs, and the manifest, which tells of them."""
    results, facts = project.folder / "results", (".prov.json", "manifest.json")
    files = [path for path in results.rglob("*") if path.is_file() and not path.name.endswith(facts)]
    return {str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_results_are_those_of_a_local_run(runs):
    there, here = hashes(runs.cluster), hashes(runs.here)
    assert len(here) > 80 and {"tiny/paper/index.html", "tiny/evaluation/scores.parquet"} <= set(here)
    assert there == here


def test_models_and_filters_had_a_gpu_in_its_partition_and_nothing_else_had_one(runs):
    needed = {"features", "image_start", "image_filter", "presence", "others", "pretrain", "train", "predict"}
    assert needed <= set(runs.jobs)
    for rule, jobs in runs.jobs.items():
        assert {(ran.partition, ran.gpus) for ran in jobs} == {("gpu", 1) if rule in needed else ("cpu", 0)}, rule


def test_a_comment_names_the_shard_and_what_takes_seconds_is_one_job(runs):
    done = [ran for jobs in runs.jobs.values() for ran in jobs]
    assert len(done) <= MOST_JOBS
    groups = [set(rule.split("_")) for rule in runs.jobs]
    assert any({"sprites", "lexicon", "ingest", "scenes"} <= group for group in groups)
    assert any({"gather", "balance", "split", "baseline"} <= group for group in groups)
    # Of the names of a group's rules a comment has the first five.
    assert any({"contents", "figure", "index", "manifest", "samples"} <= group for group in groups)
    assert sorted(ran.wildcards for ran in runs.jobs["subgraphs"]) == ["1-of-2", "2-of-2"]


def test_the_account_is_that_of_the_environment_and_submissions_are_spread(runs):
    done = [ran for jobs in runs.jobs.values() for ran in jobs]
    assert {ran.account for ran in done} == {"lab"}
    assert max(Counter(ran.submitted for ran in done).values()) <= MOST_A_SECOND


def test_a_job_out_of_time_is_given_more(runs):
    first, second = runs.jobs["late"]
    assert (first.state, first.minutes) == ("TIMEOUT", 1)
    assert (second.state, second.minutes) == ("COMPLETED", 2)


def test_a_job_out_of_memory_is_given_more(runs):
    first, second = runs.jobs["large"]
    assert first.state in ("FAILED", "OUT_OF_MEMORY") and second.state == "COMPLETED"
    assert second.memory > first.memory


def test_a_cancelled_job_is_tried_again(runs):
    assert [ran.state for ran in runs.jobs["cancelled"]] == ["CANCELLED", "COMPLETED"]


def test_a_job_works_offline_in_the_folder_that_was_asked_for(runs):
    environment = dict(
        line.split("=", 1) for line in (runs.accidents / "late.txt").read_text().splitlines() if "=" in line
    )
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["PWD"] == str(runs.accidents) and environment["TMPDIR"] == tempfile.gettempdir()


def test_records_name_the_job_and_logs_are_kept(runs):
    record = json.loads((runs.cluster.folder / "results/tiny/scenes/scenes.prov.json").read_text())
    assert record["job"].isdigit()
    assert (runs.cluster.folder / "logs/scenes.log").stat().st_size > 0
    kept = list((runs.cluster.folder / "logs/slurm").rglob("*.log"))
    assert any(path.stem == record["job"] for path in kept) and os.listdir(runs.here.folder / "logs")
