"""The SQL of the search on DuckDB, in the order in which it runs.

Numbers: ``key`` is a subgraph's key, ``scene`` and ``name`` number scene ids and names, ``salt`` is a stable
random number of 63 bits. Everything that chooses orders by ``mix`` of such numbers, never by DuckDB's own
hash, which is not the same in all versions.
"""

# A stable hash of a number of 63 bits, by two rounds of multiplication that stay below 2^63.
MIX = (
    "create macro unsigned(a) as a & 9223372036854775807",
    "create macro fold(a, p, q) as xor((a & 4294967295) * p, (a >> 32) * q)",
    "create macro stir(a) as xor(fold(a, 1103515245, 1540483477), a >> 29)",
    "create macro mix(a) as stir(fold(a, 1597334677, 747796405))",
    # all of a subgraph but two of its names
    "create macro mask2(whole, one, two, salt) as mix(xor(salt, mix(xor(whole, xor(one, two)))))",
)

PATTERN = """
create table pattern as
select subgraph_key as key, regexp_replace(any_value(tree), getvariable('name'), 's', 'g')::varchar as shape,
    regexp_extract_all(any_value(tree), getvariable('name')) as names
from subgraphs_file group by subgraph_key
"""
POSTING = """
create table posting as
select key, scene, any_value(salt) as salt, count(*)::int as n, bool_or(usable) as usable
from (
    select o.subgraph_key as key, s.scene, any_value(s.salt) as salt, bool_or(o.seed) as usable
    from occurrences_file o join scene s using (scene_id) group by o.subgraph_key, s.scene, o.root_id)
group by key, scene
"""
WORDS = "select distinct unnest(names) as word from pattern order by 1"

# A bare object is no seed: every template needs a relation, or an attribute of the root.
SEED_KEYS = """
select p.key from pattern p semi join (select key from posting where usable) u using (key)
where len(p.names) > 1
"""
STARTS = """
create table start as
select p.key, s.split_id, p.scene, s.scene_id, p.n
from posting p semi join asked_key using (key) join scene s using (scene)
where p.usable
qualify row_number() over (partition by p.key, s.split_id
    order by mix(xor(unsigned(p.key), p.salt)), p.scene) <= getvariable('seeds_per_subgraph')
"""
STARTS_BEFORE = "select count(*) from posting semi join asked_key using (key) where usable"
SEED = """
create table seed as
select n.seed, unsigned(n.seed) as salt, s.key, s.split_id, s.scene, s.n
from start s join numbered n on n.key = s.key and n.scene = s.scene
"""

# Names that may be read as ``x``: itself, and what overlaps with it.
CAN_BE = """
create table can_be as
select kind, x, y from pair where not exclusive union all select distinct kind, name, name from spelled
"""

PAIR = """
create table pair as
select distinct k.id as kind, x.id as x, y.id as y, o.m > getvariable('exclusive') as exclusive
from overlap_file o join kind k on k.kind = o.kind
join word x on x.name = o.x join word y on y.name = o.y
where o.x <> o.y
"""

# One row for each reading and place of each subgraph.
SPELLED = """
create table spelled as
select p.key, l.reading, l.read_shape, l.place, l.key_id, l.kind, w.id as name,
    mix(xor(w.salt, l.salt)) as salt
from pattern p join shape h on h.shape = p.shape join place l on l.shape = h.id
join word w on w.word = p.names[l.slot + 1]
"""
READ = (
    SPELLED,
    """
create table read as
select key, reading, any_value(read_shape) as read_shape, list(name order by place) as names,
    list(salt order by place) as salts, bit_xor(salt) as whole
from spelled group by key, reading
""",
    """
create view masked as
select s.key, s.reading, s.kind, s.key_id, s.name, mix(xor(l.salt, mix(xor(r.whole, s.salt)))) as mask
from spelled s join read r on r.key = s.key and r.reading = s.reading
join (select read_shape, place, any_value(mix(xor(salt, shape_salt))) as salt from place group by all) l
    on l.read_shape = s.read_shape and l.place = s.place
where s.key_id is not null
""",
    """
create table asked_mask as
select key, kind, key_id, name, mask, key as without
from masked semi join asked_key using (key) where reading = 0
""",
    # all subgraphs under a mask, where there are two names at least
    """
create table member as
select mask, key, name, null::int as name2
from (select distinct mask, key, name from masked semi join asked_mask using (mask))
qualify min(name) over (partition by mask) <> max(name) over (partition by mask)
""",
    "delete from asked_mask where mask not in (select mask from member)",
    # the same with two nodes masked; ``without`` is what must be absent
    """
create table asked_mask2 as
select r.key, c.kind, c.kind2, c.key_id, r.names[c.slot + 1] as name, r.names[c.slot2 + 1] as name2,
    mask2(r.whole, r.salts[c.slot + 1], r.salts[c.slot2 + 1], c.salt) as mask, o.key as without,
    r.names[c.seen[1] + 1] as subject, if(c.seen[2] = c.slot2, null, r.names[c.seen[2] + 1]) as relation,
    if(c.seen[3] = c.slot2, null, r.names[c.seen[3] + 1]) as object
from read r semi join asked_key using (key) join change c on c.shape = r.read_shape
join read o on o.reading = 0 and o.read_shape = c.without_shape and o.names = [r.names[i + 1] for i in c.without]
where r.reading = 0 and not list_has_any([r.names[i + 1] for i in c.relations], getvariable('unasked'))
    and len(list_distinct([r.names[i + 1] for i in c.leaves])) = len(c.leaves)
""",
    """
create table member2 as
select mask, key, name, name2
from (
    select distinct mask2(r.whole, r.salts[c.slot + 1], r.salts[c.slot2 + 1], c.salt) as mask, r.key,
        r.names[c.slot + 1] as name, r.names[c.slot2 + 1] as name2
    from read r join (select distinct shape, slot, slot2, salt from change) c on c.shape = r.read_shape)
semi join asked_mask2 using (mask)
qualify count(*) over (partition by mask) > 1
""",
    "delete from asked_mask2 where mask not in (select mask from member2)",
    "create table asked_split as select distinct key, split_id from seed",
    # postings of members, few enough for each subgraph: more can't be under the cap of any mask
    """
create table reachable as
select p.key, p.scene, s.split_id, p.salt, mix(xor(unsigned(p.key), p.salt)) as rank
from posting p semi join (select key from member union select key from member2) m on m.key = p.key
join scene s using (scene)
qualify row_number() over (partition by p.key, s.split_id order by rank, p.scene) <= getvariable('group_size')
""",
    "create table found (seed bigint, key_id smallint, scene int, rank int, name int, name2 int)",
)

# The roots of all subgraphs in all scenes, in each of their readings.
ROOTED = """
create table rooted as
select p.scene, r.read_shape as shape, r.names[1] as root, r.key, r.reading
from posting p join read r on r.key = p.key
"""

_OWN_FIRST = "order by h.scene <> s.scene, mix(xor(s.salt, xor(k.salt, h.salt))), h.scene"
_SHARED = """
select p.key, p.scene, c.split_id, p.salt, p.n
from posting p semi join asked_key using (key) join scene c using (scene) {where}
qualify row_number() over (partition by p.key, c.split_id
    order by mix(xor(unsigned(p.key), xor(p.salt, {k}))), p.scene) <= getvariable('considered')
"""
_FROM_SHARED = """
insert into found
select s.seed, k.id, h.scene, row_number() over (partition by s.seed {order}) - 1 as rank, null, null
from seed s join ({shared}) h on h.key = s.key and h.split_id = s.split_id join key k on k.key = '{key}'
{where}
qualify rank < getvariable('per_key')
"""
_WITH_OWN = (
    "{shared} union select key, scene, split_id, any_value(c.salt), any_value(n)"
    " from seed join scene c using (scene, split_id) where n >= {least}"
    " group by key, scene, split_id"
)
_SEVERAL = "where s.n between 2 and 4"  # seeds for questions that group by images
POSITIVES = (
    _FROM_SHARED.format(
        shared=_WITH_OWN.format(shared=_SHARED.format(where="", k="1"), least=1), key="pos", order=_OWN_FIRST, where=""
    ),
    _FROM_SHARED.format(
        shared=_SHARED.format(where="where p.n = 1", k="2"), key="no_mult", order=_OWN_FIRST, where=_SEVERAL
    ),
    _FROM_SHARED.format(
        shared=_WITH_OWN.format(shared=_SHARED.format(where="where p.n >= 2", k="3"), least=2),
        key="mult",
        order=_OWN_FIRST,
        where=_SEVERAL,
    ),
)

# Relations seen between two nouns, as annotated.
SEEN = """
create table seen as
select distinct s.split_id, a.id as subject, r.id as relation, b.id as object
from relations_file f join scene s using (scene_id) join word r on r.name = f.name
join objects_file x on x.scene_id = f.scene_id and x.object_id = f.subject_id join word a on a.name = x.name
join objects_file y on y.scene_id = f.scene_id and y.object_id = f.object_id join word b on b.name = y.name
"""

_ONE = """
select a.key, a.key_id, a.without, g.split_id, g.scene, g.salt, g.name, g.name2, mix(xor(w.salt, g.salt)) as pick
from asked_part a join group_part g on g.mask = a.mask
join pair x on x.exclusive and x.kind = a.kind and x.x = a.name and x.y = g.name
join word w on w.id = g.name
"""
_TWO = """
select a.key, a.key_id, a.without, g.split_id, g.scene, g.salt, g.name, g.name2,
    mix(xor(w.salt, mix(xor(v.salt, g.salt)))) as pick
from (from asked_part where subject is {null} null) a join group_part g on g.mask = a.mask
join pair x on x.exclusive and x.kind = a.kind and x.x = a.name and x.y = g.name
join pair y on y.exclusive and y.kind = a.kind2 and y.x = a.name2 and y.y = g.name2
join word w on w.id = g.name join word v on v.id = g.name2 {seen}
"""
_SEEN = """join seen z on z.split_id = g.split_id and z.subject = a.subject
    and z.relation = coalesce(a.relation, g.name2) and z.object = coalesce(a.object, g.name2)"""


def _negatives(asked: str, member: str, found: str) -> tuple[str, ...]:
    """The steps from masks to distractors; ``found`` selects the scenes under a mask whose names are exclusive."""
    return (
        f"""
create or replace table asked_part as
select * from {asked} where mask % getvariable('parts') = getvariable('part')
""",
        # the scenes under each mask, at most group_size of a split
        f"""
create or replace table group_part as
select m.mask, m.name, m.name2, r.split_id, r.scene, r.salt
from (from {member} where mask % getvariable('parts') = getvariable('part')) m
join reachable r on r.key = m.key
qualify row_number() over (partition by m.mask, r.split_id order by r.rank, r.scene, m.key)
    <= getvariable('group_size')
""",
        # of a scene with several exclusive names one is taken
        f"""
create or replace table considered as
select f.key, f.key_id, f.split_id, f.scene, any_value(f.without) as without, any_value(f.salt) as salt,
    arg_min(f.name, pick) as name, arg_min(f.name2, pick) as name2
from ({found}) f join asked_split t on t.key = f.key and t.split_id = f.split_id join key k on k.id = f.key_id
group by f.key, f.key_id, f.split_id, f.scene
qualify row_number() over (partition by f.key, f.key_id, f.split_id
    order by mix(xor(unsigned(f.key), xor(any_value(f.salt), any_value(k.salt)))), f.scene)
    <= getvariable('considered')
""",
        # what is in these scenes and could be a reading of what must be absent, by its root
        """
create or replace table possible as
select c.key, c.key_id, c.scene, c.without, h.key as other, h.reading
from considered c join read g on g.key = c.without and g.reading = 0
join can_be o on o.kind = 0 and o.x = g.names[1]
join rooted h on h.scene = c.scene and h.shape = g.read_shape and h.root = o.y
""",
        # of these, what has a name that can't be read so
        """
create or replace table refuted as
with compared as (
    select j.without, j.other, j.reading, g.read_shape as shape, g.names as own, h.names as found,
        unnest(range(1, len(g.names))) as place
    from (select distinct without, other, reading from possible) j
    join read g on g.key = j.without and g.reading = 0 join read h on h.key = j.other and h.reading = j.reading)
select distinct c.without, c.other, c.reading
from compared c join place l on l.shape = c.shape and l.reading = 0 and l.place = c.place
anti join can_be b on b.kind = l.kind and b.x = c.own[c.place + 1] and b.y = c.found[c.place + 1]
where c.own[c.place + 1] <> c.found[c.place + 1]
""",
        """
create or replace table containing as
select distinct key, key_id, scene from possible anti join refuted using (without, other, reading)
""",
        """
insert into found
select s.seed, c.key_id, c.scene,
    row_number() over (
        partition by s.seed, c.key_id order by mix(xor(s.salt, xor(k.salt, c.salt))), c.scene) - 1 as rank,
    c.name, c.name2
from considered c anti join containing n on n.key = c.key and n.key_id = c.key_id and n.scene = c.scene
join seed s on s.key = c.key and s.split_id = c.split_id join key k on k.id = c.key_id
qualify rank < getvariable('per_key')
""",
    )


# the table of what is asked, and the steps to its distractors
NEGATIVES = {
    "asked_mask": _negatives("asked_mask", "member", _ONE),
    "asked_mask2": _negatives(
        "asked_mask2",
        "member2",
        _TWO.format(null="", seen="") + " union all " + _TWO.format(null="not", seen=_SEEN),
    ),
}

SEEDS = """
select s.seed, s.key as subgraph_key, c.scene_id, c.split, t.tree, s.n as n_instances
from seed s join scene c using (scene)
join (select subgraph_key as key, any_value(tree) as tree from subgraphs_file
    semi join asked_key on asked_key.key = subgraph_key group by subgraph_key) t on t.key = s.key
order by s.seed
"""
CANDIDATES = """
select f.seed, k.key, c.scene_id, f.rank,
    if(f.name is null, [], if(f.name2 is null, [k.node], [k.node, k.node2])) as nodes,
    if(f.name is null, [], if(f.name2 is null, [w.name], [w.name, v.name])) as names
from found f join key k on k.id = f.key_id join scene c using (scene)
left join word w on w.id = f.name left join word v on v.id = f.name2
order by f.seed, k.key, f.scene
"""
COUNTS = "select k.key, count(*) from found f join key k on k.id = f.key_id group by k.key order by k.key"

CONTAINING = """
select s.scene_id from posting p join scene s using (scene)
where p.key = $key and s.split = $split order by 1
"""
REPLACED = """
select distinct s.scene_id, f.name
from (
    select key, reading, any_value(w.name) filter (place = $place) as name
    from spelled join word w on w.id = spelled.name
    where read_shape = (select id from shape where shape.shape = $shape)
    group by key, reading
    having bool_and(if(place = $place, w.word <> $names[place + 1], w.word = $names[place + 1]))) f
join posting p on p.key = f.key join scene s using (scene)
where s.split = $split order by 1, 2
"""
