"""What a question's story is told from, in any language: the tables that a run's records name, and splits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.errors import InputError
from compvqa.provenance.history import History, Record
from compvqa.splits.splitters import SPLITS

RAW = ".json"
Numbers = Callable[[Path, set[str]], Iterable[tuple[str, int]]]


@dataclass(frozen=True)
class Tables:
    """What a question's story is read from: the paths of each kind of table, relative to the run's folder."""

    root: Path
    paths: dict[str, list[str]]
    raw: dict[str, list[str]]  # raw files of each source, by its folder's name
    records: tuple[Record, ...] = ()  # of all runs

    @staticmethod
    def behind(history: History, records: Sequence[Record]) -> Tables:
        """The tables among the outputs of ``records``."""
        paths: dict[str, list[str]] = {}
        raw: dict[str, list[str]] = {}
        for record in records:
            for path in record.outputs:
                paths.setdefault(_kind(record.stage, path), []).append(path)
            if record.stage == "ingest":
                raw[Path(record.path).parent.name] = [path for path in record.inputs if path.endswith(RAW)]
        return Tables(history.root, paths, raw, tuple(records))

    def there(self, kind: str) -> list[str]:
        """The tables of a kind that still exist, as full paths."""
        found = (self.root / path for path in self.paths.get(kind, ()))
        return [str(path) for path in found if path.is_file()]

    def of_stage(self, stage: str) -> Record | None:
        """A record of a stage, where there is one; shards of one have the same seed and settings."""
        return next((record for record in self.records if record.stage == stage), None)

    def rows(self, kind: str, query: str, parameters: Sequence) -> list[dict]:
        """The rows of ``query`` on the view named ``kind``; none where there is no such table."""
        found = self.there(kind)
        if not found:
            return []
        with duckdb.connect() as connection:
            connection.read_parquet(found, union_by_name=True).create_view(kind)
            return connection.sql(query, params=list(parameters)).to_arrow_table().to_pylist()

    def questions(self, columns: str, question_ids: Iterable[str]) -> list[dict]:
        """The ``columns`` of these questions, by their ids; :class:`InputError` of one that the dataset has not."""
        wanted = sorted(set(question_ids))
        query = f"select {columns} from dataset where question_id in (select unnest(?)) order by question_id"
        rows = self.rows("dataset", query, [wanted])
        if missing := sorted(set(wanted) - {row["question_id"] for row in rows}):
            raise InputError(
                f"the dataset has no question {missing[0]!r}: give a question_id of its questions.parquet."
            )
        return rows

    def places(self, scene_ids: set[str], numbers: Numbers) -> dict[str, dict]:
        """Of each scene its row, and the raw ``file`` and ``record`` (from 1) that it was read from, where that file is
        there. ``numbers`` reads a raw file: it gives the wanted ids with the numbers of their records."""
        query = "select * from scenes where scene_id in (select unnest(?))"
        found = {row["scene_id"]: row for row in self.rows("scenes", query, [sorted(scene_ids)])}
        for source in sorted({row["source"] for row in found.values()}):
            wanted = {scene.partition(":")[2]: scene for scene, row in found.items() if row["source"] == source}
            for path in self.raw.get(source, ()):
                if wanted and (self.root / path).is_file():
                    for raw_id, number in numbers(self.root / path, set(wanted)):
                        found[wanted.pop(raw_id)] |= {"file": path, "record": number}
        return {scene: {key: row.get(key) for key in (*row, "file", "record")} for scene, row in found.items()}


def _kind(stage: str, path: str) -> str:
    """What kind of table a stage's output is: the dataset, one of the tables of scenes, or what the stage makes."""
    if Path(path).parts[-2:] == ("dataset", "questions.parquet"):
        return "dataset"
    return Path(path).stem if stage == "scenes" else stage


def membership(splits: Iterable[Path], question_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Of each question, the parts that it has in the splits (a question may be of several)."""
    found: dict[str, dict[str, str]] = {}
    wanted = pa.array(list(question_ids), pa.string())
    for path in splits:
        for row in tables.read(path, SPLITS).filter(pc.field("question_id").isin(wanted)).to_pylist():
            of = found.setdefault(row["question_id"], {})
            parts = [of[row["split_name"]]] if row["split_name"] in of else []
            of[row["split_name"]] = ", ".join([*parts, row["part"]])
    return found
