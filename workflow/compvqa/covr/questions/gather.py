"""Questions of shards put together: sorted by id, each once, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import query, tables
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.questions.tables import DROPPED

DUPLICATE = "duplicate"
BATCH = 20_000  # rows


def gather(shards: list[Path], dropped: list[Path], out: Path, out_dropped: Path) -> dict[str, int]:
    """Put the shards' questions into ``out`` (sorted, each question once) and add up the dropped counts."""
    rows, duplicates = sorted_unique(shards, out)
    counts: Counter[tuple[str, str]] = Counter()
    for row in tables.read_all(dropped, DROPPED).to_pylist():
        counts[row["template"], row["reason"]] += row["n"]
    for template, n in duplicates.items():
        counts[template, DUPLICATE] += n
    tables.write(
        out_dropped,
        DROPPED,
        [{"template": t, "reason": reason, "n": n} for (t, reason), n in sorted(counts.items())],
    )
    twice = sum(duplicates.values())
    return {"in": rows + twice, "out": rows, f"dropped: {DUPLICATE}": twice}


def sorted_unique(paths: Sequence[Path], out: Path) -> tuple[int, Counter[str]]:
    """Sort the questions in ``paths`` by id into ``out``, each once (the one of the smallest seed stays).

    Gives the number of rows and, by template, how many were left out.
    """
    duplicates: Counter[str] = Counter()
    names = ", ".join(QUESTIONS.fields.names)
    with query.connect(Path(out).parent) as connection:
        found = connection.sql(
            f"SELECT {names} FROM read_parquet(?) ORDER BY question_id, seed, template",
            params=[[str(path) for path in paths]],
        ).to_arrow_reader(BATCH)
        batches = query.rebatch(_unique(found, duplicates), QUESTIONS.fields)
        rows = tables.write(out, QUESTIONS, pa.RecordBatchReader.from_batches(QUESTIONS.fields, batches))
    return rows, duplicates


def _unique(reader: pa.RecordBatchReader, duplicates: Counter[str]) -> Iterator[pa.RecordBatch]:
    """The batches without the rows whose id is that of the row before."""
    last = None
    for batch in reader:
        if batch.num_rows == 0:
            continue
        ids = batch.column("question_id")
        before = pa.concat_arrays([pa.array([last], ids.type), ids.slice(0, len(ids) - 1)])
        new = pc.fill_null(pc.not_equal(ids, before), True)
        last = ids[-1].as_py()
        duplicates.update(batch.column("template").filter(pc.invert(new)).to_pylist())
        yield from pa.Table.from_batches([batch.filter(new)]).cast(QUESTIONS.fields).to_batches()
