"""How files came to be: the records of a run as a graph from any file back to what nobody in the run made.

Records name files relative to the folder in which the workflow ran. That folder is found from the place of a file and
the path that its own record has for it, so that a run can be audited from anywhere, and after it was moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compvqa.errors import InputError
from compvqa.files import read_json
from compvqa.records.record import PROJECT, SUFFIX

REQUIRED = ("stage", "recipe", "code", "settings", "seed", "inputs", "outputs", "counts", "versions")


@dataclass(frozen=True)
class Record:
    """One run of a stage, as it was written down; ``path`` is relative to the run's folder."""

    path: str
    data: dict

    @property
    def stage(self) -> str:
        return self.data["stage"]

    @property
    def recipe(self) -> str:
        return self.data["recipe"]

    @cached_property
    def inputs(self) -> dict[str, str]:
        """Path to sha256."""
        return {item["path"]: item["sha256"] for item in self.data["inputs"]}

    @cached_property
    def outputs(self) -> dict[str, str]:
        """Path to sha256."""
        return {item["path"]: item["sha256"] for item in self.data["outputs"]}


def read_record(path: Path, shown: str) -> Record:
    """The record at ``path``; one that is broken or lacks a key is an :class:`InputError`."""
    remedy = "run the stage that writes it again"
    data = read_json(path, remedy)
    missing = [key for key in REQUIRED if key not in data]
    if missing:
        raise InputError(f"{path} is no whole record, it lacks {missing[0]!r}: {remedy}.")
    lists = [data[key] for key in ("inputs", "outputs")]
    if not all(isinstance(of, list) and all(map(_is_file, of)) for of in lists):
        raise InputError(f"{path} is no whole record, its inputs or outputs have no paths and sha256: {remedy}.")
    return Record(shown, data)


def _is_file(item: object) -> bool:
    return isinstance(item, dict) and {"path", "sha256"} <= {*item}


def run_folder(file: Path) -> Path:
    """The folder in which the run that made ``file`` took place; :class:`InputError` if no record lists it."""
    file = file.resolve()
    for record in _records_above(file):
        for path in read_record(record, record.name).outputs:
            if file.as_posix().endswith("/" + path):
                return Path(file.as_posix()[: -len(path)])
    raise InputError(f"no record ({SUFFIX}) beside {file.name} or above it lists it: give a file that compvqa made.")


def _records_above(file: Path) -> Iterator[Path]:
    """The records that may list a file: its own first, then those of its folder and of the folders above."""
    own = file.with_name(file.name + SUFFIX)
    if own.is_file():
        yield own
    for folder in file.parents:
        yield from sorted(folder.glob(f"*{SUFFIX}"))


class History:
    """The records below a run's folder; each folder of records is read when it is first asked for."""

    def __init__(self, root: Path):
        self.root = root
        self._made: dict[str, Record] = {}
        self._read: set[str] = set()

    def maker(self, path: str) -> Record | None:
        """The record of the stage that made a file; None of a file that was given."""
        if path.startswith((PROJECT, "/")):
            return None
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            self._look(folder)
            if path in self._made:
                return self._made[path]
        return None

    def _look(self, folder: str) -> None:
        if folder in self._read:
            return
        self._read.add(folder)
        for found in sorted((self.root / folder).glob(f"*{SUFFIX}")):
            self._add(found)

    def _add(self, path: Path) -> Record:
        """Read a record and note it with its outputs; of two that tell of a file, the later one counts."""
        record = read_record(path, path.relative_to(self.root).as_posix())
        for output in record.outputs:
            other = self._made.get(output)
            if other is None or other.data.get("ended", "") <= record.data.get("ended", ""):
                self._made[output] = record
        return record

    def below(self, folder: str) -> list[Record]:
        """All records in a folder and the folders in it, by path."""
        found = sorted((self.root / folder).rglob(f"*{SUFFIX}"))
        self._read |= {path.parent.relative_to(self.root).as_posix() for path in found}
        return [self._add(path) for path in found]

    def behind(self, paths: Iterable[str]) -> list[Record]:
        """The records of all that led to the files, each once and after those of its inputs.

        A file that nobody in the run made has none. Records that go round in a circle are an :class:`InputError`.
        """
        done: dict[str, Record] = {}
        open_, waiting = set(), [(path, False) for path in sorted(paths, reverse=True)]
        while waiting:
            path, seen_inputs = waiting.pop()
            record = self.maker(path)
            if record is None or record.path in done:
                continue
            if seen_inputs:
                done[record.path] = record
                open_.discard(record.path)
                continue
            if record.path in open_:
                raise InputError(f"{record.path} is among its own inputs: delete it and run its stage again.")
            open_.add(record.path)
            waiting.append((path, True))
            waiting += [(other, False) for other in sorted(record.inputs, reverse=True)]
        return list(done.values())
