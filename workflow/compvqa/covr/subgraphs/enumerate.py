"""All subgraphs of all scenes, and where they occur (COVR, section 3.1), set by set in DuckDB.

Subgraphs grow from the leaves to the root: objects (level 0), relations to them, objects with such
relations (level 1), relations to those, objects with such relations (level 2). Each partial tree carries
its canonical JSON text, its shape and its names' keys, so that equal subgraphs meet by their text's key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import duckdb
import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.covr.english import describe
from compvqa.covr.subgraphs.shapes import KINDS
from compvqa.covr.subgraphs.store import StoreSettings, connect, create, number, sorted_reader, view
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.covr.subgraphs.tables import OCCURRENCES, SUBGRAPHS
from compvqa.progress import track
from compvqa.scenes.tables import SCENES, TABLES
from compvqa.seeds import of_shard

NOUNS = ["head", "snow", "ground", "sky", "road", "roadway", "grass", "field", "wall", "sidewalk", "street"]
ROLES = ["agent", "item", "place", "tool", "target", "destination", "source", "object", "substance"]


class SubgraphSettings(StoreSettings):
    """Which subgraphs there are, and which of them may start a question (the query side)."""

    full_grammar: bool = Field(
        False,
        description="All that section 3.1 allows: V-shapes also of chains and with modifiers, "
        "up to 7 objects. Off: the branches of a V are one relation each, without modifiers",
    )
    ignore_nouns: tuple[str, ...] = Field(
        (*NOUNS, *ROLES), description="Nouns that no question starts from (too vague, or bare imSitu roles)"
    )
    ignore_relations: tuple[str, ...] = Field(
        ("of", "with", "complaining to"), description="Relations that no question starts from"
    )
    dull_relation: str = Field("wearing", description="The relation of the dull pairs")
    dull_nouns: tuple[str, ...] = Field(
        ("shoe", "shoes", "sock", "socks", "shirt", "pants", "clothes"),
        description="Nouns that are dull after dull_relation, unless they have an attribute",
    )
    min_box_area: float = Field(
        400, ge=0, description="No question starts from an object with a box of this area or less, px²"
    )
    no_boxes: Literal["accept", "refuse"] = Field(
        "accept", description="Whether an object without a box passes the check of its area"
    )
    texts: bool = Field(
        True, description="Write each subgraph's English, for readers of the table; takes most of the time"
    )
    max_per_scene: int = Field(
        50_000,
        ge=1,
        description="A scene that may have more occurrences of subgraphs is left out wholly, and counted",
    )


def enumerate_scenes(
    scenes: Path,
    shard: int,
    shards: int,
    out_subgraphs: Path,
    out_occurrences: Path,
    settings: SubgraphSettings,
) -> dict[str, int]:
    """Write the subgraphs of one shard of the scenes in the folder ``scenes``, and all their occurrences.

    The index side holds each subgraph with each subset of its relations' modifiers; an occurrence is a
    ``seed``
    only with all of them, and if nothing of it is on an ignore list or too small.
    """
    with connect(out_occurrences, settings) as connection:
        counts = _load(connection, scenes, shard, shards, settings)
        for statement in track(_statements(settings.full_grammar), "subgraphs", unit="step"):
            connection.execute(statement)
        found = sorted_reader(connection, _SUBGRAPHS)
        counts["out"] = tables.write(out_subgraphs, SUBGRAPHS, _in_english(found) if settings.texts else found)
        counts["occurrences"] = tables.write(out_occurrences, OCCURRENCES, sorted_reader(connection, _OCCURRENCES))
        counts["occurrences that may be seeds"] = number(connection, "select count(*) from tree where usable")
    return counts


def _load(
    connection: duckdb.DuckDBPyConnection, scenes: Path, shard: int, shards: int, settings: SubgraphSettings
) -> dict[str, int]:
    """The shard's scenes as tables with names in JSON quotes; gives counts of what was left out."""
    ids = tables.read(scenes / "scenes.parquet", SCENES, ["scene_id"])["scene_id"].to_pylist()
    chosen = sorted(of_shard(ids, shard, shards))
    numbers = pa.array(range(len(chosen)), pa.int32())
    create(connection, "all_scene", {"scene_id": pa.array(chosen, pa.string()), "scene": numbers})
    for schema in TABLES[1:]:
        view(connection, f"{schema.name}_file", [scenes / f"{schema.name}.parquet"], schema)
    names = [row[0] for row in connection.execute(_NAMES).fetchall()]
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    create(connection, "quoted", {"name": pa.array(names, pa.string()), "word": pa.array(quoted, pa.string())})
    for kind in KINDS:
        connection.execute(f"create view {kind} as select *, text_key('{kind} ' || name) as key from quoted")
    for table, values in {
        "ignored_noun": settings.ignore_nouns,
        "ignored_relation": settings.ignore_relations,
        "dull_noun": settings.dull_nouns,
    }.items():
        create(connection, table, {"name": pa.array(values, pa.string())})
    parameters = {
        "accept": settings.no_boxes == "accept",
        "area": settings.min_box_area,
        "dull": settings.dull_relation,
        "most": settings.max_per_scene,
    }
    for name, value in parameters.items():
        connection.execute(f"set variable {name} = ?", [value])
    for statement in (_SIZES_FULL if settings.full_grammar else _SIZES, *_BASE):
        connection.execute(statement)
    refused = 0
    if settings.no_boxes == "refuse":
        refused = number(
            connection,
            "select count(*) from (select scene from object group by scene having not bool_or(boxed))",
        )
    return {
        "in": len(chosen),
        f"dropped: more than {settings.max_per_scene} occurrences in a scene": len(chosen)
        - number(connection, "select count(*) from scene"),
        "not seeds: scene without boxes": refused,
    }


def _in_english(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """The rows of subgraphs with their English."""
    column = reader.schema.get_field_index("text")

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in track(reader, "texts", unit="batch"):
            english = [describe(parse(tree)) for tree in batch["tree"].to_pylist()]
            yield batch.set_column(column, reader.schema.field(column), pa.array(english, pa.string()))

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


_NAMES = """
select distinct name from (
    select distinct name from objects_file union all select distinct name from attributes_file
    union all select distinct name from relations_file union all select distinct name from modifiers_file)
"""

# An upper bound of a scene's occurrences, known before any of them is made: numbers of trees by level.
_COUNTED = """
create table scene as
with o as (
    select s.scene, o.object_id as id, any_value(o.name) as name, 1 + count(a.name)::double as n
    from objects_file o join all_scene s using (scene_id)
    left join attributes_file a on a.scene_id = o.scene_id and a.object_id = o.object_id
    group by s.scene, o.object_id),
m as (
    select s.scene, m.relation_id as id, pow(2, count(*)) as n
    from modifiers_file m join all_scene s using (scene_id) group by all),
r as (
    select s.scene, r.subject_id, r.object_id, coalesce(m.n, 1) as n
    from relations_file r join all_scene s using (scene_id)
    join o a on a.scene = s.scene and a.id = r.subject_id
    join o b on b.scene = s.scene and b.id = r.object_id and b.name <> a.name
    left join m on m.scene = s.scene and m.id = r.relation_id),
e as (select r.*, r.n * o.n as leaves from r join o on o.scene = r.scene and o.id = r.object_id),
one as (
    select o.scene, o.id, any_value(o.n) * (sum(leaves) + pow(sum(leaves), 2) / 2) as n
    from o join e on e.scene = o.scene and e.subject_id = o.id group by all),
two as (select o.scene, {two} as n from o join e on e.scene = o.scene and e.subject_id = o.id
    left join one on one.scene = e.scene and one.id = e.object_id group by o.scene, o.id),
total as (
    select scene, sum(n) as n
    from (select scene, n from o union all select scene, n from one union all select scene, n from two)
    group by scene)
select s.* from all_scene s left join total t using (scene) where coalesce(t.n, 0) <= getvariable('most')
"""
_SIZES = _COUNTED.format(two="any_value(o.n) * sum(e.n * coalesce(one.n, 0))")
_SIZES_FULL = _COUNTED.format(
    two="any_value(o.n) * (sum(e.n * coalesce(one.n, 0)) + pow(sum(e.leaves + e.n * coalesce(one.n, 0)), 2) / 2)"
)

_BASE = (
    # an object: its noun, and whether questions may speak of it
    """
create table object as
select s.scene, row_number() over (order by s.scene, o.object_id) as object, o.object_id as id,
    w.word as noun, w.key,
    o.w is not null as boxed,
    o.name not in (from ignored_noun)
        and if(o.w is null, getvariable('accept'), o.w * o.h > getvariable('area')) as usable,
    o.name in (from dull_noun) as dull
from objects_file o join scene s using (scene_id) join noun w using (name)
""",
    # level 0: an object with no attribute or one of them
    """
create table leaf as
select object, scene, id, key, noun || ',null' as head, 's,null' as shape, [key] as names, 0 as n_attributes,
    usable, dull
from object
union all
select o.object, o.scene, o.id, o.key, o.noun || ',' || w.word, 's,s', [o.key, w.key], 1, o.usable, false
from attributes_file a join scene s using (scene_id)
join object o on o.scene = s.scene and o.id = a.object_id join attribute w using (name)
""",
    """
create table tool as
select s.scene, m.relation_id as relation, '[' || w.word || ',' || o.noun || ']' as text, [w.key, o.key] as names, o.id,
    o.usable, row_number() over (partition by s.scene, m.relation_id order by m.name, n.name, m.object_id) as place
from modifiers_file m join scene s using (scene_id) join modifier w using (name)
join object o on o.scene = s.scene and o.id = m.object_id join noun n on n.key = o.key
""",
    # every subset of a relation's modifiers, in canonical order
    """
create table tools as
with recursive subset as (
    select scene, relation, 0::bigint as place, 0 as n, '' as text, '' as shape, []::bigint[] as names,
        []::varchar[] as ids, true as usable, max(place) as whole
    from tool group by scene, relation
    union all
    select s.scene, s.relation, t.place, s.n + 1, s.text || if(s.n = 0, '', ',') || t.text,
        s.shape || if(s.n = 0, '', ',') || '[s,s]', list_concat(s.names, t.names), list_append(s.ids, t.id),
        s.usable and t.usable, s.whole
    from subset s join tool t on t.scene = s.scene and t.relation = s.relation and t.place > s.place)
select scene, relation, n, text, shape, names, ids, usable and n = whole as usable from subset
""",
    # a relation with a subset of its modifiers, waiting for its target
    """
create table link as
select a.object as subject, b.object as target, '[' || w.word || ',' as head, w.key,
    ',[' || coalesce(m.text, '') || ']]' as tail, ',[' || coalesce(m.shape, '') || ']]' as shape,
    coalesce(m.n, 0) as n_modifiers, coalesce(m.names, []) as names, coalesce(m.ids, []) as ids,
    coalesce(m.usable, true) and r.name not in (from ignored_relation) as usable,
    r.name = getvariable('dull') as dull
from relations_file r join scene s using (scene_id) join relation w using (name)
join object a on a.scene = s.scene and a.id = r.subject_id
join object b on b.scene = s.scene and b.id = r.object_id
left join tools m on m.scene = s.scene and m.relation = r.relation_id
""",
)


def _edges(name: str, targets: str) -> str:
    """Relations to ``targets``; equal relations fall together."""
    return f"""
create table {name} as
select l.subject, l.target, l.head || t.text || l.tail as text, any_value('[s,' || t.shape || l.shape) as shape,
    any_value(list_concat([l.key], t.names, l.names)) as names, list_concat(t.ids, l.ids) as ids, t.bound,
    bool_or(l.usable and t.usable and not (l.dull and t.dull)) as usable,
    any_value(1 + t.size + 2 * l.n_modifiers) as size,
    any_value(1 + greatest(t.depth, if(l.n_modifiers > 0, 2, 0))) as depth,
    any_value(t.n_attributes) as n_attributes, any_value(l.n_modifiers = 0) as plain
from link l join {targets} t on t.object = l.target
group by l.subject, l.target, l.head || t.text || l.tail, list_concat(t.ids, l.ids), t.bound"""


def _with_one(edges: str) -> str:
    """Objects with one relation below them, without the noun of an object above."""
    return f"""
select o.object, o.scene, o.id, '[' || o.head || ',[' || e.text || ']]' as text,
    '[' || o.shape || ',[' || e.shape || ']]' as shape, list_concat(o.names, e.names) as names,
    list_prepend(o.id, e.ids) as ids, list_prepend(o.object, e.bound) as bound, o.usable and e.usable as usable,
    1 + e.size as size, 1 + e.depth as depth, o.n_attributes + e.n_attributes as n_attributes, o.dull
from leaf o join {edges} e on e.subject = o.object
where not list_contains(e.names, o.key)"""


def _with_two(first: str, second: str, condition: str) -> str:
    """Objects with two relations below them, which end in different objects, in canonical order."""
    return f"""
select o.object, o.scene, o.id, '[' || o.head || ',[' || a.text || ',' || b.text || ']]' as text,
    '[' || o.shape || ',[' || a.shape || ',' || b.shape || ']]' as shape,
    list_concat(o.names, a.names, b.names) as names,
    list_prepend(o.id, list_concat(a.ids, b.ids)) as ids,
    list_prepend(o.object, list_concat(a.bound, b.bound)) as bound,
    o.usable and a.usable and b.usable as usable, 1 + a.size + b.size as size,
    1 + greatest(a.depth, b.depth) as depth,
    o.n_attributes + a.n_attributes + b.n_attributes as n_attributes, o.dull
from {first} a join {second} b on a.subject = b.subject and a.target <> b.target
    and (a.text < b.text or (a.text = b.text and a.target < b.target))
join leaf o on o.object = a.subject
where {condition} and not list_contains(a.names, o.key) and not list_contains(b.names, o.key)"""


def _statements(full_grammar: bool) -> list[str]:
    """The levels of trees, from the leaves up to the table ``tree`` of all of them, and ``subgraph`` of distinct
    ones."""
    single = """
create view level0 as
select object, scene, id, '[' || head || ',[]]' as text, '[' || shape || ',[]]' as shape, names, [id] as ids,
    [object] as bound, usable, 1 as size, 1 as depth, n_attributes, dull
from leaf"""
    plain = "true" if full_grammar else "a.plain and b.plain"
    level1 = f"create table level1 as {_with_one('edge1')} union all {_with_two('edge1', 'edge1', plain)}"
    level2 = f"create view level2 as {_with_one('edge2')}"
    if full_grammar:
        apart = "not list_has_any(a.bound, b.bound) and (a.deep or b.deep)"
        level2 += f" union all {_with_two('edge', 'edge', apart)}"
    columns = "scene, id, ids, usable, text_key(text) as key, text, shape, names, size, depth, n_attributes"
    both = "create view edge as select *, false as deep from edge1 union all select *, true from edge2"
    tree = " union all ".join(f"select {columns} from level{level}" for level in range(3))
    return [
        single,
        _edges("edge1", "level0"),
        level1,
        _edges("edge2", "level1"),
        *([both] if full_grammar else []),
        level2,
        f"create table tree as {tree}",
    ]


_SUBGRAPHS = """
select key as subgraph_key, any_value(text) as tree, any_value(shape) as shape, any_value(names) as names,
    any_value(size) as size, any_value(depth) as depth, any_value(n_attributes) as n_attributes, null::varchar as text
from tree group by key order by key
"""
_OCCURRENCES = """
select s.scene_id, t.key as subgraph_key, t.id as root_id, t.ids as object_ids, t.usable as seed
from tree t join scene s using (scene)
order by t.scene, subgraph_key, root_id, object_ids
"""
