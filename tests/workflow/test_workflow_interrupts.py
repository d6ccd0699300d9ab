"""A run that is killed goes on where it was, to the same bytes."""

import os
import signal
import subprocess
import time

import pytest

from fixtures.project import copy_project

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once

# Everything that is promised to be equal: all but records (times), pages' records, logs
RESULTS = ("tiny/**/*.parquet", "tiny/**/*.npy", "tiny/**/*.safetensors", "tiny/**/*.csv", "tiny/**/*.png")
JOBS = 18  # a run is killed when so many of its jobs have begun


def killed(project, seconds: float = 600) -> bool:
    """Start a run and kill -9 it, with all its jobs, in the middle of one; whether it was killed."""
    start = time.time()
    process = subprocess.Popen(
        project.command(),
        cwd=project.folder,
        env=os.environ | project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and time.time() < start + seconds:
        logs = (project.folder / "logs").rglob("*.log")
        if sum(path.stat().st_mtime >= start for path in logs) >= JOBS:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.02)
    assert process.wait(timeout=1) == 0, "the run failed, or hung"
    return False


def test_a_run_killed_again_and_again_ends_with_the_same_bytes(root, finished, tmp_path):
    project = copy_project(root, tmp_path / "project")
    kills = 0
    while killed(project):
        kills += 1
        project.run("--unlock")
    assert kills >= 4
    assert project.hashes(*RESULTS) == finished.hashes(*RESULTS)
    assert project.plan() == set()
