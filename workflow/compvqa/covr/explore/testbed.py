"""A test-bed's questions, splits and models' answers in a Neo4j server, beside the graph of its scenes.

    (:Question)-[:ABOUT {place, contains}]->(:Scene)      (:Question)-[:FOCUS]->(:Object)
    (:Question)-[:IN {part}]->(:Split)                    (:Model)-[:ANSWERED {text, answer, correct, p}]->(:Question)

All nodes have the ``graph`` of their scenes and the ``dataset`` that they are of: a hash of the graph and of the
dataset's table, so that two datasets of one graph do not mix. Nodes ``Dataset``, ``Split`` and ``Model`` count the
pieces of their rows that are there; each piece is loaded in one transaction with its count. So a run that died goes on
with the next piece, and a second run has nothing to do. A split or run that was loaded from a file with other content
is loaded anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from compvqa import tables
from compvqa.covr.explore.questions import Questions
from compvqa.covr.explore.relations import Known, Told, file_hash, runs_in, splits_in
from compvqa.covr.questions.tables import DATASET
from compvqa.covr.subgraphs.search.neo4j.bolt import Server
from compvqa.errors import InputError
from compvqa.progress import track

T = TypeVar("T")
SCHEMA = (
    "CREATE CONSTRAINT dataset_id IF NOT EXISTS FOR (d:Dataset) REQUIRE d.dataset IS UNIQUE",
    "CREATE CONSTRAINT question_id IF NOT EXISTS FOR (q:Question) REQUIRE (q.dataset, q.question_id) IS UNIQUE",
    "CREATE CONSTRAINT split_name IF NOT EXISTS FOR (s:Split) REQUIRE (s.dataset, s.name) IS UNIQUE",
    "CREATE CONSTRAINT model_run IF NOT EXISTS FOR (m:Model) REQUIRE (m.dataset, m.run) IS UNIQUE",
    "CREATE INDEX question_part IF NOT EXISTS FOR (q:Question) ON (q.dataset, q.part)",
    "CREATE INDEX question_template IF NOT EXISTS FOR (q:Question) ON (q.dataset, q.template)",
    "CREATE INDEX dataset_graph IF NOT EXISTS FOR (d:Dataset) ON (d.graph)",
)


@dataclass(frozen=True)
class _Kind:
    """How nodes of one label are told, what loads a piece of their rows, and what relationships that makes."""

    label: str
    key: str  # the property that tells one from others of the dataset
    create: str  # what a piece's $rows make, from the node n
    edges: str  # a pattern of all relationships r that the rows make, from the node n

    def node(self) -> str:
        return f"(n:{self.label} {{dataset: $dataset, {self.key}: $name}})"

    def begin(self) -> str:
        fresh = "n.loaded = 0, n.edges = 0, n.pieces = $pieces, n.batch = $batch, n.digest = $digest, n.graph = $graph"
        return f"MERGE {self.node()} ON CREATE SET {fresh}, n += $properties"

    def state(self) -> str:
        columns = ("loaded", "edges", "pieces", "batch", "digest")
        return f"MATCH {self.node()} RETURN {', '.join(f'n.{column} AS {column}' for column in columns)}"

    def load(self) -> str:
        # Writing to the node first takes its lock: who waited for it then sees the count that the other left.
        return (
            f"MATCH {self.node()} SET n.loading = $piece WITH n WHERE n.loaded = $piece AND n.digest = $digest "
            f"SET n.loaded = $piece + 1, n.edges = n.edges + $edges WITH n {self.create}"
        )

    def count(self) -> str:
        return f"MATCH {self.node()} MATCH {self.edges} RETURN count(r) AS count"

    def clear(self) -> str:
        return f"MATCH {self.node()} MATCH {self.edges} WITH r LIMIT $batch DELETE r"

    def spoil(self) -> str:
        return f"MATCH {self.node()} SET n.digest = ''"

    def forget(self) -> str:
        return f"MATCH {self.node()} DETACH DELETE n"


_DATASET = _Kind(
    "Dataset",
    "testbed",
    """
UNWIND $rows AS row
CREATE (q:Question {graph: $graph, dataset: $dataset, question_id: row.question_id, part: row.part,
    template: row.template, text: row.text, answer: row.answer, program: row.program, properties: row.properties,
    names: row.names, tree: row.tree, size: row.size, depth: row.depth})
WITH q, row
CALL (q, row) {
    UNWIND row.about AS asked
    MATCH (s:Scene {graph: $graph, scene_id: asked.scene_id})
    CREATE (q)-[:ABOUT {place: asked.place, contains: asked.contains}]->(s)
    WITH q, s, asked
    MATCH (s)-[:CONTAINS]->(o:Object) WHERE o.object_id IN asked.focus
    CREATE (q)-[:FOCUS]->(o)
}
""",
    "(:Question {dataset: n.dataset})-[r:ABOUT|FOCUS]->()",
)
_SPLIT = _Kind(
    "Split",
    "name",
    """
UNWIND $rows AS row
MATCH (q:Question {dataset: $dataset, question_id: row.question_id})
CREATE (q)-[:IN {part: row.part}]->(n)
""",
    "(n)<-[r:IN]-()",
)
_MODEL = _Kind(
    "Model",
    "run",
    """
UNWIND $rows AS row
MATCH (q:Question {dataset: $dataset, question_id: row.question_id})
CREATE (n)-[:ANSWERED {text: row.text, answer: row.answer, correct: row.correct, p: row.p}]->(q)
""",
    "(n)-[r:ANSWERED]->()",
)
_KINDS = (_DATASET, _SPLIT, _MODEL)
_QUESTIONS = "MATCH (q:Question {dataset: $dataset}) RETURN count(q) AS count"
_REMOVE = "MATCH (q:Question {dataset: $dataset}) WITH q LIMIT $batch DETACH DELETE q"
_OF_GRAPH = "MATCH (d:Dataset {graph: $graph}) RETURN d.dataset AS dataset, d.testbed AS testbed ORDER BY dataset"
PIECE = 300  # rows of a transaction
_DROPPED_AT_ONCE = 2000  # questions of a transaction: each has about ten relationships


@dataclass(frozen=True)
class _Source:
    """A node and the rows that belong to it."""

    kind: _Kind
    what: str
    told: Told
    prepare: Callable[[list[dict]], tuple[list[dict], int]]  # rows as the statement takes them; relationships they make


class WholeTestbed:
    """A dataset with splits and models' answers, read and checked, to be loaded beside the graph of its scenes."""

    def __init__(self, graph: str, scenes: Path, dataset: Path, splits: Sequence[Path], predictions: Sequence[Path]):
        """``graph`` names the graph of the tables in the folder ``scenes``.

        Raises :class:`InputError` where the dataset asks about other scenes, or splits or predictions are about other
        questions.
        """
        self._graph = graph
        self._questions = Questions(dataset, scenes)
        self.dataset = dataset_id(graph, dataset)
        known = Known(dataset)
        about = Told(self._questions.testbed(), {}, self.dataset, self._questions.count, self._questions.rows)
        self._sources = [_Source(_DATASET, "questions", about, self._asked)]
        self._sources += [_Source(_SPLIT, f"split {s.name}", s, _plain) for s in splits_in(splits, known)]
        self._sources += [_Source(_MODEL, f"run {run.name}", run, _plain) for run in runs_in(predictions, known)]

    def _asked(self, rows: list[dict]) -> tuple[list[dict], int]:
        nodes = self._questions.as_nodes(rows)
        return nodes, sum(1 + len(asked["focus"]) for node in nodes for asked in node["about"])

    def load(self, server: Server, batch: int = PIECE) -> dict[str, int]:
        """Load what is not there yet, in pieces of ``batch`` rows (what was begun keeps its own size); gives how many
        pieces were loaded, and how many questions, splits and models there are."""
        server.define(*SCHEMA)
        new = sum(self._load(server, source, batch) for source in self._sources)
        return {
            "pieces loaded": new,
            "questions": self._questions.count,
            "splits": sum(source.kind is _SPLIT for source in self._sources),
            "models": sum(source.kind is _MODEL for source in self._sources),
        }

    def _load(self, server: Server, source: _Source, batch: int) -> int:
        kind, told = source.kind, source.told
        at = {"dataset": self.dataset, "name": told.name, "digest": told.digest, "graph": self._graph}
        state = self._begun(server, source, at, batch)
        if state["digest"] != told.digest:
            _clear(server, kind, at)
            state = self._begun(server, source, at, batch)
        loaded, size = state["loaded"], state["batch"]
        pieces = _ahead(_pieces(source, loaded, size))
        new = 0
        for number, (rows, edges) in enumerate(
            track(pieces, source.what, total=state["pieces"] - loaded, unit="piece"), loaded
        ):
            if number < loaded:
                continue
            new += server.write(kind.load(), **at, piece=number, edges=edges, rows=rows)
            loaded = server.read(kind.state(), **at)[0]["loaded"]
            if loaded <= number:
                raise self._spoilt(source)
        self._check(server, source, at)
        return new

    def _begun(self, server: Server, source: _Source, at: dict, batch: int) -> dict:
        pieces = -(-source.told.count // batch)
        if not server.read(source.kind.state(), **at):
            server.write(source.kind.begin(), **at, batch=batch, pieces=pieces, properties=source.told.properties)
        return server.read(source.kind.state(), **at)[0]

    def _check(self, server: Server, source: _Source, at: dict) -> None:
        """Refuse what lacks nodes or relationships, or has others than were loaded."""
        there = server.read(source.kind.count(), **at)[0]["count"]
        whole = there == server.read(source.kind.state(), **at)[0]["edges"]
        if source.kind is _DATASET:
            whole = whole and server.read(_QUESTIONS, **at)[0]["count"] == source.told.count
        if not whole:
            raise self._spoilt(source)

    def _spoilt(self, source: _Source) -> InputError:
        return InputError(
            f"the Neo4j server does not hold the {source.what} of dataset {self.dataset} as they were loaded: remove "
            "the dataset by `python -m compvqa load-neo4j --drop` with the same --scenes and --dataset, then load it "
            "again."
        )


def dataset_id(graph: str, dataset: Path) -> str:
    """What names a dataset beside a graph, so that no two mix."""
    tables.check(dataset, DATASET)
    return file_hash(dataset, graph)


def drop(server: Server, graph: str, dataset: str | None = None) -> int:
    """Remove a dataset of a graph with its splits and models, or all datasets of the graph; gives how many."""
    found = [row for row in server.read(_OF_GRAPH, graph=graph) if dataset in (None, row["dataset"])]
    for row in found:
        at = {"dataset": row["dataset"]}
        for kind in (_SPLIT, _MODEL):
            names = f"MATCH (n:{kind.label} {{dataset: $dataset}}) RETURN n.{kind.key} AS name"
            for other in server.read(names, **at):
                _clear(server, kind, at | other)
        count = server.read(_QUESTIONS, **at)[0]["count"]
        for _ in track(range(0, count, _DROPPED_AT_ONCE), "removing questions", unit="piece"):
            server.write(_REMOVE, **at, batch=_DROPPED_AT_ONCE)
        server.write(_DATASET.forget(), **at, name=row["testbed"])
    return len(found)


def _clear(server: Server, kind: _Kind, at: dict) -> None:
    """Remove a split or model; what is killed meanwhile is known by its digest as spoilt."""
    server.write(kind.spoil(), **at)
    for _ in range(0, server.read(kind.count(), **at)[0]["count"], 10 * _DROPPED_AT_ONCE):
        server.write(kind.clear(), **at, batch=10 * _DROPPED_AT_ONCE)
    server.write(kind.forget(), **at)


def _pieces(source: _Source, first: int, size: int) -> Iterator[tuple[list[dict], int]]:
    rows = islice(source.told.rows(), first * size, None)
    while some := list(islice(rows, size)):
        yield source.prepare(some)


def _plain(rows: list[dict]) -> tuple[list[dict], int]:
    return rows, len(rows)


def _ahead(items: Iterator[T]) -> Iterator[T]:
    """The same, each made while the one before is in use."""
    end: Any = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item
