"""The records that led to given files, followed from each file to what it was made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compvqa.errors import InputError
from compvqa.files import read_json

RECORDS = "*.prov.json"
KEYS = {"stage", "recipe", "code", "settings", "seed", "inputs", "outputs", "versions", "started", "ended"}


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a stage: where its record is, and what is in it."""

    record: Path
    data: dict

    @property
    def stage(self) -> str:
        return self.data["stage"]

    def inputs(self) -> list[tuple[str, str]]:
        """Path and sha256 of each input; files that Snakemake keeps in folders for itself are none."""
        return _files(self.data["inputs"])

    def outputs(self) -> list[tuple[str, str]]:
        """Path and sha256 of each output."""
        return _files(self.data["outputs"])


def _files(listed: Iterable[dict]) -> list[tuple[str, str]]:
    named = ((file["path"], file["sha256"]) for file in listed)
    return [(path, digest) for path, digest in named if not path.endswith("/.snakemake_timestamp")]


@dataclass
class Lineage:
    """What a run of the workflow did for ``targets``: its ``runs`` in the order of their start.

    ``made_by`` gives the last run that wrote a path. Paths are as in the records: relative to the folder in which the
    workflow ran.
    """

    results: Path
    targets: list[str]
    runs: list[Run] = field(default_factory=list)
    made_by: dict[str, Run] = field(default_factory=dict)

    @classmethod
    def read(cls, results: Path, targets: Sequence[Path] = ()) -> Lineage:
        """Read the records in the folder ``results``, and those beside raw files; keep what led to ``targets``.

        Without targets, what led to any output in the folder. :class:`InputError` names a target without a record.
        """
        made_by: dict[str, Run] = {}
        for path in sorted(results.rglob(RECORDS)):
            _note(path, made_by)
        if not made_by:
            raise InputError(f"{results} holds no record of a run: run the workflow first, or correct the path.")
        named = [path.as_posix() for path in targets]
        for path in named:
            if path not in made_by:
                raise InputError(f"no record in {results} tells of {path}: name an output as the workflow does.")
        found = _followed(named or sorted(made_by), made_by, results)
        ends = named or sorted(_ends(found))
        runs = sorted(found, key=lambda run: (run.data["started"], run.data["ended"], run.record.as_posix()))
        return cls(results, ends, runs, {path: run for path, run in made_by.items() if run in found})

    def raw(self) -> list[tuple[str, str]]:
        """Path and sha256 of the inputs that no run made, each once, in order."""
        found = {pair for run in self.runs for pair in run.inputs() if pair[0] not in self.made_by}
        return sorted(found)


def _note(path: Path, made_by: dict[str, Run]) -> None:
    """Read a record and note it with its outputs; of two runs that wrote a path, the later one counts."""
    run = Run(path, read_json(path))
    missing = sorted(KEYS - run.data.keys())
    if missing:
        raise InputError(f"{path} is no record: it lacks {missing[0]}; delete it and rerun the stage.")
    for output, _ in run.outputs():
        other = made_by.get(output)
        if other is None or other.data["ended"] <= run.data["ended"]:
            made_by[output] = run


def _followed(targets: Sequence[str], made_by: dict[str, Run], results: Path) -> set[Run]:
    """The runs that led to the targets; records beside files outside of ``results`` are read as they are met."""
    found: set[Run] = set()
    seen, waiting, looked = set(targets), list(targets), {Path("."), Path(".."), results}
    while waiting:
        path = waiting.pop()
        if path not in made_by:
            _look_beside(Path(path), made_by, looked)
        run = made_by.get(path)
        if run is None or run in found:
            continue
        found.add(run)
        new = {name for name, _ in run.inputs()} - seen
        seen |= new
        waiting += new
    return found


def _look_beside(path: Path, made_by: dict[str, Run], looked: set[Path]) -> None:
    for folder in path.parents:
        if folder in looked:
            return
        looked.add(folder)
        for record in sorted(folder.glob(RECORDS)):
            _note(record, made_by)


def _ends(runs: Iterable[Run]) -> set[str]:
    """The outputs that no run reads."""
    runs = list(runs)
    return {path for run in runs for path, _ in run.outputs()} - {path for run in runs for path, _ in run.inputs()}
