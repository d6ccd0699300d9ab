"""The word filter: which pairs of names, seen in one context, are mutually exclusive (COVR, App. A)."""

from __future__ import annotations

import importlib
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from compvqa import query, tables
from compvqa.errors import InputError
from compvqa.filters.lexicon import Lexicon
from compvqa.progress import track
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS
from compvqa.settings import Settings
from compvqa.tables import Schema

OVERLAP = Schema(
    "overlap",
    pa.schema(
        [
            ("kind", pa.string()),  # noun, attribute or relation
            ("x", pa.string()),
            ("y", pa.string()),
            ("m", pa.float32()),  # probability that the two are mutually exclusive
            ("model", pa.string()),  # the method that gave it
        ]
    ),
    key=("kind", "x", "y"),
)
NO_FILTER = "none"  # the method that excludes nothing
PAIRS_AT_A_TIME = 65_536
# kind -> (context, name) rows, one for each time that a name is seen in a context
CONTEXTS = {
    "attribute": """
        SELECT o.name AS context, a.name
        FROM attributes a JOIN objects o USING (scene_id, object_id)""",
    "noun": """
        SELECT 'subject of ' || r.name AS context, o.name
        FROM relations r JOIN objects o ON o.scene_id = r.scene_id AND o.object_id = r.subject_id
        UNION ALL
        SELECT 'object of ' || r.name, o.name
        FROM relations r JOIN objects o ON o.scene_id = r.scene_id AND o.object_id = r.object_id
        UNION ALL
        SELECT 'modifier ' || m.name || ' of ' || r.name, o.name
        FROM modifiers m JOIN relations r USING (scene_id, relation_id)
        JOIN objects o ON o.scene_id = m.scene_id AND o.object_id = m.object_id
        UNION ALL
        SELECT 'with attribute ' || a.name, o.name
        FROM attributes a JOIN objects o USING (scene_id, object_id)""",
    "relation": """
        SELECT s.name || chr(9) || t.name AS context, r.name
        FROM relations r
        JOIN objects s ON s.scene_id = r.scene_id AND s.object_id = r.subject_id
        JOIN objects t ON t.scene_id = r.scene_id AND t.object_id = r.object_id""",
}
# kind -> the table of all its names
VOCABULARY = {"attribute": "attributes", "noun": "objects", "relation": "relations"}
ADDED = "FROM entailed ANTI JOIN in_context USING (kind, x, y)"
ADDED_COUNTS = f"SELECT kind, count(*) FROM ({ADDED}) WHERE x < y OR kind = 'relation' GROUP BY kind ORDER BY kind"
# m is symmetric for nouns and attributes: each pair is judged once and stored both ways
DIRECTED = {"attribute": False, "noun": False, "relation": True}


class OverlapSettings(Settings):
    """How m(x, y) is found."""

    method: str = Field("lexicon", description="module in compvqa.filters.overlap that gives m(x, y)")
    names_per_context: int = Field(
        2000,
        ge=2,
        description="in a context, pairs are made of its names that are seen most often; at most so many",
    )
    min_seen: int = Field(1, ge=1, description="a name counts in a context if it is seen there so many times")
    memory: str = Field("2GB", description="memory of the search for pairs, before it uses the disk")


def overlap(scenes: Path, lexicon: Path, out: Path, settings: OverlapSettings) -> dict[str, int]:
    """Write m(x, y) of all pairs of names seen in one context in the tables of the folder ``scenes``.

    Contexts: attributes on the same noun; nouns on the same side of the same relation, as the same modifier,
    or with the same attribute; relations between the same two nouns. Added are, in both directions, pairs seen in no
    context of which one name entails the other. They are judged by the lexicon, whatever the method: it is what says
    that they belong together, and a method is made for names that could stand in each other's place. The method
    ``none``, no filter, gets none of them. Gives the number of pairs by kind: those in context, the exclusive ones
    among them, and those added.
    """
    score, known = _method(settings)(lexicon, settings), Lexicon.load(lexicon)
    out.parent.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix=".overlap.", dir=out.parent) as folder:
        spooled = Path(folder) / "pairs.parquet"
        with query.connect(folder, settings.memory) as connection:
            _load(connection, scenes)
            with pq.ParquetWriter(spooled, OVERLAP.fields, compression="lz4") as writer:
                for kind in CONTEXTS:
                    for batch in _scored(connection, kind, score, settings, counts):
                        writer.write_batch(batch)
            connection.read_parquet(str(spooled)).create_view("in_context")
            added = () if settings.method == NO_FILTER else _entailed(connection, known)
            connection.register("entailed", pa.Table.from_batches(added, OVERLAP.fields))
            counts |= {f"{kind} pairs entailed": n for kind, n in connection.execute(ADDED_COUNTS).fetchall()}
            counts["out"] = query.write(connection, f"FROM in_context UNION ALL FROM ({ADDED})", out, OVERLAP)
    return counts


def _method(settings: OverlapSettings) -> Callable:
    name = settings.method
    try:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ModuleNotFoundError
        return importlib.import_module(f"compvqa.filters.overlap.{name}").scorer
    except (ModuleNotFoundError, AttributeError):
        known = sorted(path.stem for path in (Path(__file__).parent / "overlap").glob("[a-z]*.py"))
        raise InputError(f"overlap.method: there is no {name!r}; use one of {', '.join(known)}.") from None


def _load(connection: duckdb.DuckDBPyConnection, scenes: Path) -> None:
    for schema in (OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS):
        path = scenes / f"{schema.name}.parquet"
        tables.read(path, schema, columns=[])
        connection.read_parquet(str(path)).create_view(schema.name)


def _pairs(kind: str) -> str:
    """The query for the pairs of a kind; its two parameters are min_seen and names_per_context."""
    order = "<>" if DIRECTED[kind] else "<"
    return f"""
        WITH seen AS (
            SELECT context, name
            FROM (SELECT context, name, count(*) AS n FROM ({CONTEXTS[kind]}) GROUP BY context, name)
            WHERE n >= ?
            QUALIFY row_number() OVER (PARTITION BY context ORDER BY n DESC, name) <= ?
        )
        SELECT DISTINCT a.name AS x, b.name AS y
        FROM seen a JOIN seen b ON a.context = b.context AND a.name {order} b.name"""


def _scored(
    connection: duckdb.DuckDBPyConnection,
    kind: str,
    score: Callable,
    settings: OverlapSettings,
    counts: dict[str, int],
) -> Iterator[pa.RecordBatch]:
    """The rows of a kind, in the order in which they come; counts are added up in ``counts``."""
    found = connection.sql(_pairs(kind), params=[settings.min_seen, settings.names_per_context])
    counts[f"{kind} pairs"] = counts[f"{kind} pairs exclusive"] = 0
    for batch in track(found.to_arrow_reader(PAIRS_AT_A_TIME), f"overlap of {kind}s", unit="batch"):
        xs, ys = batch.column("x").to_pylist(), batch.column("y").to_pylist()
        scores = score(kind, xs, ys)
        counts[f"{kind} pairs"] += len(scores)
        counts[f"{kind} pairs exclusive"] += sum(m > 0.5 for m in scores)
        yield _rows(kind, xs, ys, scores, settings.method)
        if not DIRECTED[kind]:
            yield _rows(kind, ys, xs, scores, settings.method)


def _entailed(connection: duckdb.DuckDBPyConnection, lexicon: Lexicon) -> Iterator[pa.RecordBatch]:
    """The rows of all pairs of names of which one entails the other, both ways, by kind."""
    for kind, table in VOCABULARY.items():
        names = [name for (name,) in connection.execute(f"SELECT DISTINCT name FROM {table}").fetchall()]
        found = lexicon.entailments(kind, names)
        pairs = sorted({pair for x, y in found for pair in ((x, y), (y, x))})
        xs, ys = ([pair[side] for pair in pairs] for side in (0, 1))
        yield _rows(kind, xs, ys, [lexicon.exclusive(kind, x, y) for x, y in pairs], "lexicon")


def _rows(kind: str, xs: list[str], ys: list[str], scores: list[float], model: str) -> pa.RecordBatch:
    columns = ([kind] * len(xs), xs, ys, scores, [model] * len(xs))
    arrays = [pa.array(c, field.type) for c, field in zip(columns, OVERLAP.fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=OVERLAP.fields)
