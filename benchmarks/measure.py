"""What a stage costs: CPU seconds, peak memory, disk and bytes written, each stage in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import log
from pathlib import Path
from types import TracebackType

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from compvqa.errors import InputError  # noqa: E402  (found by the line above)


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What the user of a benchmark can mend is one sentence, as on the command line."""
    if isinstance(error, InputError):
        sys.stderr.write(f"{error}\n")
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _tell


@dataclass(frozen=True)
class Cost:
    """CPU seconds (user and system), peak resident memory (MB), bytes written, seconds on the clock, and the most bytes
    that lay on the disk for a while."""

    cpu: float
    memory: float
    written: int
    wall: float
    scratch: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Both, one after the other."""
        memory, scratch = max(self.memory, other.memory), max(self.scratch, other.scratch)
        return Cost(self.cpu + other.cpu, memory, self.written + other.written, self.wall + other.wall, scratch)


NOTHING = Cost(0, 0, 0, 0)
LOOK = 0.5  # seconds between two looks at the scratch folders


def stage(arguments: Sequence[object], outputs: Iterable[Path], log_file: Path) -> Cost:
    """Run ``python -m compvqa`` with these arguments; the sizes are those of the files in ``outputs``.

    What it prints goes to ``log_file``. Ends the benchmark if the stage fails.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    command = [sys.executable, "-m", "compvqa", *map(str, arguments)]
    begin = time.monotonic()
    with log_file.open("a", encoding="utf-8") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        scratch, done = 0, 0
        while not done:
            time.sleep(LOOK)
            scratch = max(scratch, _scratch(log_file.parent))
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        last = log_file.read_text(encoding="utf-8").splitlines()[-1:]
        sys.exit(f"{' '.join(command)} failed: {''.join(last)} (all of it is in {log_file})")
    written = sum(file.stat().st_size for path in outputs for file in ([path] if path.is_file() else path.rglob("*")))
    cpu, wall = usage.ru_utime + usage.ru_stime, time.monotonic() - begin
    return Cost(cpu, usage.ru_maxrss / 1024, written, wall, scratch)


def options_of(files: dict[str, Path]) -> list[object]:
    """The files as command-line options of their names."""
    return [part for name, path in files.items() for part in (f"--{name}", path)]


def _scratch(folder: Path) -> int:
    """Bytes in the hidden folders somewhere in ``folder``: there stages put what does not fit into memory."""
    total = 0
    for parent, _, files in os.walk(folder):
        if any(part.startswith(".") for part in Path(parent).relative_to(folder).parts):
            for name in files:
                with suppress(FileNotFoundError):
                    total += os.stat(os.path.join(parent, name)).st_size
    return total


def checkouts(provision: Path | None, covr: Path | None) -> None:
    """End in a sentence if one of other generators' checkouts is named and is none."""
    for code, part, of in (
        (provision, "provision/dataset.py", "JieyuZ2/ProVision"),
        (covr, "generation/dataset_gen", "benbogin/covr-dataset"),
    ):
        if code and not (code / part).exists():
            sys.exit(f"{code} has no {part}: name a checkout of github.com/{of}.")


@dataclass(frozen=True)
class Spent:
    """CPU seconds of this process (all threads) and of those that it started and that run, and seconds on the clock."""

    here: float
    server: float
    wall: float

    @classmethod
    def so_far(cls) -> Spent:
        times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
        return cls(time.process_time(), sum(item.user + item.system for item in times), time.monotonic())

    def __sub__(self, earlier: Spent) -> Spent:
        return Spent(self.here - earlier.here, self.server - earlier.server, self.wall - earlier.wall)

    @property
    def cpu(self) -> float:
        return self.here + self.server


def exponent(smaller: tuple[int, float], larger: tuple[int, float]) -> float:
    """The power of the size that the cost grows with: 1 is linear. Each is (size, cost)."""
    return log(larger[1] / smaller[1]) / log(larger[0] / smaller[0])


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table, its first column to the left and the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        rest = (text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))
        print("  ".join([line[0].ljust(widths[0]), *rest]).rstrip())
