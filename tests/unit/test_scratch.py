"""What killed runs leave is cleared by the next run, and by no other."""

import os
import subprocess
import sys
from pathlib import Path

from compvqa.scratch import clear_temporaries, scratch_folder

KILLED = """
import os, signal, sys
from compvqa.scratch import scratch_folder
with scratch_folder(sys.argv[1], "work") as folder:
    (folder / "spilled").write_text("much")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(parent: Path) -> None:
    """Have a process be killed inside its scratch folder."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert subprocess.run([sys.executable, "-c", KILLED, str(parent)], env=environment).returncode == -9


def test_a_scratch_folder_goes_at_the_end_and_with_it_what_a_killed_run_left(tmp_path):
    killed(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    with scratch_folder(tmp_path, "other"), scratch_folder(tmp_path, "work") as mine:
        with scratch_folder(tmp_path, "work") as second:
            assert mine != second and mine.is_dir()  # those of a process that runs are let be
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_is_known_to_have_ended_before_its_parent_asks_how(tmp_path):
    """As in a container whose first process asks for none of those that were left to it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], env=environment)
    os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and still has its number
    assert len(list(tmp_path.iterdir())) == 1
    with scratch_folder(tmp_path, "work"):
        assert len(list(tmp_path.iterdir())) == 1
    assert run.wait() == -9 and list(tmp_path.iterdir()) == []


def test_temporaries_of_outputs_are_cleared_and_others_let_be(tmp_path):
    names = [".a[1].csv.77.tmp", ".a[1].csv.x.tmp", ".b.csv.77.tmp", "a[1].csv", ".a[1].csv.store"]
    for name in names:
        (tmp_path / name).write_text("")
    clear_temporaries([tmp_path / "a[1].csv", tmp_path / "new" / "c.csv"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[2:])
