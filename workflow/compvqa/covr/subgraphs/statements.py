"""The SQL of the search on DuckDB, in the order in which it runs.

Numbers: ``key`` is a subgraph's key; ``names`` are keys of names with their kinds, ``name``, ``root`` and ``leaf``
number them; ``scene`` and ``seed`` number scenes and seeds, ``item`` rows of a step; ``salt`` is a stable random
number. Everything that chooses orders by ``mix`` of such numbers, never by DuckDB's own hash, which is
not the same in all versions.
"""

MACROS = (
    # a stable hash of a number of 63 bits, by two rounds of multiplication that stay below 2^63
    "create macro fold(a, p, q) as xor((a & 4294967295) * p, (a >> 32) * q)",
    "create macro stir(a) as xor(fold(a, 1103515245, 1540483477), a >> 29)",
    "create macro mix(a) as stir(fold(a, 1597334677, 747796405))",
    # each name at its place; their xor stands for all of a subgraph, and for all but one if that one's is added again
    "create macro salted(names) as list_transform(names, lambda name, place: mix(xor(name, place)))",
    "create macro pair_of(x, y) as x::bigint << 32 | y",
    "create macro salt_of(what) as text_key(getvariable('seed') || ' ' || what)",
)

SCENE = """
create table scene as
select scene_id, split, (dense_rank() over (order by split) - 1)::tinyint as split_id,
    (row_number() over (order by scene_id) - 1)::int as scene, salt_of('scene ' || scene_id) as salt
from scenes_file
"""
WORD = """
create table word as
select *, text_key(kind || ' ' || name) as key, (row_number() over (order by kind, name))::int as id
from (
    select distinct kind, name from (
        select 'noun' as kind, name from objects_file union all select 'attribute', name from attributes_file
        union all select 'relation', name from relations_file union all select 'modifier', name from modifiers_file))
"""
SHAPES = "select distinct shape from subgraphs_file order by 1"
KEY = "create table key as select *, salt_of('key ' || key) as salt from key_node"
PATTERN = """
create table pattern as
select p.subgraph_key as key, any_value(h.id) as shape, any_value(p.names) as names,
    any_value(xor(h.salt, list_bit_xor(salted(p.names)))) as whole
from subgraphs_file p join shape h using (shape) group by p.subgraph_key
"""
POSTING = """
create table posting as
select key, scene, count(*)::int as n, bool_or(usable) as usable
from (
    select o.subgraph_key as key, s.scene, bool_or(o.seed) as usable
    from occurrences_file o join scene s using (scene_id) group by o.subgraph_key, s.scene, o.root_id)
group by key, scene
"""

# A bare object is no seed: every template needs a relation, or an attribute of the root.
SEEDS_BEFORE = """
select count(*) from posting semi join (select key from pattern where len(names) > 1) using (key) where usable
"""
START = """
create table start as
select p.key, s.split_id, p.scene, p.n, (p.key % getvariable('shards'))::int as shard,
    text_key(p.key || ' ' || s.scene_id) as salt, p.draw
from (select p.*, mix(xor(p.key, s.salt)) as draw from posting p join scene s using (scene) where p.usable) p
semi join (select key from pattern where len(names) > 1) using (key) join scene s using (scene)
qualify row_number() over (partition by p.key, s.split_id order by p.draw, p.scene)
    <= getvariable('seeds_per_subgraph')
"""
# Seeds, numbered in the order in which they are written; their salt is their id.
SEED = """
create table seed as
select (row_number() over (order by shard, salt))::int as seed, * exclude (draw)
from (from start qualify row_number() over (partition by scene order by draw, key) <= getvariable('seeds_per_scene'))
"""
# What is asked: subgraphs of seeds by split, and how many scenes of a key are checked for all their seeds (arg_min
# takes less than a million).
ASKED = """
create table asked as
select key, split_id, least(999999, getvariable('considered'), getvariable('per_key') * (2 + count(*)) // 2) as most
from seed group by key, split_id
"""
ASKED_PATTERN = (
    "create table asked_pattern as select *, 0::smallint as reading from pattern semi join asked using (key)"
)
# Of each name, by number: which names exclude it, and which it may be read as (itself, and what overlaps with it).
MATCH = """
create table match as
select x as word, bitstring_agg(y, 0, getvariable('words')) filter (exclusive) as exclusive,
    bitstring_agg(y, 0, getvariable('words')) filter (not exclusive) as can_be
from (
    select x.id as x, y.id as y, o.m > getvariable('exclusive') as exclusive
    from overlap_file o join word x on x.kind = o.kind and x.name = o.x join word y on y.kind = o.kind and y.name = o.y
    where o.x <> o.y
    union all select id, id, false from word)
group by x
"""

# Each subgraph in each of its readings, the first as it stands.
READ = (
    """
create view read_otherwise as
select p.key, o.reading, o.read_shape as shape, list_select(p.names, o.slots) as names,
    xor(o.salt, list_bit_xor(salted(list_select(p.names, o.slots)))) as whole
from pattern p join other_reading o on o.shape = p.shape
""",
    """
create view read as
select key, 0::smallint as reading, shape, names, whole from pattern union all from read_otherwise
""",
)
# The first and the last noun of each.
ENDS = """
create view ends as
select r.key, r.reading, r.shape, a.id as root, z.id as leaf
from read r join shape h on h.id = r.shape join word a on a.key = r.names[1] join word z on z.key = r.names[h.leaf]
"""
ROOTED = "create table rooted as select p.scene, e.* from posting p join ends e using (key)"
# Scenes by subgraph, few enough for each: more can't be under the cap of any mask.
REACHABLE = """
create table reachable as
select key, scene, n, place
from (
    select p.*,
        row_number() over (partition by p.key, s.split_id order by mix(xor(p.key, s.salt)), p.scene)::int as place
    from posting p join scene s using (scene))
where place <= getvariable('group_size')
"""
REACHED = """
create view reached as
select r.*, s.split_id, s.salt, mix(xor(r.key, s.salt)) as draw from reachable r join scene s using (scene)
"""
FOUND = "create table found (seed int, key_id smallint, scene int, rank int, name int, name2 int)"
BEFORE = (
    "drop table start",
    ASKED,
    ASKED_PATTERN,
    *READ,
    ENDS,
    ROOTED,
    REACHABLE,
    "drop table posting",
    REACHED,
    FOUND,
)

_OWN = """
insert into found select s.seed, k.id, s.scene, 0, null, null from seed s join key k on k.key = '{key}' where {where}
"""
_OTHERS = """
insert into found
select seed, id, scene, {first} + row_number() over (partition by seed order by draw, scene) as rank, null, null
from (
    select s.seed, k.id, h.scene, mix(xor(s.salt, xor(k.salt, h.salt))) as draw
    from seed s join reached h on h.key = s.key and h.split_id = s.split_id and h.scene <> s.scene
    join key k on k.key = '{key}' where {where})
qualify rank < getvariable('per_key')
"""
_SEVERAL = "s.n between 2 and 4"  # seeds for questions that group by images
POSITIVES = (
    _OWN.format(key="pos", where="true"),
    _OTHERS.format(key="pos", first=0, where="h.place <= getvariable('considered')"),
    _OWN.format(key="mult", where=_SEVERAL),
    _OTHERS.format(key="mult", first=0, where=f"{_SEVERAL} and h.n >= 2"),
    _OTHERS.format(key="no_mult", first=-1, where=f"{_SEVERAL} and h.n = 1"),
)

# Relations seen between two nouns, as annotated; and modifiers, between a relation and a noun.
SEEN = """
create table seen as
select distinct s.split_id, a.key as subject, r.key as relation, b.key as object
from relations_file f join scene s using (scene_id) join word r on r.kind = 'relation' and r.name = f.name
join objects_file x on x.scene_id = f.scene_id and x.object_id = f.subject_id
join word a on a.kind = 'noun' and a.name = x.name
join objects_file y on y.scene_id = f.scene_id and y.object_id = f.object_id
join word b on b.kind = 'noun' and b.name = y.name
union
select distinct s.split_id, r.key, m.key, b.key
from modifiers_file f join scene s using (scene_id)
join relations_file x on x.scene_id = f.scene_id and x.relation_id = f.relation_id
join word r on r.kind = 'relation' and r.name = x.name join word m on m.kind = 'modifier' and m.name = f.name
join objects_file y on y.scene_id = f.scene_id and y.object_id = f.object_id
join word b on b.kind = 'noun' and b.name = y.name
"""

# Subgraphs by all but one of their names, or two, in parts that share no mask; of them those with masks that are asked
# for and of which there are several, which differ there.
_CUT = """
create or replace table cut as
select p.*, ((sum(n) over (order by shape, slots) - 1) // getvariable('partition'))::int as part
from {places} p join (select shape, count(*) as n from asked_pattern group by shape) using (shape)
"""
_MASKED = """
create or replace table masked as
with these as (from cut where part = getvariable('part')), asked as ({masks_of_asked})
from ({masks}) semi join asked using (mask)
"""
_MASKS = """
select key, reading, id, name, mix(xor(salt, xor(whole, mix(xor(name, slot))))) as mask
from (
    select key, reading, whole, id, salt, slots[1] as slot, names[slots[1]] as name
    from {read} join these using (shape))
"""
_MASKS2 = """
select key, reading, id, name, name2,
    mix(xor(salt, xor(whole, xor(mix(xor(name, slot)), mix(xor(name2, slot2)))))) as mask
from (
    select key, reading, whole, id, salt, slots[1] as slot, slots[2] as slot2, names[slots[1]] as name,
        names[slots[2]] as name2
    from {read} join these using (shape))
"""
_SHARED = "create or replace table shared as select mask from masked group by mask having min(name) <> max(name)"
_SHARED2 = _SHARED + " and min(name2) <> max(name2)"
_MEMBER = """
create or replace table member as
select m.key, m.reading, m.id, m.mask, w.id as name, null::int as name2, null::bigint as key2
from masked m semi join shared using (mask) join word w on w.key = m.name
"""
_MEMBER2 = """
create or replace table member as
select m.key, m.reading, m.id, m.mask, w.id as name, v.id as name2, m.name2 as key2
from masked m semi join shared using (mask) join word w on w.key = m.name join word v on v.key = m.name2
"""


def _masked(masks: str) -> str:
    """The masks of all readings, of those that subgraphs of seeds have."""
    return _MASKED.format(masks=masks.format(read="read"), masks_of_asked=masks.format(read="asked_pattern"))


# What is asked of each mask, of a split; ``without`` must be absent.
_ASKED = """
create or replace table asked_part as
select (row_number() over ())::int as item, a.key, a.split_id, a.most, k.id as key_id, xor(a.key, k.salt) as draw,
    m.mask, m.name, m.name2, a.key as without
from member m join asked a using (key) join key k using (id) where m.reading = 0
"""
_ASKED2 = """
create or replace table asked_part as
select (row_number() over ())::int as item, a.key, a.split_id, a.most, c.key_id, xor(a.key, k.salt) as draw,
    m.mask, m.name, m.name2, o.key as without,
    r.names[c.seen[1]] as subject, if(c.seen[2] = c.slot2, null, r.names[c.seen[2]]) as relation,
    if(c.seen[3] = c.slot2, null, r.names[c.seen[3]]) as object
from member m join asked a using (key) join pattern r using (key) join change c on c.places2 = m.id
join key k on k.id = c.key_id
join pattern o on o.whole = xor(c.without_salt, list_bit_xor(salted(list_select(r.names, c.without))))
where m.reading = 0 and not list_has_any(list_select(r.names, c.relations), getvariable('unasked'))
    and len(list_distinct(list_select(r.names, c.leaves))) = len(c.leaves)
"""
# The scenes under each mask, at most group_size of a split; draws of a scene with each of its names.
_GROUP = """
create or replace table group_part as
select (row_number() over ())::int as other, m.mask, m.name, m.name2, m.key2, r.split_id, r.scene, r.salt,
    mix(xor(pair_of(m.name, coalesce(m.name2, 0)), r.salt)) as draw
from member m join reached r using (key)
semi join asked_part a on a.mask = m.mask and a.split_id = r.split_id
qualify row_number() over (partition by m.mask, r.split_id order by r.draw, r.scene, m.key)
    <= getvariable('group_size')
"""
_BOTH = """
select a.item, g.other, a.most, mix(xor(a.draw, g.draw)) as rank
from {asked} a join group_part g using ({by})
{second} semi join match x on x.word = a.name and get_bit(x.exclusive, g.name) = 1
"""
_ONE = _BOTH.format(asked="asked_part", by="mask, split_id", second="")
_SECOND = "semi join match y on y.word = a.name2 and get_bit(y.exclusive, g.name2) = 1"
# what is asked with each second name that was seen with the others
_SEEN = """(
    select a.*, z.object as key2 from asked_part a join seen z using (split_id, subject, relation)
    where a.object is null
    union all
    select a.*, z.relation from asked_part a join seen z using (split_id, subject, object) where a.relation is null)"""
_TWO = " union all ".join(
    (
        _BOTH.format(asked="(from asked_part where subject is null)", by="mask, split_id", second=_SECOND),
        _BOTH.format(asked=_SEEN, by="mask, split_id, key2", second=_SECOND),
    )
)


def _negatives(exclusive: str) -> tuple[str, ...]:
    """The steps from what is asked to distractors; ``exclusive`` selects the scenes under a mask whose names are so."""
    return (
        _GROUP,
        f"""
create or replace table taken as
select item, unnest(arg_min(other, rank, most)) as other from ({exclusive}) group by item
""",
        # of a scene with several exclusive names one is taken
        """
create or replace table considered as
select (row_number() over ())::int as item, a.key, a.key_id, a.split_id, t.scene, a.without, t.salt, t.name, t.name2
from (
    select t.item, g.scene, any_value(g.salt) as salt, arg_min(g.name, g.draw) as name,
        arg_min(g.name2, g.draw) as name2
    from taken t join group_part g using (other) group by t.item, g.scene) t
join asked_part a using (item)
""",
        # what is in these scenes and could be a reading of what must be absent, by its first and last noun
        """
create or replace table possible as
select c.item, c.without, h.key as other, h.reading
from considered c join ends g on g.key = c.without and g.reading = 0
join rooted h on h.scene = c.scene and h.shape = g.shape
semi join match r on r.word = g.root and get_bit(r.can_be, h.root) = 1
semi join match l on l.word = g.leaf and get_bit(l.can_be, h.leaf) = 1
""",
        """
create or replace table compared as
select (row_number() over ())::int as comparison, * from (select distinct without, other, reading from possible)
""",
        # of these, what has a name that can't be read so
        """
create or replace table refuted as
with names as (
    select j.comparison, unnest(g.names) as own, unnest(h.names) as found
    from compared j join pattern g on g.key = j.without join read h on h.key = j.other and h.reading = j.reading)
select distinct n.comparison
from (from names where own <> found) n join word o on o.key = n.own join word f on f.key = n.found
semi join match b on b.word = o.id and get_bit(b.can_be, f.id) = 0
""",
        """
create or replace table containing as
select distinct item
from possible semi join (from compared anti join refuted using (comparison)) using (without, other, reading)
""",
        """
insert into found
select f.seed, f.key_id, c.scene, f.rank, c.name, c.name2
from (
    select seed, key_id, unnest(items) as item, generate_subscripts(items, 1) - 1 as rank
    from (
        select s.seed, c.key_id,
            arg_min(c.item, mix(xor(s.salt, xor(k.salt, c.salt))), least(999999, getvariable('per_key'))) as items
        from considered c anti join containing using (item)
        join seed s on s.key = c.key and s.split_id = c.split_id join key k on k.id = c.key_id
        group by s.seed, c.key_id)) f
join considered c using (item)
""",
    )


# of masks of one node, and of two: how they are cut into parts, and the steps to a part's distractors
NEGATIVES = (
    (_CUT.format(places="place"), (_masked(_MASKS), _SHARED, _MEMBER, _ASKED, *_negatives(_ONE))),
    (_CUT.format(places="places2"), (_masked(_MASKS2), _SHARED2, _MEMBER2, _ASKED2, *_negatives(_TWO))),
)
PARTS = "select coalesce(max(part), 0) + 1 from cut"

# The trees of what is asked, made when the search is done with its memory.
TREE = (
    *(f"drop table {name}" for name in ("pattern", "asked_pattern", "rooted", "reachable")),
    *(f"drop table {name}" for name in ("member", "asked_part", "group_part", "taken", "considered", "possible")),
    """
create table tree as
select subgraph_key as key, any_value(tree) as tree
from subgraphs_file semi join asked on asked.key = subgraph_key group by subgraph_key
""",
)
# The last seed of each shard that has any.
LAST = "select shard, max(seed) from seed group by shard"
# Of some of the shards, in the order of their files.
SEEDS = """
select s.seed as number, s.salt as seed, s.key as subgraph_key, c.scene_id, c.split, t.tree, s.n as n_instances
from (from seed where seed between $first and $last) s join scene c using (scene) join tree t using (key)
order by s.seed
"""
# All by number: words from 1, 0 where no name differs.
CANDIDATES = """
select seed as number, key_id, scene, rank, coalesce(name, 0) as name, coalesce(name2, 0) as name2
from found where seed between $first and $last
order by seed, key_id, scene
"""
COUNTS = "select k.key, count(*) from found f join key k on k.id = f.key_id group by k.key order by k.key"

CONTAINING = """
select s.scene_id from posting p join scene s using (scene)
where p.key = $key and s.split = $split order by 1
"""
REPLACED = """
select distinct s.scene_id, w.name
from (
    select key, names[$place + 1] as found from read join shape on shape.id = read.shape
    where shape.shape = $shape and names[$place + 1] <> $names[$place + 1]
        and list_filter(names, lambda name, i: i <> $place + 1)
            = list_filter($names, lambda name, i: i <> $place + 1)) f
join word w on w.key = f.found join posting p on p.key = f.key join scene s using (scene)
where s.split = $split order by 1, 2
"""
