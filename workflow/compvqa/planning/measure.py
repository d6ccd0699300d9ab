"""What the jobs of a finished run cost: rows of the cost table from the files of Snakemake's ``benchmark:``."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compvqa.errors import InputError
from compvqa.files import read_json
from compvqa.planning.costs import Row, cpu_seconds
from compvqa.planning.jobs import MB, Job, Load, load_of, models_of
from compvqa.records.record import SUFFIX

TOLERANCE = 2.0  # seconds, between a job's last output and its benchmark file


@dataclass(frozen=True)
class Measured:
    """One job: its load, CPU and wall seconds, memory in MB, and the MB of its outputs by their names."""

    job: Job
    model: str
    load: Load
    cpu_s: float
    wall_s: float
    peak_mb: float
    outputs: Mapping[str, float]


def measured(
    jobs: Sequence[Job], benchmarks: Mapping[str, Path], size_of: Callable[[str], float | None]
) -> list[Measured]:
    """The jobs with a measurement of their own: its file was written when their outputs were.

    ``benchmarks`` are the files by the jobs' names; ``size_of`` gives the bytes of what is there, else None. Of what
    was temporary the jobs' records know the bytes.
    """
    gone = dict(_recorded(jobs))

    def size(path: str) -> float | None:
        there = size_of(path)
        return gone.get(path) if there is None else there

    found = []
    for job, model in zip(jobs, models_of(jobs), strict=True):
        sizes = {path: bytes_ for path in job.inputs if (bytes_ := size(path)) is not None}
        path = benchmarks.get(job.name)
        if path is None or not path.exists() or sizes.keys() != {*job.inputs}:
            continue
        wall, cpu, peak = _read(path)
        if not _together(path, wall, [Path(output) for _, output in job.outputs]):
            continue
        outputs: dict[str, float] = defaultdict(float)
        for name, output in job.outputs:
            outputs[name] += (size(output) or 0) / MB
        found.append(Measured(job, model, load_of(job, sizes), cpu, wall, peak, outputs))
    return found


def _recorded(jobs: Iterable[Job]) -> Iterator[tuple[str, float]]:
    """The files that jobs wrote with their bytes, by the jobs' records; older records do not tell them."""
    for record in {path for job in jobs for _, path in job.outputs if path.endswith(SUFFIX)}:
        if Path(record).exists():
            yield from ((file["path"], file["bytes"]) for file in read_json(record)["outputs"] if "bytes" in file)


def rows(found: Iterable[Measured], testbed: str, machine: str) -> list[Row]:
    """Rows of the cost table: the sums over jobs of a rule, a model and a unit of work.

    Jobs that draw are summed by how many scenes each draws: two numbers tell what a job takes and what a scene.
    """
    groups = defaultdict(list)
    for one in found:
        drawn = one.load.work if one.load.unit == "scenes" else None
        groups[one.job.rule, one.model, one.load.unit, drawn].append(one)
    return [
        Row(
            rule=rule,
            model=model,
            testbed=testbed,
            jobs=len(group),
            cpu_s=sum(one.cpu_s for one in group),
            wall_s=sum(one.wall_s for one in group),
            peak_mb=max(one.peak_mb for one in group),
            input_mb=sum(one.load.mb for one in group),
            work=sum(one.load.work for one in group),
            unit=unit,
            gpus=max(one.job.gpus for one in group),
            machine=machine,
            outputs=dict(sum((Counter(one.outputs) for one in group), Counter())),
        )
        for (rule, model, unit, _), group in groups.items()
    ]


def _read(path: Path) -> tuple[float, float, float]:
    """Wall and CPU seconds and the peak of memory in MB (0 where a job was too short to be looked at)."""
    try:
        with path.open(encoding="utf-8") as file:
            last = list(csv.DictReader(file, delimiter="\t"))[-1]
        sampled, peak = (None if last[key] == "NA" else float(last[key]) for key in ("cpu_time", "max_rss"))
        wall = float(last["s"])
        return wall, cpu_seconds(wall, sampled), peak or 0.0
    except (IndexError, KeyError, TypeError, ValueError):
        raise InputError(f"{path} is no benchmark file of Snakemake: delete it.") from None


def _together(path: Path, wall: float, outputs: Iterable[Path]) -> bool:
    """Whether a benchmark file that tells of so many seconds was written at the end of the run that wrote these."""
    written = [output.stat().st_mtime for output in outputs if output.is_file()]
    return bool(written) and -TOLERANCE <= path.stat().st_mtime - max(written) <= TOLERANCE + 0.1 * wall
