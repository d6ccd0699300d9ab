"""Questions of shards put together: sorted by id, each once, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from compvqa import query, tables
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.questions.tables import DROPPED

DUPLICATE, SECOND_PROGRAM = "duplicate", "text of another program"
BATCH = 20_000  # rows


def gather(shards: list[Path], dropped: list[Path], out: Path, out_dropped: Path) -> dict[str, int]:
    """Put the shards' questions into ``out`` (sorted, each question once) and add up the dropped counts."""
    rows, duplicates, unclear = sorted_unique(shards, out, one_program=True)
    counts: Counter[tuple[str, str]] = Counter()
    for row in tables.read_all(dropped, DROPPED).to_pylist():
        counts[row["template"], row["reason"]] += row["n"]
    for reason, found in ((DUPLICATE, duplicates), (SECOND_PROGRAM, unclear)):
        for template, n in found.items():
            counts[template, reason] += n
    tables.write(
        out_dropped,
        DROPPED,
        [{"template": t, "reason": reason, "n": n} for (t, reason), n in sorted(counts.items())],
    )
    twice, other = duplicates.total(), unclear.total()
    left_out = {f"dropped: {DUPLICATE}": twice, f"dropped: {SECOND_PROGRAM}": other}
    return {"in": rows + twice + other, "out": rows, **left_out}


def sorted_unique(
    paths: Sequence[Path], out: Path, one_program: bool = False
) -> tuple[int, Counter[str], Counter[str]]:
    """Sort the questions in ``paths`` by id into ``out``, each once (the one of the smallest seed stays).

    With ``one_program`` a text stands for one program: where there are several ("people" is the plural of a person, and
    a name), that with most questions stays. Gives the number of rows and, by template, how many were left out because
    they came twice, and because their text stands for another program.
    """
    duplicates: Counter[str] = Counter()
    names = ", ".join(QUESTIONS.fields.names)
    with query.connect(Path(out).parent) as connection:
        files = [str(path) for path in paths]
        _find_unclear(connection, files if one_program else [])
        said = "FROM read_parquet(?) LEFT JOIN unclear ON md5_number(text) = said"
        left_out = connection.sql(
            f"SELECT template, count(*) {said} WHERE md5_number(program) <> meant GROUP BY template ORDER BY template",
            params=[files],
        ).fetchall()
        found = connection.sql(
            f"SELECT {names} {said} WHERE meant IS NULL OR md5_number(program) = meant"
            " ORDER BY question_id, seed, template, md5_number(concat_ws(' ', program, annotator_text, scene_ids))",
            params=[files],
        ).to_arrow_reader(BATCH)
        batches = query.rebatch(_unique(found, duplicates), QUESTIONS.fields)
        rows = tables.write(out, QUESTIONS, pa.RecordBatchReader.from_batches(QUESTIONS.fields, batches))
    return rows, duplicates, Counter(dict(left_out))


def _find_unclear(connection: duckdb.DuckDBPyConnection, files: list[str]) -> None:
    """The table ``unclear``: the digests of texts that stand for several programs, and of the program to keep."""
    connection.execute("CREATE TABLE unclear (said UHUGEINT, meant UHUGEINT)")
    if not files:
        return
    connection.execute(
        """INSERT INTO unclear
        WITH several AS (
            SELECT md5_number(text) AS said FROM read_parquet($files) GROUP BY said
            HAVING min(md5_number(program)) <> max(md5_number(program))
        ), programs AS (
            SELECT said, md5_number(program) AS program, count(DISTINCT question_id) AS n
            FROM read_parquet($files) JOIN several ON md5_number(text) = said GROUP BY ALL
        )
        SELECT said, list(program ORDER BY n DESC, program)[1] FROM programs GROUP BY said""",
        {"files": files},
    )


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
