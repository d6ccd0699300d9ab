"""The word filter: which pairs of names, seen in one context, are mutually exclusive (COVR, App. A)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from compvqa import plugins, query, tables
from compvqa.covr.filters.floors import LEVEL
from compvqa.covr.filters.words.pairs import DIRECTED, PairSettings, in_context, opened, vocabulary
from compvqa.covr.filters.words.released import predictions
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
SHARES = Schema(
    "word_shares",
    pa.schema(
        [
            ("kind", pa.string()),
            ("beside", pa.string()),  # what it is compared with: lexicon, or released (of the names that it knows)
            ("model", pa.string()),  # the method that gave m, as in the table of overlap
            ("pairs", pa.int64()),  # seen in one context; of relations, both directions
            ("exclusive", pa.int64()),  # of these, by m
            ("exclusive_beside", pa.int64()),  # of these, by what it is compared with
            ("alike", pa.int64()),  # of these, called the same by both
        ]
    ),
    key=("kind", "beside"),
)
NO_FILTER, LEXICON, RELEASED = "none", "lexicon", "released"  # no filter; what others are compared with
METHODS = "compvqa.covr.filters.words.methods"
PAIRS_AT_A_TIME = 65_536
Score = Callable[[Sequence[str], Sequence[str]], list[float]]
ADDED = "FROM entailed ANTI JOIN in_context USING (kind, x, y)"
ADDED_COUNTS = f"SELECT kind, count(*) FROM ({ADDED}) WHERE x < y OR kind = 'relation' GROUP BY kind ORDER BY kind"


class OverlapSettings(PairSettings):
    """How m(x, y) is found."""

    method: str = Field(LEXICON, description=f"module in {METHODS} that gives m(x, y)")
    methods: dict[Literal["noun", "attribute", "relation"], str] = Field(
        {}, description="kinds of names for which another module gives it: {attribute: lexicon}"
    )
    released: Path | None = Field(
        None,
        description="what COVR's authors released of their own filters (adversarial_groups.yaml), for the method "
        "released and to compare with",
    )
    least_balanced: float = Field(
        0.6,
        ge=0.5,
        le=1,
        description="a trained model of a kind is refused whose mean accuracy on exclusive and on overlapping held-out "
        "pairs is less, or not surely more than the 0.5 of a constant",
    )
    level: float = Field(LEVEL, gt=0, lt=1, description="of the interval by which that is sure")

    def of(self, kind: str) -> str:
        """The method for the names of a kind."""
        return {str(name): method for name, method in self.methods.items()}.get(kind, self.method)


@dataclass(frozen=True)
class Knowledge:
    """What a method may look at: the lexicon, the folder of trained word filters, what the authors released (as a
    table), and the floor of a trained filter."""

    lexicon: Path
    models: Path | None = None
    released: Path | None = None
    least_balanced: float = 0.5
    level: float = LEVEL

    @cached_property
    def known(self) -> Lexicon:
        """The lexicon, read once."""
        return Lexicon.load(self.lexicon)


class Method(Protocol):
    """A module of a method."""

    def scorer(self, kind: str, given: Knowledge) -> Score: ...


@dataclass(frozen=True)
class _OfKind:
    """What gives m of the names of a kind, its name in the tables, and what it is compared with."""

    score: Score
    model: str
    beside: dict[str, Callable[[Sequence[str], Sequence[str]], Sequence[float | None]]]


def overlap(
    scenes: Path,
    lexicon: Path,
    out: Path,
    settings: OverlapSettings,
    models: Path | None = None,
    shares: Path | None = None,
    released: Path | None = None,
) -> dict[str, int]:
    """Write m(x, y) of all pairs of names seen in one context in the tables of the folder ``scenes``.

    Contexts: attributes on the same noun; nouns on the same side of the same relation, as the same modifier,
    or with the same attribute; relations between the same two nouns. Added are, in both directions, pairs seen in no
    context of which one name entails the other. They are scored by the lexicon, whatever the method: it is what says
    that they belong together, and a method is made for names that could stand in each other's place. The method
    ``none``, no filter, gets none of them. ``models`` is the folder of trained word filters, for methods that use
    them. Into the table ``shares`` goes how many of the pairs in context each kind's method calls exclusive, beside the
    lexicon and what COVR's authors ``released``, as a table. Gives the number of pairs by kind: those in context, the
    exclusive ones among them, and those added.
    """
    given = Knowledge(lexicon, models, released, settings.least_balanced, settings.level)
    methods = {kind: _of_kind(kind, settings.of(kind), given) for kind in sorted(KINDS)}
    out.parent.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    compared: list[dict] = []
    with scratch_folder(out.parent, "overlap") as folder:
        spooled = folder / "pairs.parquet"
        with opened(scenes, Path(folder), settings) as connection:
            with pq.ParquetWriter(spooled, OVERLAP.fields, compression="lz4") as writer:
                for kind, of in methods.items():
                    for batch in _scored(connection, kind, of, settings, counts, compared):
                        writer.write_batch(batch)
            connection.read_parquet(str(spooled)).create_view("in_context")
            filtered = [kind for kind in methods if settings.of(kind) != NO_FILTER]
            added = _entailed(connection, given.known, filtered)
            connection.register("entailed", pa.Table.from_batches(added, OVERLAP.fields))
            counts |= {f"{kind} pairs entailed": n for kind, n in connection.execute(ADDED_COUNTS).fetchall()}
            counts["out"] = query.write(connection, f"FROM in_context UNION ALL FROM ({ADDED})", out, OVERLAP)
    if shares is not None:
        tables.write(shares, SHARES, compared)
    return counts


def _of_kind(kind: str, name: str, given: Knowledge) -> _OfKind:
    """The method ``name`` for a kind, which it may refuse."""
    method: Method = plugins.find(METHODS, name, "scorer", "overlap.method")
    score = method.scorer(kind, given)
    model = getattr(method, "model_name", lambda kind, given: name)(kind, given)
    theirs = {RELEASED: predictions(given.released, kind)} if given.released else {}
    return _OfKind(score, model, {LEXICON: score if name == LEXICON else by_lexicon(kind, given.known), **theirs})


def by_lexicon(kind: str, lexicon: Lexicon) -> Score:
    """A function that gives m for the pairs (xs[i], ys[i]) of a kind by a lexicon's entries and rules."""
    return lambda xs, ys: [lexicon.exclusive(kind, x, y) for x, y in zip(xs, ys, strict=True)]


def _scored(
    connection: duckdb.DuckDBPyConnection,
    kind: str,
    of: _OfKind,
    settings: OverlapSettings,
    counts: dict[str, int],
    compared: list[dict],
) -> Iterator[pa.RecordBatch]:
    """The rows of a kind, in the order in which they come; counts are added up in ``counts`` and ``compared``."""
    found = in_context(connection, kind, settings, PAIRS_AT_A_TIME)
    counts[f"{kind} pairs"] = counts[f"{kind} pairs exclusive"] = 0
    shares = {name: Counter(pairs=0, exclusive=0, exclusive_beside=0, alike=0) for name in of.beside}
    for batch in track(found, f"overlap of {kind}s", unit="batch"):
        xs, ys = batch.column("x").to_pylist(), batch.column("y").to_pylist()
        scores = of.score(xs, ys)
        counts[f"{kind} pairs"] += len(scores)
        counts[f"{kind} pairs exclusive"] += sum(m > 0.5 for m in scores)
        for name, share in shares.items():
            share.update(_compared(scores, scores if of.beside[name] is of.score else of.beside[name](xs, ys)))
        yield _rows(kind, xs, ys, scores, of.model)
        if not DIRECTED[kind]:
            yield _rows(kind, ys, xs, scores, of.model)
    compared += [{"kind": kind, "beside": name, "model": of.model, **share} for name, share in shares.items()]


def _compared(scores: Sequence[float], others: Sequence[float | None]) -> dict[str, int]:
    said = [(m > 0.5, other > 0.5) for m, other in zip(scores, others, strict=True) if other is not None]
    ours, theirs = (sum(one[side] for one in said) for side in (0, 1))
    alike = sum(one == other for one, other in said)
    return {"pairs": len(said), "exclusive": ours, "exclusive_beside": theirs, "alike": alike}


def _entailed(
    connection: duckdb.DuckDBPyConnection, lexicon: Lexicon, kinds: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of all pairs of names of which one entails the other, both ways, by kind."""
    for kind in kinds:
        found = lexicon.entailments(kind, vocabulary(connection, kind))
        pairs = sorted({pair for x, y in found for pair in ((x, y), (y, x))})
        xs, ys = ([pair[side] for pair in pairs] for side in (0, 1))
        yield _rows(kind, xs, ys, [lexicon.exclusive(kind, x, y) for x, y in pairs], LEXICON)


def _rows(kind: str, xs: list[str], ys: list[str], scores: list[float], model: str) -> pa.RecordBatch:
    columns = ([kind] * len(xs), xs, ys, scores, [model] * len(xs))
    arrays = [pa.array(c, field.type) for c, field in zip(columns, OVERLAP.fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=OVERLAP.fields)
