"""Before a run: which jobs it has, why, and about what they cost. After one: the rows of the cost table.

    python workflow/plan.py --configfile config/covr.yaml
    python workflow/plan.py --configfile config/config.yaml --measure
    python workflow/plan.py --configfile config/config.yaml --check

It is beside the package, since only it talks to Snakemake. docs/plan.md says how costs are estimated.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.table import Table
from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    ExecutionSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

from compvqa.errors import InputError
from compvqa.planning.changes import change
from compvqa.planning.costs import Costs, read_costs, write_costs
from compvqa.planning.forecast import NO_ROW, Estimate, Total, by, forecast, from_nothing
from compvqa.planning.jobs import MB, Job
from compvqa.planning.measure import measured, rows
from compvqa.scenes.download import read_sources

SNAKEFILE = Path(__file__).parent / "Snakefile"
CONFIG = Path(__file__).parent.parent / "config"
COSTS, SOURCES = CONFIG / "costs.tsv", CONFIG / "sources.tsv"
HEAD = """What the jobs of finished runs cost; written by `make costs`, read by `make plan` (docs/plan.md).
A row sums the jobs of a rule in a test-bed, models of other sizes apart: CPU and wall seconds, the largest memory in
MB, MB read (a shard's part of what all shards read; features and weights left out), work in its unit, GPUs asked for,
and MB of the outputs by their names in the rule."""


@dataclass(frozen=True)
class Run:
    """A run that Snakemake would do: its jobs, each after those that it needs, their benchmark files by the jobs'
    names, and the place of each rule in the Snakefile."""

    testbed: str
    jobs: list[Job]
    benchmarks: dict[str, Path]
    places: dict[str, int]


class Asked:
    """What Snakemake says of a run: the only place that knows its inside."""

    def __init__(self, dag):
        self.dag = dag

    def run(self) -> Run:
        """The jobs that make files."""
        levels = [[job for job in level if job.output] for level in self.dag.toposorted()]
        ordered = [job for level in levels for job in sorted(level, key=self._name)]
        return Run(
            testbed=self.dag.workflow.config["testbed"],
            jobs=[self._job(job) for job in ordered],
            benchmarks={self._name(job): Path(job.benchmark) for job in ordered if job.benchmark},
            places={rule.name: place for place, rule in enumerate(self.dag.workflow.rules)},
        )

    def _job(self, job) -> Job:
        config = job.params.get("config")
        return Job(
            name=self._name(job),
            rule=job.rule.name,
            stage=Path(str(job.rule.snakefile)).stem,
            inputs=tuple(map(str, job.input)),
            outputs=tuple(_named(job.output)),
            temporary=frozenset(map(str, job.temp_output)),
            runs=self.dag.needrun(job),
            cause=self._cause(job) if self.dag.needrun(job) else None,
            after=self._after(job),
            settings=_parsed(config),
            shard=job.wildcards_dict.get("scatteritem"),
            gpus=int(job.resources.get("gpu", 0)),
        )

    @staticmethod
    def _name(job) -> str:
        return str(job.output[0])

    def _cause(self, job) -> str | None:
        """Why a job runs by itself, in words."""
        reason = self.dag.reason(job)
        newer = sorted(map(str, reason.updated_input - reason.updated_input_run))
        lasting = set(map(str, job.output)) - set(map(str, job.temp_output))
        causes = {
            "was interrupted": reason.incomplete_output or reason.forced,  # nothing else is forced here
            "not made yet": reason.missing_output and not all(Path(path).exists() for path in lasting),
            "a temporary file is needed again": reason.missing_output,
            "rule changed": reason.code_changed,
        }
        if cause := next((words for words, true in causes.items() if true), None):
            return cause
        if reason.params_changed:
            names = {repr(value): name or "" for name, value in job.params._allitems()}
            return change(reason.params_changed.only_old, reason.params_changed.only_new, names)
        if reason.software_stack_changed:
            return "environment changed"
        if reason.input_changed:
            return "reads other files than before"
        return f"newer: {newer[0]}" if newer else None

    def _after(self, job) -> tuple[str, ...]:
        """The jobs whose run makes a job run: those that remake its inputs, or else all that run before it."""
        updated = self.dag.reason(job).updated_input_run
        before = {other: files for other, files in self.dag.dependencies[job].items() if self.dag.needrun(other)}
        remade = [other for other, files in before.items() if files & updated]
        return tuple(self._name(other) for other in remade or before if other.output)


def _named(files) -> Iterator[tuple[str, str]]:
    """The files of a job with their names in the rule, empty for those without one."""
    for name, value in files._allitems():
        for path in [value] if isinstance(value, str) else value:
            yield name or "", str(path)


def _parsed(config: object) -> dict | None:
    """The settings behind a job's JSON."""
    return json.loads(config) if isinstance(config, str) and config.startswith("{") else None


def ask(configfiles: list[Path], targets: list[str]) -> Run:
    """The answer of Snakemake to a dry-run, which takes no lock: a run may be under way."""
    for path in configfiles:
        if not path.is_file():
            raise InputError(f"{path} does not exist: give --configfile (make: CONFIG=) the path of a config.")
    # With exactly these two it stops before it goes through all jobs as if it ran them.
    quiet = {Quietness.RULES, Quietness.PROGRESS}
    with SnakemakeApi(OutputSettings(dryrun=True, quiet=quiet, log_level_override="ERROR")) as api:
        try:
            workflow = api.workflow(
                ResourceSettings(cores=os.cpu_count()),
                config_settings=ConfigSettings(configfiles=[path.resolve() for path in configfiles]),
                snakefile=SNAKEFILE,
            )
            dag = workflow.dag(DAGSettings(targets=targets, force_incomplete=True))
            dag.execute_workflow(executor="dryrun", execution_settings=ExecutionSettings(lock=False))
            return Asked(workflow._workflow.dag).run()
        except Exception as error:
            api.print_exception(error)
            sys.exit(1)


@cache
def size_of(path: str) -> float | None:
    """The bytes of a file, or of all files of a folder; None where there is neither."""
    there = Path(path)
    if there.is_dir():
        return float(sum(file.stat().st_size for file in there.rglob("*") if file.is_file()))
    return float(there.stat().st_size) if there.exists() else None


def about() -> dict[str, float]:
    """The bytes of downloads, as far as the list of sources tells about how large they are."""
    rows = [row for row in read_sources(SOURCES) if row.about_mb]
    each = {row: float(row.about_mb) * MB / len(row.files()) for row in rows}
    return {f"resources/{row.name}/{file}": size for row, size in each.items() for file in row.files()}


def show(estimates: list[Estimate], rules: bool, console: Console) -> None:
    """Print the jobs that will run, given in the order of the table, by stage (or by rule), and what is not known."""
    if not estimates:
        console.print("Nothing to do: all that was asked for is there, and made from what is there now.")
        return
    table = _table("rule" if rules else "stage", "jobs", "why", "CPU h", "GPU h", "disk")
    for name, total in by(estimates, (lambda job: job.rule) if rules else (lambda job: job.stage)).items():
        table.add_row(name, str(total.jobs), _counted(total.why), *_amounts(total))
    total = Total.of(estimates)
    table.add_row("total", str(total.jobs), "", *_amounts(total), style="bold")
    console.print(table)
    for line in notes(estimates, total):
        console.print(line)


def notes(estimates: list[Estimate], total: Total) -> Iterator[str]:
    """What the table does not say: how little is known of it, and what its numbers are bounds of."""
    if total.replaced:
        yield f"Of the disk, {_size(total.replaced)} replace what is there now."
    if total.bound:
        yield "GPU h with a ≤ were measured on CPUs: an upper bound."
    on = Counter(name for one in estimates if one.job.gpus and one.cost for name in one.cost.machines)
    if on:
        yield f"GPU h are of jobs like those that were measured on: {_counted(on)}."
    for reason in sorted({estimate.unknown for estimate in estimates} - {""}):
        jobs = [estimate for estimate in estimates if estimate.unknown == reason]
        kinds = Counter(" of ".join(filter(None, (one.job.rule, one.model))) for one in jobs)
        listed = f": {_counted(kinds, most=8)}" if reason == NO_ROW else ""
        yield f"Not in these numbers: {len(jobs)} jobs, as {reason}{listed}."


def _amounts(total: Total) -> tuple[str, str, str]:
    """CPU hours, GPU hours and disk: with a + where some jobs are not in them, ? where none is."""

    def shown(amount: str, known: int, of: int) -> str:
        return "?" if of and not known else amount + "+" * (known < of)

    gpu = f"{'≤ ' * total.bound}{_hours(total.gpu_h)}"
    return (
        shown(_hours(total.cpu_h), total.known, total.jobs),
        shown(gpu, total.gpu_known, total.gpu_jobs),
        shown(_size(total.disk), total.known or total.disk > 0, total.jobs),
    )


def _hours(hours: float) -> str:
    return "0" if not hours else "<0.01" if hours < 0.01 else f"{hours:,.2f}" if hours < 10 else f"{hours:,.0f}"


def _size(size: float) -> str:
    unit, name = next(((u, n) for u, n in ((1e9, "GB"), (1e6, "MB")) if size >= u / 10), (1e3, "kB"))
    return f"{size / unit:,.1f} {name}"


def _counted(counts: Counter, most: int = 5) -> str:
    """Phrases with how often each is said, the most frequent first."""
    said = [f"{words} ({number})" for words, number in counts.most_common(most)]
    return ", ".join(said) + (f", and {len(counts) - most} more" if len(counts) > most else "")


def measure(run: Run, path: Path, machine: str, console: Console) -> None:
    """Put the rows of this test-bed, measured in its finished run, into the cost table."""
    found = measured(run.jobs, run.benchmarks, size_of)
    if not found:
        raise InputError(f"no job has a measurement of its own in benchmarks/jobs/{run.testbed}: run it first.")
    write_costs(path, read_costs(path).replaced(run.testbed, rows(found, run.testbed, machine)), HEAD)
    console.print(
        f"{path}: {run.testbed}, {len(found)} of {len(run.jobs)} jobs; the others' files are gone, or of another run."
    )


def check(run: Run, costs: Costs, console: Console) -> None:
    """Print the CPU hours and disk of a finished run by stage beside what would have been expected before it."""
    real = {one.job.name: one for one in measured(run.jobs, run.benchmarks, size_of)}
    expected = [one for one in from_nothing(run.jobs, costs, size_of) if one.job.name in real]
    table = _table("stage", "jobs", "expected: CPU h", "disk", "measured: CPU h", "disk", "CPU", "disk")
    known = sorted((one for one in expected if one.cost), key=lambda one: run.places[one.job.rule])
    for name, total in (by(known, lambda job: job.stage) | {"total": Total.of(known)}).items():
        of = [real[one.job.name] for one in known if name in (one.job.stage, "total")]
        cpu = sum(one.cpu_s for one in of) / 3600
        disk = sum(sum(one.outputs.values()) for one in of) * MB
        times = [f"x{guess / true:.2f}" if true else "" for guess, true in ((total.cpu_h, cpu), (total.disk, disk))]
        table.add_row(name, f"{len(of)}", f"{total.cpu_h:.3f}", _size(total.disk), f"{cpu:.3f}", _size(disk), *times)
    console.print(table)
    if missing := Counter(one.job.rule for one in expected if not one.cost):
        console.print(f"In neither, as nothing is known of them: {_counted(missing)}.")


def _table(first: str, *others: str, left: str = "why") -> Table:
    """A table whose numbers are on the right."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="left" if name == left else "right", no_wrap=name != left)
    return table


def _told(text: str) -> tuple[str, float]:
    """The file and bytes in FILE=MB."""
    path, _, size = text.rpartition("=")
    return path, float(size) * MB


def main() -> None:
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="rules or files to make; none: all")
    parser.add_argument("--configfile", nargs="+", type=Path, default=[], help="as for snakemake; default: the demo")
    parser.add_argument("--rules", action="store_true", help="a line for each rule, not for each stage")
    parser.add_argument("--costs", type=Path, default=COSTS, help="the cost table")
    parser.add_argument(
        "--size", nargs=1, action="extend", type=_told, default=[], metavar="FILE=MB", help="of a file not there yet"
    )
    parser.add_argument("--measure", action="store_true", help="write the costs of a finished run to the table")
    parser.add_argument("--check", action="store_true", help="compare what other test-beds cost with a finished run")
    parser.add_argument("--machine", default=f"{platform.machine()}, {os.cpu_count()} cores", help="where it ran")
    given = parser.parse_args()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    try:
        costs = read_costs(given.costs)
        run = ask(given.configfile, given.targets)
        if given.measure:
            measure(run, given.costs, given.machine, console)
        elif given.check:
            check(run, costs.without(run.testbed), console)
        else:
            estimates = forecast(run.jobs, costs, size_of, about() | dict(given.size))
            show(sorted(estimates, key=lambda one: run.places[one.job.rule]), given.rules, console)
    except InputError as error:
        sys.exit(f"plan: {error}")


if __name__ == "__main__":
    main()
