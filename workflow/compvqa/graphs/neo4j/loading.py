"""Scene graphs into a Neo4j server and back, part by part.

A node ``Graph`` counts the parts that are there; each part is loaded in one transaction with its count. So a
run that died goes on with the next part, a second run has nothing to do, and two at once do not load a part
twice.
"""

from __future__ import annotations

from pathlib import Path

from compvqa.errors import InputError
from compvqa.graphs.neo4j.bolt import Server
from compvqa.graphs.neo4j.parts import Parts, as_tables, graph_id
from compvqa.progress import track

SCHEMA = (
    "CREATE CONSTRAINT graph_id IF NOT EXISTS FOR (g:Graph) REQUIRE g.id IS UNIQUE",
    "CREATE CONSTRAINT scene_id IF NOT EXISTS FOR (s:Scene) REQUIRE (s.graph, s.scene_id) IS UNIQUE",
    "CREATE CONSTRAINT object_id IF NOT EXISTS FOR (o:Object) REQUIRE (o.graph, o.scene_id, o.object_id) IS UNIQUE",
    "CREATE INDEX scene_part IF NOT EXISTS FOR (s:Scene) ON (s.graph, s.part)",
    "CREATE INDEX object_part IF NOT EXISTS FOR (o:Object) ON (o.graph, o.part)",
    "CREATE INDEX object_name IF NOT EXISTS FOR (o:Object) ON (o.graph, o.name)",
)
_BEGIN = "MERGE (g:Graph {id: $graph}) ON CREATE SET g.loaded = 0, g.batch = $batch, g.parts = $parts"
_STATE = "MATCH (g:Graph {id: $graph}) RETURN g.loaded AS loaded, g.batch AS batch, g.parts AS parts"
# Writing to the node first takes its lock: who waited for it then sees the count that the other left.
_TURN = """
MATCH (g:Graph {id: $graph}) SET g.loading = $part WITH g WHERE g.loaded = $part
SET g.loaded = $part + 1 RETURN g.loaded AS loaded
"""
_ENDS = """
MATCH (a:Object {graph: $graph, scene_id: row.scene_id, object_id: row.subject_id})
MATCH (b:Object {graph: $graph, scene_id: row.scene_id, object_id: row.object_id})
"""
_CREATE = {
    "scenes": """
UNWIND $rows AS row
CREATE (:Scene {graph: $graph, part: $part, scene_id: row.scene_id, source: row.source, split: row.split,
    image: row.image, width: row.width, height: row.height})
""",
    "objects": """
UNWIND $rows AS row
MATCH (s:Scene {graph: $graph, scene_id: row.scene_id})
CREATE (s)-[:CONTAINS]->(:Object {graph: $graph, part: $part, scene_id: row.scene_id, object_id: row.object_id,
    split: row.split, name: row.name, attributes: row.attributes, groups: row.groups,
    x: row.x, y: row.y, w: row.w, h: row.h})
""",
    "relations": f"""
UNWIND $rows AS row {_ENDS}
CREATE (a)-[:RELATION {{relation_id: row.relation_id, name: row.name}}]->(b)
""",
    "modifiers": f"""
UNWIND $rows AS row {_ENDS}
CREATE (a)-[:MODIFIER {{relation_id: row.relation_id, name: row.name}}]->(b)
""",
}
_READ = {
    "scenes": """
MATCH (s:Scene {graph: $graph, part: $part})
RETURN s.scene_id AS scene_id, s.source AS source, s.split AS split, s.image AS image, s.width AS width,
    s.height AS height
""",
    "objects": """
MATCH (o:Object {graph: $graph, part: $part})
RETURN o.scene_id AS scene_id, o.object_id AS object_id, o.name AS name, o.x AS x, o.y AS y, o.w AS w, o.h AS h,
    coalesce(o.attributes, []) AS attributes, coalesce(o.groups, []) AS groups
""",
    "relations": """
MATCH (a:Object {graph: $graph, part: $part})-[r:RELATION]->(b:Object)
RETURN a.scene_id AS scene_id, r.relation_id AS relation_id, a.object_id AS subject_id, b.object_id AS object_id,
    r.name AS name
""",
    "modifiers": """
MATCH (a:Object {graph: $graph, part: $part})-[m:MODIFIER]->(b:Object)
RETURN a.scene_id AS scene_id, m.relation_id AS relation_id, m.name AS name, b.object_id AS object_id
""",
}
_DROP = (
    "MATCH (o:Object {graph: $graph, part: $part}) DETACH DELETE o",
    "MATCH (s:Scene {graph: $graph, part: $part}) DETACH DELETE s",
    "MATCH (g:Graph {id: $graph}) SET g.loaded = $part",
)
_FORGET = "MATCH (g:Graph {id: $graph}) DETACH DELETE g"


class Loaded:
    """The graph of a folder of scene tables on a server, whole."""

    def __init__(self, server: Server, scenes: Path, batch: int):
        """Load what is not there yet, in parts of ``batch`` scenes (a graph that was begun keeps its own size)."""
        self.server, self.graph, self._scenes = server, graph_id(scenes), scenes
        self._parts = Parts(scenes, batch)
        state = _state(server, self.graph)
        if state is None:
            for statement in SCHEMA:
                server.define(statement)
            server.write((_BEGIN, {"graph": self.graph, "batch": batch, "parts": self._parts.count}))
            state = _state(server, self.graph)
        if state["batch"] != batch:
            self._parts = Parts(scenes, state["batch"])
        self.new = self._load_from(state["loaded"])

    def _load_from(self, loaded: int) -> int:
        """Load the parts from number ``loaded`` on that no other run loads meanwhile; gives how many."""
        new = 0
        for part in track(range(loaded, self._parts.count), "loading", total=self._parts.count - loaded, unit="part"):
            if part < loaded:
                continue
            new += self._load(part)
            loaded = _state(self.server, self.graph)["loaded"]
            if loaded <= part:
                raise InputError(
                    f"the Neo4j server has nodes of graph {self.graph} that no run has counted: remove them by "
                    f"`MATCH (n {{graph: '{self.graph}'}}) DETACH DELETE n` and run this again."
                )
        return new

    def _load(self, part: int) -> bool:
        at = {"graph": self.graph, "part": part}
        rows = self._parts.rows(part)
        statements = [(query, at | {"rows": rows[name]}) for name, query in _CREATE.items() if rows[name]]
        return self.server.write(*statements, guard=(_TURN, at))

    def verify(self) -> int:
        """Read all parts back, and give their number; refuse what differs from the scene tables."""
        for part in track(range(self._parts.count), "reading back", total=self._parts.count, unit="part"):
            here, there = self._parts.tables(part), read_back(self.server, self.graph, part)
            different = [name for name, table in here.items() if not table.equals(there[name])]
            if different:
                raise InputError(
                    f"graph {self.graph} on the Neo4j server does not hold the {different[0]} of {self._scenes}: "
                    f"remove it by `python -m compvqa load-neo4j --drop --scenes {self._scenes}`, then run this again."
                )
        return self._parts.count


def read_back(server: Server, graph: str, part: int) -> dict:
    """One part of a graph on the server, as the five scene tables."""
    return as_tables({name: server.read(query, graph=graph, part=part) for name, query in _READ.items()})


def drop(server: Server, scenes: Path) -> int:
    """Remove the graph of the scene tables in a folder from the server, the last part first; gives their number."""
    graph = graph_id(scenes)
    loaded = (_state(server, graph) or {"loaded": 0})["loaded"]
    for part in track(range(loaded - 1, -1, -1), "removing", total=loaded, unit="part"):
        server.write(*((query, {"graph": graph, "part": part}) for query in _DROP))
    server.write((_FORGET, {"graph": graph}))
    return loaded


def _state(server: Server, graph: str) -> dict | None:
    return next(iter(server.read(_STATE, graph=graph)), None)
