"""The word filter: which pairs of names, seen in one context, are mutually exclusive (COVR, App. A)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from compvqa import plugins, query
from compvqa.covr.filters.words.pairs import DIRECTED, PairSettings, in_context, opened, vocabulary
from compvqa.progress import track
from compvqa.scenes.lexicon import KINDS, Lexicon
from compvqa.scratch import scratch_folder
from compvqa.tables import Schema

OVERLAP = Schema(
    "overlap",
    pa.schema(
        [
            ("kind", pa.string()),  # noun, attribute or relation
            ("x", pa.string()),
            ("y", pa.string()),
            ("m", pa.float32()),  # probability that the two are mutually exclusive
            ("model", pa.string()),  # the method that gave it, and its encoder where it has one
        ]
    ),
    key=("kind", "x", "y"),
)
NO_FILTER = "none"  # the method that excludes nothing
PAIRS_AT_A_TIME = 65_536
Score = Callable[[str, Sequence[str], Sequence[str]], list[float]]
ADDED = "FROM entailed ANTI JOIN in_context USING (kind, x, y)"
ADDED_COUNTS = f"SELECT kind, count(*) FROM ({ADDED}) WHERE x < y OR kind = 'relation' GROUP BY kind ORDER BY kind"


class Method(Protocol):
    """A module of a method."""

    def scorer(self, lexicon: Path, models: Path | None) -> Score: ...


class OverlapSettings(PairSettings):
    """How m(x, y) is found."""

    method: str = Field("lexicon", description="module in compvqa.covr.filters.words.methods that gives m(x, y)")


def overlap(
    scenes: Path, lexicon: Path, out: Path, settings: OverlapSettings, models: Path | None = None
) -> dict[str, int]:
    """Write m(x, y) of all pairs of names seen in one context in the tables of the folder ``scenes``.

    Contexts: attributes on the same noun; nouns on the same side of the same relation, as the same modifier,
    or with the same attribute; relations between the same two nouns. Added are, in both directions, pairs seen in no
    context of which one name entails the other. They are scored by the lexicon, whatever the method: it is what says
    that they belong together, and a method is made for names that could stand in each other's place. The method
    ``none``, no filter, gets none of them. ``models`` is the folder of trained word filters, for methods that use
    them. Gives the number of pairs by kind: those in context, the exclusive ones among them, and those added.
    """
    known = Lexicon.load(lexicon)
    method: Method = plugins.find("compvqa.covr.filters.words.methods", settings.method, "scorer", "overlap.method")
    score = method.scorer(lexicon, models)
    model = getattr(method, "model_name", lambda models: settings.method)(models)
    out.parent.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    with scratch_folder(out.parent, "overlap") as folder:
        spooled = folder / "pairs.parquet"
        with opened(scenes, Path(folder), settings) as connection:
            with pq.ParquetWriter(spooled, OVERLAP.fields, compression="lz4") as writer:
                for kind in sorted(KINDS):
                    for batch in _scored(connection, kind, score, model, settings, counts):
                        writer.write_batch(batch)
            connection.read_parquet(str(spooled)).create_view("in_context")
            added = () if settings.method == NO_FILTER else _entailed(connection, known)
            connection.register("entailed", pa.Table.from_batches(added, OVERLAP.fields))
            counts |= {f"{kind} pairs entailed": n for kind, n in connection.execute(ADDED_COUNTS).fetchall()}
            counts["out"] = query.write(connection, f"FROM in_context UNION ALL FROM ({ADDED})", out, OVERLAP)
    return counts


def _scored(
    connection: duckdb.DuckDBPyConnection,
    kind: str,
    score: Score,
    model: str,
    settings: OverlapSettings,
    counts: dict[str, int],
) -> Iterator[pa.RecordBatch]:
    """The rows of a kind, in the order in which they come; counts are added up in ``counts``."""
    found = in_context(connection, kind, settings, PAIRS_AT_A_TIME)
    counts[f"{kind} pairs"] = counts[f"{kind} pairs exclusive"] = 0
    for batch in track(found, f"overlap of {kind}s", unit="batch"):
        xs, ys = batch.column("x").to_pylist(), batch.column("y").to_pylist()
        scores = score(kind, xs, ys)
        counts[f"{kind} pairs"] += len(scores)
        counts[f"{kind} pairs exclusive"] += sum(m > 0.5 for m in scores)
        yield _rows(kind, xs, ys, scores, model)
        if not DIRECTED[kind]:
            yield _rows(kind, ys, xs, scores, model)


def _entailed(connection: duckdb.DuckDBPyConnection, lexicon: Lexicon) -> Iterator[pa.RecordBatch]:
    """The rows of all pairs of names of which one entails the other, both ways, by kind."""
    for kind in sorted(KINDS):
        found = lexicon.entailments(kind, vocabulary(connection, kind))
        pairs = sorted({pair for x, y in found for pair in ((x, y), (y, x))})
        xs, ys = ([pair[side] for pair in pairs] for side in (0, 1))
        yield _rows(kind, xs, ys, [lexicon.exclusive(kind, x, y) for x, y in pairs], "lexicon")


def _rows(kind: str, xs: list[str], ys: list[str], scores: list[float], model: str) -> pa.RecordBatch:
    columns = ([kind] * len(xs), xs, ys, scores, [model] * len(xs))
    arrays = [pa.array(c, field.type) for c, field in zip(columns, OVERLAP.fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=OVERLAP.fields)
