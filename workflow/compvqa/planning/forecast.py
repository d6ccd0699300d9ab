"""What the jobs of a run will cost, and why each of them runs: from the first to the last, since sizes follow.

The size of a file that is there and stays is its own; of a file that is made again, its own too, if what its job reads
does not grow. Of other files it is what the rule's outputs were to its inputs in measured runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from compvqa.planning.costs import Cost, Costs
from compvqa.planning.jobs import MB, Job, Load, gone_through, load_of, models_of

NO_ROW, NO_SIZE = "no row of the cost table is like them", "the size of what they read is not known"


@dataclass(frozen=True)
class Estimate:
    """What is known of one job: ``cost`` is None where it is ``unknown`` for that reason; ``kept`` and ``replaced``
    are bytes that it writes for good and bytes that it overwrites; ``why`` is its cause, or what it follows."""

    job: Job
    why: str
    model: str
    cost: Cost | None
    unknown: str
    kept: float
    replaced: float


@dataclass(frozen=True)
class Total:
    """Sums over jobs; hours are of CPUs and GPUs, disk is in bytes. ``known`` jobs have an estimate; of
    ``gpu_jobs``, which ask for a GPU, ``gpu_known``."""

    jobs: int
    known: int
    cpu_h: float
    gpu_h: float
    gpu_jobs: int
    gpu_known: int
    disk: float
    replaced: float
    bound: bool
    rules: Counter
    why: Counter

    @classmethod
    def of(cls, estimates: Iterable[Estimate]) -> Total:
        """The sums over these."""
        estimates = list(estimates)
        costs = [(estimate.job, estimate.cost) for estimate in estimates if estimate.cost]
        return cls(
            jobs=len(estimates),
            known=len(costs),
            cpu_h=sum(cost.cpu_s for _, cost in costs) / 3600,
            gpu_h=sum(cost.wall_s * job.gpus for job, cost in costs) / 3600,
            gpu_jobs=sum(estimate.job.gpus > 0 for estimate in estimates),
            gpu_known=sum(job.gpus > 0 for job, _ in costs),
            disk=sum(estimate.kept for estimate in estimates),
            replaced=sum(estimate.replaced for estimate in estimates),
            bound=any(cost.bound for _, cost in costs),
            rules=Counter(estimate.job.rule for estimate in estimates),
            why=Counter(estimate.why for estimate in estimates),
        )


def forecast(
    jobs: Sequence[Job],
    costs: Costs,
    size_of: Callable[[str], float | None],
    told: Mapping[str, float] = MappingProxyType({}),
) -> list[Estimate]:
    """An estimate of each of ``jobs`` that runs; each job comes after those whose outputs it reads.

    ``size_of`` gives the bytes of a file or folder that is there, None of another; ``told`` are bytes of files that
    are not there yet, where somebody knows them.
    """
    later: dict[str, float | None] = {}
    roots: dict[str, frozenset[str]] = {}
    found = []
    for job, model in zip(jobs, models_of(jobs), strict=True):
        if not job.runs:
            continue
        roots[job.name] = frozenset([job.rule]) if job.cause else frozenset().union(*(roots[n] for n in job.after))
        why = job.cause or f"follows {_listed(sorted(roots[job.name]))}"
        load = _load(job, size_of, later)
        cost = costs.of(job.rule, model, load, job.gpus) if load else None
        now = {path: size_of(path) for _, path in job.outputs}
        outputs = cost.outputs if cost else costs.sizes(job.rule, model, load) if load else {}
        written = _written(job, outputs, now, _growth(job, load, size_of))
        written |= {path: told[path] for path in now.keys() & told.keys()}
        later |= written
        kept = {path: size or 0.0 for path, size in written.items() if path not in job.temporary}
        replaced = sum(size or 0.0 for size in now.values())
        unknown = "" if cost else NO_ROW if load else NO_SIZE
        found.append(Estimate(job, why, model, cost, unknown, sum(kept.values()), replaced))
    return found


def from_nothing(jobs: Sequence[Job], costs: Costs, size_of: Callable[[str], float | None]) -> list[Estimate]:
    """As :func:`forecast`, if nothing had been made yet: to compare with what a finished run cost."""
    made = {path for job in jobs for _, path in job.outputs}
    fresh = [replace(job, runs=True, cause="not made yet") for job in jobs]
    return forecast(fresh, costs, lambda path: None if path in made else size_of(path))


def _load(
    job: Job, size_of: Callable[[str], float | None], later: Mapping[str, float | None] = MappingProxyType({})
) -> Load | None:
    """A job's load, None where the size of an input that it goes through is not known. ``later``: sizes of files that
    other jobs write before."""
    sizes = {path: later[path] if path in later else size_of(path) for path in gone_through(job)}
    known = {path: size for path, size in sizes.items() if size is not None}
    return load_of(job, known) if len(known) == len(sizes) else None


def _growth(job: Job, load: Load | None, size_of: Callable[[str], float | None]) -> float | None:
    """How many times as large as now a job's inputs will be, None where that is not known."""
    before = _load(job, size_of)
    return load.mb / before.mb if load and before and before.mb else None


def _written(
    job: Job, outputs: Mapping[str, float], now: Mapping[str, float | None], growth: float | None
) -> dict[str, float | None]:
    """The bytes of each output: by what they are now, else by ``outputs``, MB by name; lists are dealt evenly."""
    files = Counter(name for name, _ in job.outputs)

    def size(name: str, path: str) -> float | None:
        before = now[path]
        if before is not None and growth is not None:
            return before * growth
        return outputs.get(name, 0.0) * MB / files[name] if outputs else before

    return {path: size(name, path) for name, path in job.outputs}


def _listed(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def by(estimates: Iterable[Estimate], part: Callable[[Job], str]) -> dict[str, Total]:
    """Totals of the jobs that have the same ``part``, in order of the first of them."""
    groups = defaultdict(list)
    for estimate in estimates:
        groups[part(estimate.job)].append(estimate)
    return {name: Total.of(group) for name, group in groups.items()}
