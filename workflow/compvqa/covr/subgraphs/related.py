"""Related images: the candidates that pass the image filter, few for each seed and key (COVR, section
3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.subgraphs.keys import KINDS, kinds_of
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.store import StoreSettings, connect, create, number, view
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.covr.subgraphs.tables import CANDIDATES, RELATED, SEEDS
from compvqa.files import read_json
from compvqa.progress import track
from compvqa.query import rebatch

Tau = float | None  # null: the image filter is switched off for the kind


class RelatedSettings(StoreSettings):
    """Which candidates are kept."""

    per_key: int = Field(10, ge=1, description="Related scenes of a seed and key, at most")
    tried: int = Field(30, ge=1, description="Candidates of a seed and key that are asked about, at most")
    tau_object: Tau = Field(0.05, ge=0, le=1, description="Threshold of presence where an object differs")
    tau_relation: Tau = Field(0.1, ge=0, le=1, description="Threshold of presence where a relation differs")
    tau_attribute: Tau = Field(0.5, ge=0, le=1, description="Threshold of presence where an attribute differs")

    def tau(self, key: str) -> float | None:
        """The threshold for candidates of ``key``, the largest of its kinds; None where no node differs, or only nodes
        of kinds for which the filter is switched off."""
        taus = (getattr(self, f"tau_{kind}") for kind in kinds_of(key))
        return max((tau for tau in taus if tau is not None), default=None)

    def set_by(self, thresholds: Path | None) -> RelatedSettings:
        """These settings with the thresholds in a file of the stage thresholds; a kind that it lacks keeps its own."""
        if thresholds is None:
            return self
        found = read_json(thresholds)
        return self.model_copy(update={f"tau_{kind}": found[kind] for kind in KINDS if kind in found})


def relate(seeds: Path, candidates: Path, presence: Path, out: Path, settings: RelatedSettings) -> dict[str, int]:
    """Write, for each seed and key, the first ``per_key`` candidates by rank that pass, with new ranks.

    A candidate with a node that differs fails if *all* simple subgraphs of the seed's subgraph are in
    its image
    with a probability above the threshold; one without a score counts as absent. Seeds without a positive or
    without a negative scene are left out.
    """
    with connect(out, settings) as connection:
        _load(connection, seeds, candidates, presence, settings)
        for statement in track(_STATEMENTS, "related", unit="step"):
            connection.execute(statement)
        rows = number(connection, "select count(*) from candidates_file")
        picked = number(connection, "select count(*) from picked")
        written = tables.write(out, RELATED, _picked(connection, candidates))
        seen = number(connection, "select count(*) from failing")
        return {
            "in": rows,
            "out": written,
            "dropped: subgraph seen in the image": seen,
            "dropped: more than tried or kept": rows - seen - picked,
            "dropped: seed has no negative": picked - written,
            "seeds in": number(connection, "select count(*) from seeds_file"),
            "seeds out": number(connection, "select count(*) from complete"),
        }


def _load(
    connection: duckdb.DuckDBPyConnection,
    seeds: Path,
    candidates: Path,
    presence: Path,
    settings: RelatedSettings,
) -> None:
    """Views of the files, thresholds of the keys, and the simple subgraphs of every subgraph that has
    scores."""
    for name, path, schema in (("seeds_file", seeds, SEEDS), ("presence_file", presence, PRESENCE)):
        view(connection, name, [path], schema)
    tables.check(candidates, CANDIDATES)
    connection.read_parquet(str(candidates), file_row_number=True).create_view("candidates_file")
    connection.execute("set variable tried = ?", [settings.tried])
    connection.execute("set variable per_key = ?", [settings.per_key])
    keys = [row[0] for row in connection.execute("select distinct key from candidates_file order by 1").fetchall()]
    taus = pa.array([settings.tau(key) for key in keys], pa.float64())
    create(connection, "threshold", {"key": pa.array(keys, pa.string()), "tau": taus})
    parts: list[tuple[int, int]] = []
    if number(connection, "select count(*) from presence_file"):
        subgraphs = connection.execute("select distinct subgraph_key, tree from seeds_file order by 1").fetchall()
        for key, tree in track(subgraphs, "simple subgraphs", total=len(subgraphs)):
            parts += [(key, part.key) for part in simple_subgraphs(parse(tree))]
    columns = {"subgraph_key": [key for key, _ in parts], "part": [part for _, part in parts]}
    create(connection, "simple", {name: pa.array(values, pa.int64()) for name, values in columns.items()})


def _picked(connection: duckdb.DuckDBPyConnection, candidates: Path) -> pa.RecordBatchReader:
    """The picked rows of the file of candidates, in its order, with their new ranks."""
    table = connection.sql(_ROWS).to_arrow_table()
    places, ranks = (table[name].to_numpy() for name in ("row", "rank"))

    def batches() -> Iterator[pa.RecordBatch]:
        start = 0
        with pq.ParquetFile(candidates) as file:
            for batch in file.iter_batches(tables.ROW_GROUP, columns=RELATED.fields.names):
                here = slice(*np.searchsorted(places, [start, start + batch.num_rows]))
                chosen = batch.take(pa.array(places[here] - start))
                start += batch.num_rows
                at = RELATED.fields.get_field_index("rank")
                yield chosen.set_column(at, RELATED.fields.field(at), pa.array(ranks[here], pa.int32()))

    return pa.RecordBatchReader.from_batches(RELATED.fields, rebatch(batches(), RELATED.fields))


# Rows are known by their numbers in the file, which is sorted: nothing wide is sorted again.
_STATEMENTS = (
    """
create table failing as
select c.file_row_number as row, any_value(c.seed) as seed, any_value(c.key) as key
from candidates_file c join threshold t on t.key = c.key and t.tau is not null
join seeds_file s on s.seed = c.seed join simple m on m.subgraph_key = s.subgraph_key
left join presence_file p on p.scene_id = c.scene_id and p.subgraph_key = m.part and not p.masked
where c.rank < getvariable('tried')
group by c.file_row_number having bool_and(coalesce(p.p > t.tau, false))
""",
    """
create view passing as
select seed, key, rank, file_row_number as row
from candidates_file anti join failing on failing.row = file_row_number where rank < getvariable('tried')
""",
    # ranks close up where one before has failed
    """
create table picked as
select row, seed, key, rank from passing anti join failing using (seed, key) where rank < getvariable('per_key')
union all
select row, seed, key, place - 1 as rank
from (
    select *, row_number() over (partition by seed, key order by rank) as place
    from passing semi join failing using (seed, key))
where place <= getvariable('per_key')
""",
    """
create table complete as
select seed from picked group by seed having bool_or(key = 'pos') and bool_or(key not in ('pos', 'mult'))
""",
)
_ROWS = "select row, rank from picked semi join complete using (seed) order by row"
