"""Tallies: how many of the units that intervals draw have so many questions, of which so many are answered right.

They are all that a bootstrap over these units needs, in a few rows: of accuracies over several splits too, each with a
dataset of its own, such as a mean over held-out pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa

from compvqa.evaluation.answers import Run
from compvqa.evaluation.facets import MANY
from compvqa.evaluation.intervals import Resampled
from compvqa.tables import Schema

TALLIES = Schema(
    "tallies",
    pa.schema(
        [
            ("run", pa.string()),
            ("model", pa.string()),
            ("split", pa.string()),  # as in the scores, as are all columns up to value
            ("variant", pa.string()),
            ("seed", pa.int64()),
            ("part", pa.string()),
            ("text", pa.string()),
            ("facet", pa.string()),
            ("value", pa.string()),
            ("right", pa.int64()),  # questions of a unit that are answered right
            ("n", pa.int64()),  # questions of the unit
            ("units", pa.int64()),  # how many such units there are
        ]
    ),
    key=("run", "split", "part", "text", "facet", "value", "right", "n"),
)
_TOLD = (*TALLIES.key, "units")


def tally(db: duckdb.DuckDBPyConnection, resample: Resampled | None) -> None:
    """Make the table ``tallied`` in ``db`` of its ``by_facet`` (:func:`compvqa.evaluation.scores.score_rows`):
    run, split, part, text, facet, value, right, n, units."""
    if resample == "questions":
        counted = """select run, split, part, text, facet, value, correct::bigint as "right", 1 as n from by_facet"""
    else:
        counted = """select run, split, part, text, facet, value, sum(correct)::bigint as "right", count(*) as n
            from by_facet group by run, split, part, text, facet, value, unit"""
    db.execute(f"create table tallied as select *, count(*) as units from ({counted}) group by all")


def tally_rows(db: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """The rows of :data:`TALLIES` of what is ``tallied`` in ``db``, but for facets of many values."""
    columns = ", ".join(f'"{name}"' for name in _TOLD)
    for row in db.sql(f"select {columns} from tallied where facet not in {MANY}").fetchall():
        named = dict(zip(_TOLD, row, strict=True))
        run = Run.parse(named["run"])
        yield named | {"model": run.model, "variant": run.variant, "seed": run.seed}
