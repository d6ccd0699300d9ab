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
STAGES = ("sprites", "candidates", "questions", "features", "train", "paper")


def kill_in(project, stage: str, seconds: float = 300) -> bool:
    """Start a run and kill -9 it, with all its jobs, when a log of ``stage`` appears. Whether it was killed."""
    known = set((project.folder / "logs").rglob("*.log"))
    process = subprocess.Popen(
        project.command(),
        cwd=project.folder,
        env=os.environ | project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        new = set((project.folder / "logs").rglob("*.log")) - known
        if any(stage in path.relative_to(project.folder).as_posix() for path in new):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.02)
    process.wait()
    return False


def test_a_run_killed_in_six_stages_ends_with_the_same_bytes(root, finished, tmp_path):
    project = copy_project(root, tmp_path / "project")
    for stage in STAGES:
        assert kill_in(project, stage), f"the run was over before {stage} began"
        project.run("--unlock")
    project.run()
    assert project.hashes(*RESULTS) == finished.hashes(*RESULTS)
    assert project.plan() == set()
