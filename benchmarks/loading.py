"""Loading scene graphs into Neo4j, beside the plain way that commit 83cbfda took: one session, a statement for each
table, the ends of relations looked up in an index.

    python benchmarks/loading.py FOLDER --ontology resources/gqa_ontology --scenes 20000 --server 'serve-neo4j $FOLDER'

All ways load the same scenes into one server by turns; what is there is removed between. The first round warms the
server up and is not counted. The plain way is measured as that commit was installed, with the driver's own packing in
Python, and with neo4j-rust-ext. Indexes are waited for. FOLDER is that of benchmarks/graph.py.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from graph import simulated
from measure import ROOT, Spent, print_table

from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j.bolt import URI, Server, connect
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded
from compvqa.covr.subgraphs.search.neo4j.parts import NO_GROUP, Parts, graph_id
from compvqa.covr.subgraphs.search.neo4j.service import serving

PATIENCE = 60
PLAIN_BATCH = 1000  # scenes of a transaction, as that commit had it
WAYS = {"plain, packed in Python": "python", "plain": "plain", "load-neo4j": "ours"}
_PLAIN_SCHEMA = (
    "CREATE CONSTRAINT scene_id IF NOT EXISTS FOR (s:Scene) REQUIRE (s.graph, s.scene_id) IS UNIQUE",
    "CREATE CONSTRAINT object_id IF NOT EXISTS FOR (o:Object) REQUIRE (o.graph, o.scene_id, o.object_id) IS UNIQUE",
    "CREATE INDEX scene_part IF NOT EXISTS FOR (s:Scene) ON (s.graph, s.part)",
    "CREATE INDEX object_part IF NOT EXISTS FOR (o:Object) ON (o.graph, o.part)",
    "CREATE INDEX object_name IF NOT EXISTS FOR (o:Object) ON (o.graph, o.name)",
)
_ENDS = """
UNWIND $rows AS row
MATCH (a:Object {graph: $graph, scene_id: row.scene_id, object_id: row.subject_id})
MATCH (b:Object {graph: $graph, scene_id: row.scene_id, object_id: row.object_id})
"""
_PLAIN = {
    "scenes": "UNWIND $rows AS row CREATE (s:Scene {graph: $graph, part: $part}) SET s += row",
    "objects": """
UNWIND $rows AS row
MATCH (s:Scene {graph: $graph, scene_id: row.scene_id})
CREATE (s)-[:CONTAINS]->(o:Object {graph: $graph, part: $part}) SET o += row
""",
    "relations": f"{_ENDS} CREATE (a)-[:RELATION {{relation_id: row.relation_id, name: row.name}}]->(b)",
    "modifiers": f"{_ENDS} CREATE (a)-[:MODIFIER {{relation_id: row.relation_id, name: row.name}}]->(b)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where simulated files and tables are kept")
    parser.add_argument("--ontology", type=Path, help="folder of GQA's ontology files")
    parser.add_argument("--scenes", type=int, default=20_000, help="simulated scenes")
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count")
    parser.add_argument("--server", default=f"{sys.executable} {ROOT}/containers/serve_neo4j.py $FOLDER")
    parser.add_argument("--way", choices=WAYS.values(), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(load(options.way, options.folder)))
        return
    if os.environ.get(URI):
        sys.exit(f"{URI} is set: unset it, the CPU seconds of a server that runs already can't be counted.")
    chain = simulated(options.scenes, options.folder, options.ontology)
    for name in ("lexicon", "ingest", "scenes"):
        chain.cost(name)
    report(list(rounds(options.server, chain.folder, options.rounds)))


def rounds(command: str, folder: Path, count: int) -> Iterator[dict[str, dict[str, float]]]:
    """What each way took in each round."""
    with serving(Neo4jSettings(command=command), folder / "server"):
        for number in range(count + 1):
            found = {}
            for name, way in WAYS.items():
                with connect(PATIENCE) as server:
                    clear(server)
                begin = Spent.so_far().server
                arguments = [sys.executable, __file__, folder / "scenes", "--way", way]
                told = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout
                spent = json.loads(told.splitlines()[-1])
                found[name] = spent | {"server": Spent.so_far().server - begin}
            if number:
                yield found


def clear(server: Server) -> None:
    """Remove all that is on the server."""
    for row in server.read("SHOW CONSTRAINTS YIELD name RETURN name"):
        server.write(f"DROP CONSTRAINT {row['name']}")
    for row in server.read("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        server.write(f"DROP INDEX {row['name']}")
    while server.read("MATCH (n) RETURN count(n) > 0 AS some")[0]["some"]:
        server.write("MATCH (n) WITH n LIMIT 20000 DETACH DELETE n")


def load(way: str, scenes: Path) -> dict[str, float]:
    """Load the scenes; gives seconds on the clock and CPU seconds of this process, from a connection on."""
    if way == "python":
        sys.modules["neo4j._rust"] = None  # as where neo4j-rust-ext is not installed
    with connect(PATIENCE) as server:
        begin, wall = time.process_time(), time.monotonic()
        if way == "ours":
            Loaded(server, scenes, Neo4jSettings().batch)
        else:
            plain(server, scenes)
        server.read("CALL db.awaitIndexes(600)")
        return {"client": time.process_time() - begin, "wall": time.monotonic() - wall}


def plain(server: Server, scenes: Path) -> None:
    """Load the scenes by a statement for each table."""
    graph, parts = graph_id(scenes), Parts(scenes, PLAIN_BATCH)
    server.define(*_PLAIN_SCHEMA)
    with server._session() as session:
        for part in range(parts.count):
            rows = plain_rows({name: table.to_pylist() for name, table in parts.tables(part).items()})
            with session.begin_transaction() as transaction:
                for name, query in _PLAIN.items():
                    transaction.run(query, graph=graph, part=part, rows=rows[name]).consume()
                transaction.commit()


def plain_rows(found: dict[str, list[dict]]) -> dict[str, list[dict]]:
    """Rows of nodes and relationships from those of a part's tables."""
    splits = {row["scene_id"]: row["split"] for row in found["scenes"]}
    named: dict[tuple[str, str], list[dict]] = {}
    for row in found["attributes"]:
        named.setdefault((row["scene_id"], row["object_id"]), []).append(row)
    for row in found["objects"]:
        attributes = named.get((row["scene_id"], row["object_id"]), [])
        row["split"] = splits[row["scene_id"]]
        row["attributes"] = [attribute["name"] for attribute in attributes]
        row["groups"] = [attribute["group"] or NO_GROUP for attribute in attributes]
    subjects = {(row["scene_id"], row["relation_id"]): row["subject_id"] for row in found["relations"]}
    for row in found["modifiers"]:
        row["subject_id"] = subjects[row["scene_id"], row["relation_id"]]
    return found


def report(found: list[dict[str, dict[str, float]]]) -> None:
    """Print the medians of what each way took, and how many times as much as ours, with the least and the most."""
    lines = []
    for name in WAYS:
        mine, ours = [row[name] for row in found], [row["load-neo4j"] for row in found]
        line = [name, *(f"{median(spent[key] for spent in mine):.1f}" for key in ("client", "server", "wall"))]
        for measure in (lambda spent: spent["client"] + spent["server"], lambda spent: spent["wall"]):
            times = [measure(one) / measure(other) for one, other in zip(mine, ours, strict=True)]
            line.append(f"{median(times):.1f} ({min(times):.1f} to {max(times):.1f})")
        lines.append(line)
    print_table(["way", "CPU s: client", "server", "wall s", "times our CPU", "times our wall"], lines)


if __name__ == "__main__":
    main()
