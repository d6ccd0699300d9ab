"""The cost table: what the jobs of finished runs cost, and curves through it.

A row has the jobs of one rule in one test-bed together (for each size of model apart): their CPU and wall seconds,
the MB that they read and wrote, and their work in the unit that it is counted in (see :mod:`compvqa.planning.jobs`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from compvqa import tables
from compvqa.errors import InputError
from compvqa.planning.jobs import Load

# When Snakemake measures a job: each half second at first, then every half minute, but not at its end.
SHORT, SHORT_UNTIL, LONG = 0.5, 15.0, 30.0
LEAST = 1e-9  # of work: what is less, a part of a byte, is none


@dataclass(frozen=True)
class Row:
    """Sums over ``jobs`` jobs; ``outputs`` are MB by the outputs' names in the rule, ``peak_mb`` is the largest."""

    rule: str
    model: str
    testbed: str
    jobs: int
    cpu_s: float
    wall_s: float
    peak_mb: float
    input_mb: float
    work: float
    unit: str
    gpus: int = 0
    machine: str = ""
    outputs: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Curve:
    """An amount by the work of a job: straight from one measured job to the next, never falling, and beyond the largest
    as from none to the largest. ``work`` rises from 0, where the amount is what is ``fixed``."""

    work: tuple[float, ...]
    amounts: tuple[float, ...]

    @property
    def fixed(self) -> float:
        """The amount of a job without work."""
        return self.amounts[0]

    @property
    def slope(self) -> float:
        """The amount for each unit of work, by the largest measured job."""
        return (self.amounts[-1] - self.fixed) / self.work[-1] if self.work[-1] else 0.0

    def at(self, work: float) -> float:
        """The amount at so much work."""
        beyond = max(work - self.work[-1], 0.0)
        return float(np.interp(work, self.work, self.amounts)) + self.slope * beyond


def fit(rows: Iterable[tuple[float, float, float]], typical: float = math.inf) -> Curve:
    """The curve through rows of (jobs, work, amount).

    What is fixed is where the straight line with the least relative errors begins. One row does not tell what is fixed
    and what grows: then the slope is the ``typical`` one, as far as the row allows.
    """
    means = defaultdict(list)
    for jobs, work, amount in rows:
        if amount > 0:
            load = work / jobs
            means[load if load > LEAST else 0.0].append(amount / jobs)
    points = sorted((work, sum(amounts) / len(amounts)) for work, amounts in means.items())
    if not points:
        return Curve((0.0,), (0.0,))
    known = [(0.0, _fixed(points, typical)), *(point for point in points if point[0] > 0)]
    most = np.maximum.accumulate([amount for _, amount in known])
    return Curve(tuple(work for work, _ in known), tuple(map(float, most)))


def _fixed(points: Sequence[tuple[float, float]], typical: float) -> float:
    """The amount of a job without work, by (work, amount) of jobs with different work."""
    if len(points) == 1:
        [(work, amount)] = points
        return max(amount - typical * work, 0.0) if work else amount
    work, amount = np.array(points, dtype=float).T
    share = np.stack([np.ones_like(work), work], axis=1) / amount[:, None]
    return float(nnls(share, np.ones(len(amount)))[0][0])


@dataclass(frozen=True)
class Cost:
    """What a job is expected to cost, by what was measured on ``machines``; ``bound`` says that it asks for a GPU and
    was measured without."""

    cpu_s: float
    wall_s: float
    outputs: dict[str, float]
    bound: bool
    machines: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Fitted:
    """Curves through the rows that are like a job, whether these lack its GPU, and where they were measured."""

    cpu: Curve
    wall: Curve
    outputs: dict[str, Curve]
    bound: bool
    machines: tuple[str, ...]


class Costs:
    """Rows of a cost table, and what they say of other jobs."""

    def __init__(self, rows: Iterable[Row]):
        self.rows = list(rows)
        self._fitted: dict[tuple[str, str, str, bool], _Fitted | None] = {}

    def of(self, rule: str, model: str, load: Load, gpus: int = 0) -> Cost | None:
        """The cost of a job, and the MB of each of its outputs; None where no row is like it."""
        key = (rule, model, load.unit, gpus > 0)
        if key not in self._fitted:
            self._fitted[key] = self._fit(*key)
        if (fitted := self._fitted[key]) is None:
            return None
        written = {name: curve.at(_size(model, load)) for name, curve in fitted.outputs.items()}
        return Cost(fitted.cpu.at(load.work), fitted.wall.at(load.work), written, fitted.bound, fitted.machines)

    def sizes(self, rule: str, model: str, load: Load) -> dict[str, float]:
        """The MB of a job's outputs where no row is like it: by its rule's other rows, since models change little."""
        rows = [row for row in self.rows if row.rule == rule]
        return {name: curve.at(_size(model, load)) for name, curve in _outputs(model, load.unit, rows).items()}

    def _fit(self, rule: str, model: str, unit: str, gpu: bool) -> _Fitted | None:
        rows = [row for row in self.rows if (row.rule, row.model, row.unit) == (rule, model, unit)]
        with_gpu = [row for row in rows if row.gpus > 0]
        rows = (with_gpu if gpu else [row for row in rows if not row.gpus]) or rows
        if not rows:
            return None
        cpu, wall = (
            fit([(row.jobs, row.work, getattr(row, amount)) for row in rows], self._typical(amount, unit))
            for amount in ("cpu_s", "wall_s")
        )
        machines = tuple(sorted({row.machine for row in rows}))
        return _Fitted(cpu, wall, _outputs(model, unit, rows), gpu and not with_gpu, machines)

    @cache  # noqa: B019 - there are one or two of these tables in a run
    def _typical(self, amount: str, unit: str) -> float:
        """The median slope of the rules that were measured with more than one load; infinite where there is none."""
        groups = defaultdict(list)
        for row in self.rows:
            if row.unit == unit:
                groups[row.rule, row.model].append((row.jobs, row.work, getattr(row, amount)))
        slopes = [fit(group).slope for group in groups.values() if len({work / jobs for jobs, work, _ in group}) > 1]
        return float(np.median(slopes)) if slopes else math.inf

    def replaced(self, testbed: str, rows: Iterable[Row]) -> Costs:
        """These costs with other rows for one test-bed."""
        return Costs([row for row in self.rows if row.testbed != testbed] + list(rows))

    def without(self, testbed: str) -> Costs:
        """These costs without those of one test-bed."""
        return self.replaced(testbed, [])


def _outputs(model: str, unit: str, rows: list[Row]) -> dict[str, Curve]:
    sizes = [(row, _size(model, Load(row.input_mb, row.work, unit))) for row in rows]
    names = sorted({name for row in rows for name in row.outputs})
    return {name: fit([(row.jobs, size, row.outputs.get(name, 0)) for row, size in sizes]) for name in names}


def _size(model: str, load: Load) -> float:
    """What a job's outputs grow with: weights are as large after any number of steps, however much they learnt from."""
    if load.unit == "scenes":
        return load.work
    return 0.0 if model and load.unit != "MB" else load.mb


def cpu_seconds(wall: float, sampled: float | None) -> float:
    """The CPU seconds of a job of so many wall seconds, by what Snakemake counted until it last looked.

    What the job did after that is taken to be like what it did before; a job that was never looked at, to have had
    one core.
    """
    if wall < SHORT_UNTIL:
        looked = SHORT * math.floor(wall / SHORT)
    else:
        looked = SHORT_UNTIL + LONG * math.floor((wall - SHORT_UNTIL) / LONG)
    return sampled * wall / looked if sampled is not None and looked else wall


def read_costs(path: Path) -> Costs:
    """The costs in a table; none where there is no such file. Raises :class:`InputError` for a wrong table."""
    if not path.exists():
        return Costs([])
    names = [part.name for part in fields(Row)]
    table = pd.read_csv(path, sep="\t", comment="#", keep_default_na=False)
    if missing := set(names) - set(table.columns):
        raise InputError(f"{path} lacks the column {min(missing)}: let `make costs` write it.")
    try:
        return Costs(Row(**row | {"outputs": _split(row["outputs"])}) for row in table[names].to_dict("records"))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{path} has a row that is wrong ({error}): correct it, or let `make costs` write it."
        ) from None


def write_costs(path: Path, costs: Costs, head: str) -> None:
    """Write the table, sorted, with ``head`` as comments before it."""
    rows = sorted(costs.rows, key=lambda row: (row.rule, row.model, row.testbed))
    lines = [f"# {line}".rstrip() for line in head.strip().splitlines()]
    lines.append("\t".join(part.name for part in fields(Row)))
    lines += ["\t".join(_text(getattr(row, part.name)) for part in fields(Row)) for row in rows]
    with tables.replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _text(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_text(mb)}" for name, mb in sorted(value.items()))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _split(text: str) -> dict[str, float]:
    return {name: float(mb) for name, _, mb in (part.partition("=") for part in text.split())}
