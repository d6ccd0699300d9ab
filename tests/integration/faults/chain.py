"""The smallest whole chain, run once without a fault: its jobs, its bytes, and copies of it to harm."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from snakemake.utils import update_config

from fixtures.project import Project, copy_project

HERE = Path(__file__).parent
RESULTS = "results/smallest"
TARGETS = (f"{RESULTS}/paper/index.html", f"{RESULTS}/words/noun/history.parquet")  # the second is trained
MADE = ("results", "resources")
OWN = (".prov.json", ".snakemake_timestamp")  # times and hosts: no two runs have the same


@dataclass(frozen=True)
class Job:
    """A job of the chain: what it reads and writes, and the seconds that it took without a fault."""

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Chain:
    """A project whose chain has run, its jobs in the order in which they began, and the sha256 of each file made."""

    project: Project
    jobs: tuple[Job, ...]
    hashes: dict[str, str]
    seconds: float

    def after(self, job: Job) -> list[Job]:
        """``job`` and all that directly or indirectly read what it makes."""
        made, found = set(job.outputs), [job]
        for other in self.jobs:
            if made & set(other.inputs):
                found.append(other)
                made |= set(other.outputs)
        return found

    def needed(self, goal: Job, gone: list[Job]) -> list[Job]:
        """Those of the jobs in ``gone`` that must run for ``goal``."""
        wanted, found = {*goal.inputs, *goal.outputs}, []
        for job in reversed(self.jobs):
            if job in gone and wanted & set(job.outputs):
                found.append(job)
                wanted |= set(job.inputs)
        return found[::-1]

    def without(self, gone: list[Job], folder: Path) -> Project:
        """A copy of the project in ``folder`` in which the jobs in ``gone`` have not run yet."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.project.folder, folder, symlinks=True)
        for path in (folder / output for job in gone for output in job.outputs):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return replace(self.project, folder=folder)

    def faults_of(self, project: Project, jobs: list[Job]) -> list[str]:
        """What is wrong with what lies in ``project``, where ``jobs`` must have run."""
        found = hashes(project.folder)
        wrong = [f"{path} has other bytes" for path in found if found[path] != self.hashes.get(path, found[path])]
        wrong += [f"{path} was left behind" for path in found if path not in self.hashes]
        outputs = [output for job in jobs for output in job.outputs]
        return wrong + [f"{path} is missing" for path in outputs if not (project.folder / path).exists()]


def hashes(folder: Path) -> dict[str, str]:
    """The sha256 of each file made in a project, hidden ones too, but of records."""
    files = [path for part in MADE for path in (folder / part).rglob("*") if path.is_file()]
    kept = sorted(path for path in files if not path.name.endswith(OWN))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


def run_clean(root: Path, folder: Path) -> Chain:
    """Run the chain in a new copy of the project; one that lies in ``folder`` from before is taken as it is."""
    # what is temporary stays, so that each job's outputs can be taken away and harmed
    project, log = Project(folder, "config/smallest.yaml", options=("--notemp",)), folder / "clean.log"
    if not log.exists():
        copy_project(root, folder)
        config = yaml.safe_load((root / "config/tiny.yaml").read_text())
        update_config(config, yaml.safe_load((HERE / "smallest.yaml").read_text()))
        (folder / project.config).write_text(yaml.safe_dump(config))
        start = time.monotonic()
        output = _run_anew(project)
        log.write_text(f"{time.monotonic() - start}\n{output}")
    seconds, _, output = log.read_text().partition("\n")
    return Chain(project, tuple(_jobs(output, folder)), hashes(folder), float(seconds))


def _run_anew(project: Project) -> str:
    """The output of a run whose jobs take as long as those that are killed: each a new process of Python."""
    done = subprocess.run(
        project.command(*TARGETS), cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def _jobs(log: str, folder: Path) -> list[Job]:
    """The jobs that a run's log tells of."""
    jobs = []
    for rule, told in re.findall(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", log, re.MULTILINE):
        lists = dict(re.findall(r"^    (input|output|benchmark): (.*)$", told, re.MULTILINE))
        inputs, outputs = (tuple(lists.get(key, "").split(", ")) for key in ("input", "output"))
        seconds = (folder / lists["benchmark"]).read_text().splitlines()[1].split("\t")[0]
        jobs.append(Job(rule, inputs, outputs, float(seconds)))
    assert len(jobs) > 10, f"the log tells of {len(jobs)} jobs:\n{log}"
    return jobs
