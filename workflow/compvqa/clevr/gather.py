"""Questions of all shards put together into the dataset, each in its part.

With ``balance: fair``, of questions that differ in the answer alone one is kept: the one whose answer its template has
given least so far, over the whole run, scene by scene in their order; among equally rare ones a stable rank decides. So
shards and their order change nothing. Questions that were read without a program or an answer (the release keeps those
of the test part back) are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow as pa

from compvqa import query, tables
from compvqa.clevr.parts import part_of
from compvqa.clevr.tables import QUESTIONS
from compvqa.errors import InputError
from compvqa.questions.tables import DROPPED
from compvqa.seeds import stable_hash

RARER = "another answer was rarer"
UNANSWERED = "without a program or an answer"
UNKNOWN = "unknown"  # the template of a question whose family can't be told
BATCH = 20_000  # rows
Offer = tuple[str, str, int, str, str, str]  # question id, side, number, template, answer, scene id


def gather(
    shards: Sequence[Path],
    dropped: Sequence[Path],
    out: Path,
    out_dropped: Path,
    seed: int,
    parts: Mapping[str, Mapping[str, float]] | None = None,
    memory: str = "1GB",
) -> dict[str, int]:
    """Write the questions that :func:`compvqa.clevr.generate.generate` made in shards, or that
    :func:`compvqa.clevr.official.read_questions` read, to ``out``, and the sum of what the shards dropped to
    ``out_dropped``; of questions of one scene and template one is kept. ``parts`` is that of
    :class:`compvqa.clevr.parts.PartsSettings`. Gives counts; InputError where no question is left.
    """
    reasons = summed(dropped)
    for shard in shards:
        tables.check(shard, QUESTIONS)
    with query.connect(out.parent, memory) as connection:
        connection.read_parquet([str(shard) for shard in shards]).create_view("offered")
        sql = "SELECT count(*), count(*) FILTER (program IS NOT NULL AND answer IS NOT NULL) FROM offered"
        ((whole, answered),) = connection.execute(sql).fetchall()
        sql = f"""SELECT question_id, part, number, coalesce(template, '{UNKNOWN}'), answer, scene_ids[1] FROM offered
            WHERE program IS NOT NULL AND answer IS NOT NULL ORDER BY part, number, question_id"""
        kept = [
            (question, part_of(parts or {}, seed, side, scene))
            for question, side, _, _, _, scene in fair(_rows(connection.execute(sql)), seed, reasons)
        ]
        if not kept:
            lost = whole - answered
            raise InputError(
                f"No question is left of {whole:,}, {lost:,} of them without a program or an answer: CLEVR's own files "
                "of train and val have both (dataset.files); where they are made here, see which templates are used."
            )
        ids, of = zip(*kept, strict=True)
        connection.register(
            "kept", pa.table({"question_id": pa.array(ids, pa.string()), "in": pa.array(of, pa.string())})
        )
        sql = f"""SELECT * EXCLUDE "in" REPLACE (coalesce(template, '{UNKNOWN}') AS template, "in" AS part)
            FROM offered JOIN kept USING (question_id)"""
        rows = query.write(connection, sql, out, QUESTIONS)
    write_dropped(out_dropped, reasons)
    left = sum(n for (_, reason), n in reasons.items() if reason == RARER)
    sizes = {f"out: {part}": n for part, n in sorted(Counter(of).items())}
    return {"in": whole, "out": rows, **sizes, f"dropped: {RARER}": left, f"dropped: {UNANSWERED}": whole - answered}


def summed(dropped: Sequence[Path]) -> Counter[tuple[str, str]]:
    """The sum of what several tables dropped, by template and reason."""
    reasons: Counter[tuple[str, str]] = Counter()
    for table in dropped:
        for row in tables.read(table, DROPPED).to_pylist():
            reasons[row["template"], row["reason"]] += row["n"]
    return reasons


def write_dropped(path: Path, reasons: Mapping[tuple[str, str], int]) -> None:
    """Write in how many scenes a template was tried in vain, by reason."""
    rows = [{"template": name, "reason": reason, "n": n} for (name, reason), n in sorted(reasons.items())]
    tables.write(path, DROPPED, rows)


def _rows(offers: duckdb.DuckDBPyConnection) -> Iterator[Offer]:
    while batch := offers.fetchmany(BATCH):
        yield from batch


def fair(offers: Iterator[Offer], seed: int, dropped: Counter[tuple[str, str]]) -> Iterator[Offer]:
    """Of offers with the same side and number, which come one after the other, that with the rarest answer so far."""
    given: Counter[tuple[str, str, str]] = Counter()
    for _, group in groupby(offers, key=lambda offer: offer[1:3]):
        choice = list(group)
        ranked = [
            (given[side, name, answer], stable_hash(seed, "fair", key)) for key, side, _, name, answer, _ in choice
        ]
        kept = choice[ranked.index(min(ranked))]
        given[kept[1], kept[3], kept[4]] += 1
        if len(choice) > 1:
            dropped[kept[3], RARER] += len(choice) - 1
        yield kept
