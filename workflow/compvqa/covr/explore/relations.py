"""What splits and models say of a dataset's questions, read in streams: who is in which part, who answered what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.errors import InputError
from compvqa.evaluation.answers import Run
from compvqa.given import read_given
from compvqa.models.baseline import GENERATED, PREDICTIONS
from compvqa.splits.splitters import SPLITS

_BATCH = 16_384
_FIELDS = PREDICTIONS.fields


@dataclass(frozen=True)
class Told:
    """One split or one run of a model: its name, what else its node has, a hash of its file, how many rows it has, and
    the rows in their order."""

    name: str
    properties: dict
    digest: str
    count: int
    rows: Callable[[], Iterator[dict]]


class Known:
    """The ids of a dataset's questions, and their answers."""

    def __init__(self, dataset: Path):
        table = tables.read(dataset, columns=["question_id", "answer"])
        self._ids = table["question_id"].combine_chunks()
        self._answers = _plain(table["answer"].combine_chunks())
        self._dataset, self.count = dataset, len(table)

    def places(self, asked: pa.Array, path: Path) -> pa.Array:
        """Where the questions stand in the dataset; :class:`InputError` where it lacks one that ``path`` names."""
        found = pc.index_in(asked, value_set=self._ids)
        if found.null_count:
            first = asked.filter(pc.is_null(found))[0].as_py()
            raise InputError(
                f"{path} is about questions that {self._dataset} does not hold (the first is {first!r}): give what "
                "was made of this dataset."
            )
        return found

    def correct(self, places: pa.Array, answers: pa.Array) -> pa.Array:
        """Whether the answers are right, without regard to case and surrounding blanks."""
        return pc.equal(self._answers.take(places), _plain(answers))


def _plain(answers: pa.Array) -> pa.Array:
    return pc.utf8_lower(pc.utf8_trim_whitespace(answers))


def file_hash(path: Path, *more: str) -> str:
    """What names a file's content, in hexadecimal."""
    digest = blake2b("\x1f".join(more).encode(), digest_size=8)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def splits_in(given: Sequence[Path], known: Known) -> list[Told]:
    """The splits in these files and folders; each is called as its file is."""
    found: dict[str, Path] = {}
    for path in (path for one in given for path in _tables(one, "splits", "split")):
        if found.setdefault(path.stem, path) != path:
            raise InputError(f"{found[path.stem]} and {path} are both called {path.stem}: give one of them.")
    return [_split(path, known) for path in found.values()]


def _split(path: Path, known: Known) -> Told:
    tables.check(path, SPLITS)

    def rows() -> Iterator[dict]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH, columns=["part", "question_id"]):
                known.places(batch["question_id"], path)
                yield from batch.to_pylist()

    return Told(path.stem, {}, file_hash(path), sum(1 for _ in rows()), rows)


def runs_in(given: Sequence[Path], known: Known) -> list[Told]:
    """The runs of models whose answers are in these files and folders.

    A folder stands for all files ``predictions.parquet`` in it or, where it has none, for its tables. A table of
    predictions names its runs; any other file with the columns question_id and answer (.csv, .jsonl, .parquet) is one
    run, called as the file is.
    """
    found: dict[str, Path] = {}
    told = []
    for path in (path for one in given for path in _tables(one, "predictions", "predict", "**/predictions.parquet")):
        for run in _runs_of(path, known):
            if run.name in found:
                raise InputError(f"{found[run.name]} and {path} both answer for the run {run.name}: give one of them.")
            found[run.name] = path
            told.append(run)
    return told


def _tables(given: Path, what: str, stage: str, *preferred: str) -> list[Path]:
    """A file itself; of a folder the tables that the first pattern finds of which it has any."""
    if not given.is_dir():
        return [given]
    for pattern in (*preferred, "*.parquet"):
        if paths := sorted(given.glob(pattern)):
            return paths
    raise InputError(f"{given} holds no {what}: run the stage {stage} first, or name another folder.")


def _runs_of(path: Path, known: Known) -> list[Told]:
    counts: dict[str, int] = {}
    answered: dict[tuple[str, str], np.ndarray] = {}
    for batch in _answers(path):
        places = np.asarray(known.places(batch["question_id"], path))
        for pair in {*zip(batch["run"].to_pylist(), batch["text"].to_pylist(), strict=True)}:
            mine = places[np.asarray(_of(batch, "run", pair[0])) & np.asarray(_of(batch, "text", pair[1]))]
            seen = answered.setdefault(pair, np.zeros(known.count, bool))
            if len(np.unique(mine)) < len(mine) or seen[mine].any():
                raise InputError(f"{path}: run {pair[0]} answers a question twice; keep one answer.")
            seen[mine] = True
            counts[pair[0]] = counts.get(pair[0], 0) + len(mine)
    return [Told(run, _described(run), file_hash(path, run), n, _reader(path, run, known)) for run, n in counts.items()]


def _reader(path: Path, run: str, known: Known) -> Callable[[], Iterator[dict]]:
    def rows() -> Iterator[dict]:
        for batch in _answers(path):
            mine = batch.filter(_of(batch, "run", run))
            places = known.places(mine["question_id"], path)
            mine = mine.append_column("correct", known.correct(places, mine["answer"]))
            yield from mine.drop_columns(["run"]).to_pylist()

    return rows


def _of(batch: pa.RecordBatch, column: str, value: str) -> pa.Array:
    return pc.equal(batch[column], value).to_numpy(zero_copy_only=False)


def _described(run: str) -> dict:
    """What a run's name says, where it is of the form <model>.<split>.<variant>.<seed>."""
    try:
        return {key: value for key, value in vars(Run.parse(run)).items()}
    except InputError:
        return {}


def _answers(path: Path) -> Iterator[pa.RecordBatch]:
    """The answers in a file, with the columns of predictions."""
    if path.suffix == ".parquet" and tables.read(path, columns=["run"]).column_names:
        tables.check(path, PREDICTIONS)
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH, columns=_FIELDS.names)
        return
    given = read_given(path, ("question_id", "answer"))
    while some := list(islice(given, _BATCH)):
        columns = [[answer[i] for _, answer in some] for i in range(2)]
        n = len(some)
        yield pa.record_batch([[path.stem] * n, columns[0], [GENERATED] * n, columns[1], [None] * n], _FIELDS)
