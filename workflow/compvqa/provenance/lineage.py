"""What a run of the workflow did for given files, in the order of time: what a crate tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compvqa.errors import InputError
from compvqa.provenance.history import History, Record


@dataclass(frozen=True)
class Lineage:
    """The records of all that led to ``targets``: its ``runs`` in the order of their start.

    ``made_by`` gives the last run that wrote a path. Paths are as in the records: relative to the folder in which the
    workflow ran.
    """

    results: Path
    targets: list[str]
    runs: list[Record]
    made_by: dict[str, Record]

    @classmethod
    def read(cls, results: Path, targets: Sequence[Path] = ()) -> Lineage:
        """Read the records in the folder ``results``, and those beside raw files; keep what led to ``targets``.

        Without targets, what led to any output in the folder. :class:`InputError` names a target without a record.
        """
        history = History(Path("."))
        below = history.below(results.as_posix())
        if not below:
            raise InputError(f"{results} holds no record of a run: run the workflow first, or correct the path.")
        named = [path.as_posix() for path in targets]
        for path in named:
            if history.maker(path) is None:
                raise InputError(f"no record in {results} tells of {path}: name an output as the workflow does.")
        found = history.behind(named or [path for record in below for path in record.outputs])
        runs = sorted(found, key=lambda run: (run.data["started"], run.data["ended"], run.path))
        made_by = {path: run for run in runs for path in run.outputs if history.maker(path) is run}
        return cls(results, named or sorted(_ends(runs)), runs, made_by)

    def raw(self) -> list[tuple[str, str]]:
        """Path and sha256 of the inputs that no run made, each once, in order."""
        return sorted({pair for run in self.runs for pair in run.inputs.items() if pair[0] not in self.made_by})


def _ends(runs: Sequence[Record]) -> set[str]:
    """The outputs that no run reads."""
    return {path for run in runs for path in run.outputs} - {path for run in runs for path in run.inputs}
