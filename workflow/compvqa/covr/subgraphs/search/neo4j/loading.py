"""Scene graphs into a Neo4j server and back, part by part.

Each part is loaded in one transaction, by one statement whose rows are whole scenes: a part is there if one of its
scenes is. So a run that died goes on with the parts that are missing, a second run has nothing to do, and two at once
do not load a part twice, since a scene can't be there twice.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compvqa.covr.subgraphs.search.neo4j.bolt import Server
from compvqa.covr.subgraphs.search.neo4j.parts import COMPONENTS, Parts, graph_id
from compvqa.errors import InputError
from compvqa.progress import track

SCHEMA = (
    "CREATE CONSTRAINT graph_id IF NOT EXISTS FOR (g:Graph) REQUIRE g.id IS UNIQUE",
    "CREATE CONSTRAINT scene_id IF NOT EXISTS FOR (s:Scene) REQUIRE (s.graph, s.scene_id) IS UNIQUE",
    "CREATE INDEX scene_part IF NOT EXISTS FOR (s:Scene) ON (s.graph, s.part)",
)
# Names may be longer than what a range index takes (8 kB), so theirs is a text index. It is made when all is there: the
# server then fills it at once, beside the reading back, which costs half of what keeping it with each part does.
NAMES = "CREATE TEXT INDEX object_name IF NOT EXISTS FOR (o:Object) ON (o.name)"
AT_ONCE = 2  # parts: while the server works on one, the next is packed
_BEGIN = "MERGE (g:Graph {id: $graph}) ON CREATE SET g.batch = $batch, g.parts = $parts"
_STATE = "MATCH (g:Graph {id: $graph}) RETURN g.batch AS batch, g.parts AS parts"
_LOADED = "MATCH (s:Scene {graph: $graph}) RETURN DISTINCT s.part AS part"
# Rows as Parts.rows gives them. The ends of relations are places in the list of the scene's objects.
_CREATE = """
UNWIND $rows AS row
CREATE (s:Scene {graph: $graph, part: $part, scene_id: row[0][0], source: row[0][1], split: row[0][2],
    image: row[0][3], width: row[0][4], height: row[0][5]})
WITH s, row
CALL (s, row) {
    UNWIND row[1] AS o
    CREATE (s)-[:CONTAINS]->(n:Object {graph: $graph, object_id: o[0], name: o[1], x: o[2], y: o[3], w: o[4],
        h: o[5], attributes: o[6], groups: o[7]})
    RETURN collect(n) AS objects
}
CALL (row, objects) {
    UNWIND row[2] AS r
    WITH r, objects[r[2]] AS a, objects[r[3]] AS b
    CREATE (a)-[:RELATION {relation_id: r[0], name: r[1]}]->(b)
}
CALL (row, objects) {
    UNWIND row[3] AS m
    WITH m, objects[m[2]] AS a, objects[m[3]] AS b
    CREATE (a)-[:MODIFIER {relation_id: m[0], name: m[1]}]->(b)
}
"""
_ENDS = "r.relation_id, r.name, a.object_id, b.object_id"
_READ = f"""
MATCH (s:Scene {{graph: $graph, part: $part}})
CALL (s) {{
    MATCH (s)-[:CONTAINS]->(o:Object)
    RETURN collect([o.object_id, o.name, o.x, o.y, o.w, o.h, coalesce(o.attributes, []), coalesce(o.groups, [])])
        AS objects
}}
CALL (s) {{ MATCH (s)-[:CONTAINS]->(a:Object)-[r:RELATION]->(b:Object) RETURN collect([{_ENDS}]) AS relations }}
CALL (s) {{ MATCH (s)-[:CONTAINS]->(a:Object)-[r:MODIFIER]->(b:Object) RETURN collect([{_ENDS}]) AS modifiers }}
RETURN [s.scene_id, s.source, s.split, s.image, s.width, s.height] AS scenes, objects, relations, modifiers
"""
_DROP = "MATCH (s:Scene {graph: $graph, part: $part}) OPTIONAL MATCH (s)-[:CONTAINS]->(o:Object) DETACH DELETE s, o"
_FORGET = "MATCH (g:Graph {id: $graph}) DETACH DELETE g"


class Loaded:
    """The graph of a folder of scene tables on a server, whole."""

    def __init__(self, server: Server, scenes: Path, batch: int):
        """Load what is not there yet, in parts of ``batch`` scenes (a graph that was begun keeps its own size).

        Constraints and indexes are made as well, also for a graph that was imported. ``told`` says which
        graph it is and on which server, ``counts`` what it holds.
        """
        self.server, self.graph, self.scenes = server, graph_id(scenes), scenes
        self.told = {"graph": self.graph, "server": server.described()}
        server.define(*SCHEMA)
        self._parts = Parts(scenes, batch)
        if not server.read(_STATE, graph=self.graph):  # who may only read can use what is there
            server.write(_BEGIN, graph=self.graph, batch=batch, parts=self._parts.count)
        [state] = server.read(_STATE, graph=self.graph)
        if state["batch"] != batch:
            self._parts = Parts(scenes, state["batch"])
        self.parts, self.counts = self._parts.count, self._parts.sizes
        missing = sorted(set(range(self.parts)) - loaded_parts(server, self.graph))
        self.new = sum(_at_once(self._load, missing, "loading"))
        server.define(NAMES)
        if len(loaded_parts(server, self.graph)) < self.parts:
            raise InputError(
                f"the Neo4j server has scenes of graph {self.graph} that no run has loaded whole: remove them by "
                f"`python -m compvqa load-neo4j --drop --scenes {scenes}`, then run this again."
            )

    def _load(self, part: int) -> bool:
        return self.server.write(_CREATE, graph=self.graph, part=part, rows=self._parts.rows(part))

    def verify(self) -> int:
        """Read all parts back, and give their number; refuse what differs from the scene tables."""
        return sum(_at_once(self._verify, range(self.parts), "reading back"))

    def _verify(self, part: int) -> bool:
        here = sorted(with_ids(row) for row in self._parts.rows(part))
        there = read_back(self.server, self.graph, part)
        for name, mine, found in zip(COMPONENTS, zip(*here, strict=True), zip(*there, strict=True), strict=True):
            if mine != found:
                raise InputError(
                    f"graph {self.graph} on the Neo4j server does not hold the {name} of {self.scenes}: remove it by "
                    f"`python -m compvqa load-neo4j --drop --scenes {self.scenes}`, then run this again."
                )
        return True


def with_ids(row: list) -> tuple:
    """A row of :meth:`Parts.rows` as :func:`read_back` gives it: the ends of relations by object ids."""
    scene, objects, *between = row
    ids = [thing[0] for thing in objects]
    objects = [[*thing, names or [], groups or []] for *thing, names, groups in objects]
    return scene, objects, *(sorted([*own, ids[a], ids[b]] for *own, a, b in relations) for relations in between)


def read_back(server: Server, graph: str, part: int) -> list[tuple]:
    """One part of a graph on the server: rows of a scene, its objects, relations and modifiers, sorted by their ids."""
    found = server.read(_READ, graph=graph, part=part)
    return sorted((row["scenes"], *(sorted(row[name]) for name in COMPONENTS[1:])) for row in found)


def loaded_parts(server: Server, graph: str) -> set[int]:
    """The numbers of the parts of a graph that are on the server."""
    return {row["part"] for row in server.read(_LOADED, graph=graph)}


def drop(server: Server, scenes: Path) -> int:
    """Remove the graph of the scene tables in a folder from the server; gives the number of its parts."""
    graph = graph_id(scenes)
    loaded = sorted(loaded_parts(server, graph))
    for part in track(loaded, "removing", total=len(loaded), unit="part"):
        server.write(_DROP, graph=graph, part=part)
    server.write(_FORGET, graph=graph)
    return len(loaded)


def _at_once(work: Callable[[int], bool], parts: Iterable[int], what: str) -> Iterable[bool]:
    """``work`` done for each part, :data:`AT_ONCE` at a time, with progress under the name ``what``."""
    parts, collecting = list(parts), gc.isenabled()
    pool = ThreadPoolExecutor(AT_ONCE)
    gc.disable()  # a part is many small lists without cycles: to look for some takes as long as to make them
    try:
        yield from track(pool.map(work, parts), what, total=len(parts), unit="part")
    finally:
        pool.shutdown(cancel_futures=True)
        if collecting:
            gc.enable()
