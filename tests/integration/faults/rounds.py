"""One round: a part of the chain that has not run yet, a fault while it runs, and a rerun as the README says."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from fixtures.project import Project
from integration.faults.chain import MADE, Chain, Job
from integration.faults.disk import SmallDisk
from integration.faults.server import Stalling, served

SAME = "ran again to the same bytes"
NAMED = "named, then the same bytes"
ENDED = "no fault: the run was over"
WAIT = 300  # seconds after which a run hangs


@dataclass
class Round:
    """A round's number, its random choices, its project, and the jobs that must run in it for ``goal``."""

    number: int
    draw: random.Random
    chain: Chain
    project: Project
    goal: Job
    jobs: list[Job]

    def check(self, output: str = "") -> None:
        """Raise where the project is not as after a run without a fault."""
        wrong = self.chain.faults_of(self.project, self.jobs)
        if wrong:
            raise AssertionError("; ".join(wrong[:5]) + f"\n{output[-3000:]}")

    def rerun(self) -> None:
        """Run again, as the README says."""
        done = self.project.run(self.goal.outputs[0], check=False)
        if done.returncode:
            raise AssertionError(f"the rerun failed:\n{done.stdout[-4000:]}")
        self.check(done.stdout)

    def told(self, words: str) -> str:
        """The sentence with ``words`` with which each job that fails in a run here must end; empty where none does."""
        done = self.project.run(self.goal.outputs[0], check=False)
        if done.returncode == 0:
            return ""
        told = [line for line in done.stdout.splitlines() if line.startswith("compvqa: ")]
        failed = sum(line.startswith("Error in rule ") for line in done.stdout.splitlines())
        if not told or len(told) != failed or "Traceback" in done.stdout or any(words not in line for line in told):
            raise AssertionError(f"{failed} jobs failed, and told {told}, not {words!r}:\n{done.stdout[-4000:]}")
        return told[0]


# Who gets which signal: how to find it among the run's processes
def _driver(run: psutil.Process) -> list[psutil.Process]:
    return [run]


def _all(run: psutil.Process) -> list[psutil.Process]:
    return [run, *run.children(recursive=True)]


def _workers(run: psutil.Process) -> list[psutil.Process]:
    return [
        process for process in _all(run)[1:] if "compvqa" in _command(process)[1:4] and "-c" not in _command(process)
    ]


def _shells(run: psutil.Process) -> list[psutil.Process]:
    return [process for process in _all(run)[1:] if "-c" in _command(process)[:2]]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


Find = Callable[[psutil.Process], list[psutil.Process]]


def kill(find: Find, number: signal.Signals) -> Callable[[Round], str]:
    """A fault: ``number`` is sent, at a random moment, to those processes of the run that ``find`` finds."""

    def fault(now: Round) -> str:
        early = now.draw.random() < 0.1  # as often while the workflow is still being read
        place = now.draw.randrange(len(now.jobs))
        moment = now.draw.random() * (3 if early else 0.7 * now.jobs[place].seconds)
        run = _start(now)
        begun: set[int] = set()
        if not early:
            _until(run, lambda: bool(begun.update(process.pid for process in _workers(run))) or len(begun) > place)
        _until(run, lambda: False, moment)
        _until(run, lambda: bool(find(run)))
        hit = _send(run, find, number)
        try:
            run.wait(WAIT)
        except psutil.TimeoutExpired:
            raise AssertionError(f"the run hangs after {number.name}") from None
        if number == signal.SIGKILL and find in (_driver, _all):
            now.project.run("--unlock")
        now.rerun()
        _end_of(_members(run.pid))
        now.check("after the jobs that the first run left behind")
        return SAME if hit else ENDED

    return fault


def _start(now: Round) -> psutil.Process:
    with (now.project.folder / "run.log").open("wb") as log:
        return psutil.Popen(
            now.project.command(now.goal.outputs[0]),
            cwd=now.project.folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _until(run: psutil.Process, reached: Callable[[], bool], seconds: float = WAIT) -> None:
    """Wait for what is reached, for the run's end, or for so many seconds."""
    end = time.monotonic() + seconds
    while run.poll() is None and time.monotonic() < end:
        try:
            if reached():
                return
        except psutil.Error:
            pass
        time.sleep(0.02)


def _send(run: psutil.Process, find: Find, number: signal.Signals) -> bool:
    """Send the signal; whether there was anyone to get it."""
    if run.poll() is not None:
        return False
    hit = False
    for process in find(run):
        try:
            process.send_signal(number)
            hit = True
        except psutil.Error:
            continue
    return hit


def _members(session: int) -> list[psutil.Process]:
    """What still runs of a run's session."""
    return [process for process in psutil.process_iter() if _session(process) == session]


def _session(process: psutil.Process) -> int:
    try:
        return os.getsid(process.pid)
    except OSError:
        return -1


def _end_of(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=WAIT)
    for process in alive:
        process.kill()
    assert not alive, f"a job of the first run hangs: {alive}"


def corrupt(change: Callable[[bytes, random.Random], bytes]) -> Callable[[Round], str]:
    """A fault: a file that the next job reads is changed."""

    def fault(now: Round) -> str:
        made = {output for job in now.chain.jobs for output in job.outputs}
        first = now.jobs[0]
        path = now.project.folder / now.draw.choice([name for name in first.inputs if name in made])
        if path.is_dir():
            path = now.draw.choice(sorted(file for file in path.rglob("*") if file.name[0] != "."))
        path.write_bytes(change(path.read_bytes(), now.draw))
        name = str(path.relative_to(now.project.folder))
        told = now.told(f"compvqa: {name} ")
        if not told:
            now.check(f"after {name} was changed unnoticed")
            return "made anew unasked"
        gone = told.rpartition("delete ")[2].partition(" and run again")[0]
        _delete(now.project.folder / (name if gone == "it" else gone))
        now.rerun()
        return NAMED

    return fault


def _delete(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def flip(data: bytes, draw: random.Random) -> bytes:
    """One bit is another."""
    place = draw.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]


def truncate(data: bytes, draw: random.Random) -> bytes:
    """The end is gone."""
    return data[: draw.randrange(1, len(data))]


def empty(data: bytes, draw: random.Random) -> bytes:
    """Nothing is left."""
    return b""


def garbage(data: bytes, draw: random.Random) -> bytes:
    """As many bytes, none as it was."""
    return draw.randbytes(len(data))


def fill_disk(now: Round) -> str:
    """A fault: the disk with the results has less room than the jobs need."""
    folder = now.project.folder
    needs = sum((folder / path).stat().st_size for path in _sizes(now))
    with SmallDisk(folder / "results", round(now.draw.random() * needs)) as disk:
        told = now.told(" could not be written: ")
        disk.enlarge()
        now.rerun()
    return NAMED if told else "had room enough"


def _sizes(now: Round) -> list[str]:
    clean = now.chain.project.folder
    return [str(clean / output) for job in now.jobs for output in job.outputs if output.startswith("results")]


def stall(now: Round) -> str:
    """A fault: a server sends a part of a download and then nothing."""
    with served(now.draw) as server:
        with (now.project.folder / "config/sources.tsv").open("a", encoding="utf-8") as sources:
            sources.write(server.line())
        told = _fetch(now, server)
        if "goes on from byte" not in told or "stalled.dat" not in told:
            raise AssertionError(f"the download stalled, but the error says: {told or 'nothing'}")
        server.stalls = False
        again = _fetch(now, server)
    if again or (now.project.folder / server.target).read_bytes() != server.content:
        raise AssertionError(f"the download did not go on: {again}")
    if server.asked != [0, server.part]:
        raise AssertionError(f"bytes were asked for from {server.asked}, not from 0 and {server.part}")
    left = [path.name for path in (now.project.folder / server.target).parent.iterdir() if path.suffix == ".part"]
    assert not left, f"{left} was left behind"
    return NAMED


def _fetch(now: Round, server: Stalling) -> str:
    done = Project(now.project.folder, now.project.config, {"COMPVQA_TIMEOUT": "1"}).run(server.target, check=False)
    told = [line for line in done.stdout.splitlines() if line.startswith("compvqa: ")]
    assert (done.returncode != 0) == bool(told) and "Traceback" not in done.stdout, done.stdout[-3000:]
    return " ".join(told)


FAULTS: dict[str, Callable[[Round], str]] = {
    "driver killed (-9)": kill(_driver, signal.SIGKILL),
    "driver and its jobs killed (-9)": kill(_all, signal.SIGKILL),
    "driver terminated (-15)": kill(_driver, signal.SIGTERM),
    "driver interrupted (-2)": kill(_driver, signal.SIGINT),
    "a job's shell killed (-9)": kill(_shells, signal.SIGKILL),
    "a worker killed (-9)": kill(_workers, signal.SIGKILL),
    "a worker terminated (-15)": kill(_workers, signal.SIGTERM),
    "a bit flipped": corrupt(flip),
    "a file truncated": corrupt(truncate),
    "a file emptied": corrupt(empty),
    "a file of garbage": corrupt(garbage),
    "disk full": fill_disk,
    "download stalled": stall,
}


def play(chain: Chain, folder: Path, seed: int, number: int) -> tuple[str, str, str]:
    """Play round ``number`` in ``folder``; gives its fault, the jobs that it hit, and its outcome.

    All that is random is drawn from the seed and the number. Each fault comes once in as many rounds as there are
    faults. Raises AssertionError where a rerun ends otherwise than a run without a fault, or nobody says what is wrong.
    """
    names = list(FAULTS)
    random.Random(f"{seed}:{number // len(names)}").shuffle(names)
    name, draw = names[number % len(names)], random.Random(f"{seed}:{number}")
    first = draw.choice([job for job in chain.jobs if _fits(name, job)])
    gone = chain.after(first)
    goal = draw.choice([job for job in gone if len(chain.needed(job, gone)) <= 3])
    jobs = chain.needed(goal, gone)
    now = Round(number, draw, chain, chain.without(gone, folder), goal, jobs)
    try:
        outcome = FAULTS[name](now)
    except AssertionError as error:
        raise AssertionError(f"round {number}, {name}, {[job.rule for job in jobs]}: {error}") from None
    shutil.rmtree(folder)
    where = "a download" if FAULTS[name] is stall else " → ".join(job.rule for job in jobs)
    return name, where, outcome


def _fits(fault: str, job: Job) -> bool:
    """Whether a job can be the first to meet a fault: it needs inputs to corrupt, and outputs to fill a disk with."""
    reads = any(name.split("/")[0] in MADE for name in job.inputs)
    writes = all(name.startswith("results/") for name in job.outputs)
    return reads and writes if FAULTS[fault] is fill_disk or fault.startswith("a ") else True
