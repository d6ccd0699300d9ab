"""Questions of all shards put together; with ``balance: fair``, of those that differ in the answer alone one is kept.

The one whose answer its template has given least so far, over the whole run, scene by scene in their order; among
equally rare ones a stable rank decides. So shards and their order change nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow as pa

from compvqa import query, tables
from compvqa.clevr.tables import QUESTIONS
from compvqa.questions.tables import DROPPED
from compvqa.seeds import stable_hash

RARER = "another answer was rarer"
BATCH = 20_000  # rows
Offer = tuple[str, str, int, str, str]  # question id, part, number, template, answer


def gather(
    shards: Sequence[Path], dropped: Sequence[Path], out: Path, out_dropped: Path, seed: int, memory: str = "1GB"
) -> dict[str, int]:
    """Write the questions that :func:`compvqa.clevr.generate.generate` made in shards to ``out``, and the sum of what
    they dropped to ``out_dropped``; questions of one scene and template become one. Gives counts."""
    reasons: Counter[tuple[str, str]] = Counter()
    for row in tables.read_all(dropped, DROPPED).to_pylist():
        reasons[row["template"], row["reason"]] += row["n"]
    for shard in shards:
        tables.check(shard, QUESTIONS)
    with query.connect(out.parent, memory) as connection:
        files = [str(shard) for shard in shards]
        connection.read_parquet(files).create_view("offered")
        sql = "SELECT question_id, part, number, template, answer FROM offered ORDER BY part, number, question_id"
        offers = connection.execute(sql)
        kept = pa.array([offer[0] for offer in fair(_rows(offers), seed, reasons)], pa.string())
        connection.register("kept", pa.table({"question_id": kept}))
        rows = query.write(connection, "SELECT * FROM offered SEMI JOIN kept USING (question_id)", out, QUESTIONS)
    counted = [{"template": name, "reason": reason, "n": n} for (name, reason), n in sorted(reasons.items())]
    tables.write(out_dropped, DROPPED, counted)
    left = sum(n for (_, reason), n in reasons.items() if reason == RARER)
    return {"in": rows + left, "out": rows, f"dropped: {RARER}": left}


def _rows(offers: duckdb.DuckDBPyConnection) -> Iterator[Offer]:
    while batch := offers.fetchmany(BATCH):
        yield from batch


def fair(offers: Iterator[Offer], seed: int, dropped: Counter[tuple[str, str]]) -> Iterator[Offer]:
    """Of offers with the same part and number, which come one after the other, that with the rarest answer so far."""
    given: Counter[tuple[str, str, str]] = Counter()
    for _, group in groupby(offers, key=lambda offer: offer[1:3]):
        choice = list(group)
        ranked = [(given[part, name, answer], stable_hash(seed, "fair", key)) for key, part, _, name, answer in choice]
        kept = choice[ranked.index(min(ranked))]
        given[kept[1], kept[3], kept[4]] += 1
        if len(choice) > 1:
            dropped[kept[3], RARER] += len(choice) - 1
        yield kept
