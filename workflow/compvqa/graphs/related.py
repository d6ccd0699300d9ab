"""Related images: the candidates that pass the presence filter, few for each seed and key (COVR, section
3.2)."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.filters.images import PRESENCE
from compvqa.graphs.simple import simple_subgraphs
from compvqa.graphs.store import StoreSettings, connect, create, number, sorted_reader, view
from compvqa.graphs.subgraph import parse
from compvqa.graphs.tables import CANDIDATES, RELATED, SEEDS
from compvqa.progress import track


class RelatedSettings(StoreSettings):
    """Which candidates are kept."""

    per_key: int = Field(10, ge=1, description="Related scenes of a seed and key, at most")
    tried: int = Field(30, ge=1, description="Candidates of a seed and key that are asked about, at most")
    tau_object: float = Field(0.05, ge=0, le=1, description="Threshold of presence where an object differs")
    tau_relation: float = Field(0.1, ge=0, le=1, description="Threshold of presence where a relation differs")
    tau_attribute: float = Field(0.5, ge=0, le=1, description="Threshold of presence where an attribute differs")

    def tau(self, key: str) -> float | None:
        """The threshold for candidates of ``key``, the largest of its kinds; None where no node differs."""
        by_kind = {
            "name": self.tau_object,
            "object": self.tau_object,
            "relation": self.tau_relation,
            "attr": self.tau_attribute,
        }
        return max((by_kind[kind] for kind in key.split("_") if kind in by_kind), default=None)


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
        written = tables.write(out, RELATED, sorted_reader(connection, _RELATED))
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
    for name, path, schema in (
        ("seeds_file", seeds, SEEDS),
        ("candidates_file", candidates, CANDIDATES),
        ("presence_file", presence, PRESENCE),
    ):
        view(connection, name, [path], schema)
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


_STATEMENTS = (
    """
create table failing as
select c.seed, c.key, c.scene_id
from candidates_file c join threshold t on t.key = c.key and t.tau is not null
join seeds_file s on s.seed = c.seed join simple m on m.subgraph_key = s.subgraph_key
left join presence_file p on p.scene_id = c.scene_id and p.subgraph_key = m.part and not p.masked
where c.rank < getvariable('tried')
group by c.seed, c.key, c.scene_id having bool_and(coalesce(p.p > t.tau, false))
""",
    """
create view passing as
select c.* from candidates_file c anti join failing f using (seed, key, scene_id)
where c.rank < getvariable('tried')
""",
    """
create table picked as
select * replace (row_number() over (partition by seed, key order by rank) - 1 as rank) from passing
qualify row_number() over (partition by seed, key order by rank) <= getvariable('per_key')
""",
    """
create table complete as
select seed from picked group by seed having bool_or(key = 'pos') and bool_or(key not in ('pos', 'mult'))
""",
)
_RELATED = """
select seed, key, scene_id, rank, nodes, names from picked semi join complete using (seed)
order by seed, key, scene_id
"""
