"""Pairs of names seen in one context (COVR, App. A): all of them, or first those most worth annotating."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from pydantic import Field

from compvqa import query, tables
from compvqa.scenes.lexicon import KINDS
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS
from compvqa.settings import Settings

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
# m is symmetric for nouns and attributes: each pair is scored once and stored both ways
DIRECTED = {"attribute": False, "noun": False, "relation": True}
EXAMPLES = 3
_KNOWN = pa.schema([("kind", pa.string()), ("x", pa.string()), ("y", pa.string())])
Pair = tuple[str, str, str]  # kind, x, y


class PairSettings(Settings):
    """Which pairs of names are looked at."""

    names_per_context: int = Field(
        2000,
        ge=2,
        description="in a context, pairs are made of its names that are seen most often; at most so many",
    )
    min_seen: int = Field(1, ge=1, description="a name counts in a context if it is seen there so many times")
    memory: str = Field("2GB", description="memory of the search for pairs, before it uses the disk")


@dataclass(frozen=True)
class Mined:
    """Two names in alphabetic order, the number of contexts that both are seen in, and some of these in words."""

    kind: str
    x: str
    y: str
    contexts: int
    examples: tuple[str, ...]


@contextmanager
def opened(scenes: Path, scratch: Path, settings: PairSettings) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that knows the scene tables of the folder ``scenes`` by name and spills into ``scratch``."""
    with query.connect(scratch, settings.memory) as connection:
        for schema in (OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS):
            path = scenes / f"{schema.name}.parquet"
            tables.read(path, schema, columns=[])
            connection.read_parquet(str(path)).create_view(schema.name)
        yield connection


def vocabulary(connection: duckdb.DuckDBPyConnection, kind: str) -> list[str]:
    """All names of a kind in the scene tables, by alphabet."""
    rows = connection.execute(f"SELECT DISTINCT name FROM {VOCABULARY[kind]} ORDER BY name").fetchall()
    return [name for (name,) in rows]


def in_context(
    connection: duckdb.DuckDBPyConnection, kind: str, settings: PairSettings, at_a_time: int
) -> pa.RecordBatchReader:
    """All pairs (x, y) of a kind seen in one context, each once, in order; directed kinds both ways."""
    order = "<>" if DIRECTED[kind] else "<"
    found = connection.sql(
        f"""
        WITH {_seen(kind)}
        SELECT DISTINCT a.name AS x, b.name AS y
        FROM seen a JOIN seen b ON a.context = b.context AND a.name {order} b.name ORDER BY x, y""",
        params=[settings.min_seen, settings.names_per_context],
    )
    return found.to_arrow_reader(at_a_time)


def most_useful(
    connection: duckdb.DuckDBPyConnection, kind: str, settings: PairSettings, most: int, known: set[Pair]
) -> list[Mined]:
    """The first ``most`` pairs that are not in ``known``: those that share most contexts, then those seen most often.

    ``known`` holds pairs with their names in alphabetic order. The more contexts two names share, the more
    distractors their label decides on.
    """
    rows = sorted(pair for pair in known if pair[0] == kind)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    connection.register("known", pa.table(columns, schema=_KNOWN))
    found = connection.execute(
        f"""
        WITH {_seen(kind)},
        pairs AS (
            SELECT a.name AS x, b.name AS y, count(*) AS contexts, sum(least(a.n, b.n)) AS times
            FROM seen a JOIN seen b ON a.context = b.context AND a.name < b.name
            GROUP BY ALL
        ),
        chosen AS (
            FROM pairs ANTI JOIN known USING (x, y) ORDER BY contexts DESC, times DESC, x, y LIMIT ?
        )
        SELECT x, y, contexts, list(a.context ORDER BY least(a.n, b.n) DESC, a.context)[:{EXAMPLES}]
        FROM chosen JOIN seen a ON a.name = x JOIN seen b ON b.name = y AND b.context = a.context
        GROUP BY x, y, contexts, times ORDER BY contexts DESC, times DESC, x, y""",
        [settings.min_seen, settings.names_per_context, most],
    ).fetchall()
    return [Mined(kind, x, y, n, tuple(_in_words(kind, context) for context in few)) for x, y, n, few in found]


def _seen(kind: str) -> str:
    """The names of each context with how often they are seen there; parameters: min_seen and names_per_context."""
    return f"""
        seen AS (
            SELECT context, name, n
            FROM (SELECT context, name, count(*) AS n FROM ({CONTEXTS[_checked(kind)]}) GROUP BY context, name)
            WHERE n >= ?
            QUALIFY row_number() OVER (PARTITION BY context ORDER BY n DESC, name) <= ?
        )"""


def _checked(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of name: use one of {', '.join(KINDS)}")
    return kind


def _in_words(kind: str, context: str) -> str:
    if kind == "relation":
        return context.replace("\t", " … ")
    return f"{context} that is …" if kind == "attribute" else context
