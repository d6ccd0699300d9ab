"""The examples of the image filter: simple subgraphs with images that have them, and with images that
differ in a node (COVR, section 3.2 and App. B)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.covr.english import describe
from compvqa.covr.subgraphs.store import StoreSettings, connect, create, number, sorted_reader, view
from compvqa.covr.subgraphs.subgraph import make, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, OCCURRENCES, OVERLAP_COLUMNS, SEEDS, SUBGRAPHS
from compvqa.progress import track
from compvqa.query import rebatch
from compvqa.scenes.tables import OBJECTS, SCENES
from compvqa.seeds import stable_hash
from compvqa.tables import Schema

EXAMPLES = Schema(
    "examples",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("subgraph_key", pa.int64()),  # a simple subgraph
            ("label", pa.bool_()),  # is it annotated in the scene
            ("differs", pa.string()),  # what differs there instead: name, attr or relation; "" where it is annotated
            ("fold", pa.int8()),  # of the image
        ]
    ),
    key=("scene_id", "subgraph_key"),
)
TEXTS = Schema("texts", pa.schema([("subgraph_key", pa.int64()), ("text", pa.string())]), key=("subgraph_key",))
SAID_AT_A_TIME = 65_536


class ExampleSettings(StoreSettings):
    """Which examples the image filter learns from."""

    negatives: float = Field(1.0, gt=0, description="negative examples of a subgraph for each positive one, at most")
    folds: int = Field(5, ge=2, description="parts of the images; a model scores the part that it did not see")
    exclusive: float = Field(
        0.5, ge=0, le=1, description="a scene with a noun that overlaps (m up to this) is no negative of a bare noun"
    )


def fold_of(image: str, folds: int) -> int:
    """The fold of an image, 0 … ``folds`` - 1."""
    return stable_hash("fold", image) % folds


def make_examples(
    subgraphs: Sequence[Path],
    occurrences: Sequence[Path],
    seeds: Sequence[Path],
    candidates: Sequence[Path],
    scenes: Path,
    overlap: Path,
    out: Path,
    texts: Path,
    settings: ExampleSettings,
    seed: int,
) -> dict[str, int]:
    """Write the examples table and the texts of its subgraphs.

    Positives are all (scene, simple subgraph) that occur, if the subgraph has a negative; negatives the candidates of
    a simple subgraph that differ from it in one node, as many as there are positives times ``negatives``, dealt evenly
    over what differs, by stable rank. A bare noun, which has no candidates of its own, takes those of subgraphs in
    which another noun stands in its place. ``scenes`` is the folder of scene tables.
    """
    with connect(out, settings) as connection:
        _load(connection, subgraphs, occurrences, seeds, candidates, scenes, overlap, settings, seed)
        for statement in track(_STATEMENTS, "examples", unit="step"):
            connection.execute(statement)
        rows = tables.write(out, EXAMPLES, sorted_reader(connection, _EXAMPLES))
        known = tables.write(texts, TEXTS, _texts(connection))
        positives = number(connection, "select count(*) from chosen where label")
        counts = {"in": number(connection, "select count(*) from positives"), "out": rows}
        counts |= {"positive": positives, "negative": rows - positives, "subgraphs": known}
        counts["dropped: subgraph has no negative"] = counts["in"] - positives
        for fold in range(settings.folds):
            query = f"select count(*) from chosen join folds using (scene_id) where fold = {fold}"
            counts[f"fold {fold}"] = number(connection, query)
        return counts


def _load(
    connection: duckdb.DuckDBPyConnection,
    subgraphs: Sequence[Path],
    occurrences: Sequence[Path],
    seeds: Sequence[Path],
    candidates: Sequence[Path],
    scenes: Path,
    overlap: Path,
    settings: ExampleSettings,
    seed: int,
) -> None:
    """Views of the files, the simple subgraphs, and each scene's fold."""
    for name, paths, schema in (
        ("subgraphs_file", subgraphs, SUBGRAPHS),
        ("occurrences_file", occurrences, OCCURRENCES),
        ("seeds_file", seeds, SEEDS),
        ("candidates_file", candidates, CANDIDATES),
        ("objects_file", [scenes / "objects.parquet"], OBJECTS),
    ):
        view(connection, name, paths, schema)
    connection.read_parquet(str(overlap)).create_view("overlap_file")
    tables.read(overlap, columns=OVERLAP_COLUMNS)
    for name, value in (("seed", seed), ("negatives", settings.negatives), ("exclusive", settings.exclusive)):
        connection.execute(f"set variable {name} = ?", [value])
    known = tables.read(scenes / "scenes.parquet", SCENES, ["scene_id", "image"])
    folds = pa.array([fold_of(image, settings.folds) for image in known["image"].to_pylist()], pa.int8())
    create(connection, "folds", {"scene_id": known["scene_id"].combine_chunks(), "fold": folds})
    connection.execute(_SIMPLE)
    rows = connection.execute("select subgraph_key, tree from simple order by 1").fetchall()
    bare: list[tuple[int, int, int, str]] = []
    for key, tree in track(rows, "nouns", total=len(rows)):
        bare += [(key, node, make(part.name).key, part.name) for node, part in parse(tree).objects()]
    types = (("subgraph_key", pa.int64()), ("node", pa.int16()), ("noun_key", pa.int64()), ("noun", pa.string()))
    columns = {name: pa.array([row[at] for row in bare], kind) for at, (name, kind) in enumerate(types)}
    create(connection, "bare", columns)


def _texts(connection: duckdb.DuckDBPyConnection) -> pa.RecordBatchReader:
    """The English of the chosen subgraphs."""

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in connection.sql(_CHOSEN_TREES).to_arrow_reader(SAID_AT_A_TIME):
            said = [describe(parse(tree)) for tree in batch["tree"].to_pylist()]
            yield pa.record_batch([batch["subgraph_key"], pa.array(said, pa.string())], schema=TEXTS.fields)

    return pa.RecordBatchReader.from_batches(TEXTS.fields, rebatch(batches(), TEXTS.fields))


_SIMPLE = """
create table simple as
select distinct on (subgraph_key) subgraph_key, tree
from subgraphs_file where size in (1, 3) and n_attributes <= 1
"""
_STATEMENTS = (
    """
create table positives as
select distinct scene_id, subgraph_key from occurrences_file semi join simple using (subgraph_key)
""",
    """
create table near as
select s.subgraph_key, c.scene_id, c.nodes[1] as node, regexp_extract(c.key, '^\\d+_([a-z]+)$', 1) as differs
from candidates_file c
join seeds_file s using (seed)
semi join simple on simple.subgraph_key = s.subgraph_key
where regexp_matches(c.key, '^\\d+_(name|attr|relation)$')
""",
    # a bare noun: where another noun stands in its place, and none that overlaps with it is in the scene
    """
create table noun_near as
select distinct b.noun_key as subgraph_key, b.noun, n.scene_id
from near n join bare b on b.subgraph_key = n.subgraph_key and b.node = n.node
where n.differs = 'name'
""",
    """
create table overlapping as
select x as noun, y as other from overlap_file where kind = 'noun' and m <= getvariable('exclusive')
union select distinct noun, noun from bare
""",
    """
create table negatives as
select subgraph_key, scene_id, min(differs) as differs
from (
    select subgraph_key, scene_id, differs from near
    union all
    select subgraph_key, scene_id, 'name' from noun_near n
    where not exists (
        from overlapping v join objects_file o on o.name = v.other
        where v.noun = n.noun and o.scene_id = n.scene_id))
anti join positives using (scene_id, subgraph_key)
group by all having subgraph_key is not null
""",
    """
create table wanted as
select subgraph_key, ceil(getvariable('negatives') * count(*)) as most
from positives semi join negatives using (subgraph_key) group by subgraph_key
""",
    """
create table chosen as
select scene_id, subgraph_key, true as label, '' as differs from positives semi join wanted using (subgraph_key)
union all
select scene_id, subgraph_key, false, differs
from (
    select *, row_number() over (partition by subgraph_key order by turn, differs) as place
    from (
        select *, row_number() over (
            partition by subgraph_key, differs
            order by text_key(concat_ws(chr(31), getvariable('seed'), subgraph_key, scene_id)), scene_id) as turn
        from negatives)) join wanted using (subgraph_key)
where place <= most
""",
)
_EXAMPLES = """
select scene_id, subgraph_key, label, differs, fold from chosen join folds using (scene_id)
order by scene_id, subgraph_key
"""
_CHOSEN_TREES = """
select subgraph_key, tree from simple semi join chosen using (subgraph_key) order by subgraph_key
"""
