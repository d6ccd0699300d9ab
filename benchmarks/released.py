"""The generator that COVR's authors released, run as it is: on our scenes, a Bolt server, and given seeds alone.

What it needs and is not there is put in its place from outside: a store of query results (redis) that is a dictionary
here, and two small libraries. The model that looks at images was not released; without it, every candidate passes.
Or it walks through a scene's subgraphs itself, as it does to make a dataset: then its questions come as in its files.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType, SimpleNamespace

import yaml

from compvqa.covr.released.lines import parse
from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j.bolt import PASSWORD, URI, USER, Server, connect
from compvqa.covr.subgraphs.search.neo4j.service import serving
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.scenes.graph import Object, SceneGraph, SceneStore

_BATCH = 5000
_SCHEMA = (
    "CREATE CONSTRAINT FOR (s:Scene) REQUIRE s.id IS UNIQUE",
    "CREATE CONSTRAINT FOR (o:Object) REQUIRE o.id IS UNIQUE",
    "CREATE INDEX FOR (o:Object) ON (o.name)",
)


class Names:
    """Ids as the released code wants them: unique over all scenes, fit for names of Cypher's variables."""

    def __init__(self, store: SceneStore, split: str):
        rows = [row for row in store.scenes.to_pylist() if row["split"] == split]
        self.sources = {row["scene_id"]: "imsitu" if row["source"] == "imsitu" else "gqa" for row in rows}
        # it tells imSitu's scenes by the underscore
        between = {"imsitu": "_", "gqa": ""}
        self.scenes = {scene: f"s{between[source]}{i}" for i, (scene, source) in enumerate(self.sources.items())}

    def objects(self, graph: SceneGraph) -> dict[str, str]:
        """The new id of each object of a scene."""
        return {old: f"{self.scenes[graph.scene_id]}_{number}" for number, old in enumerate(graph.objects)}


def write_scenes(store: SceneStore, names: Names, split: str, folder: Path) -> None:
    """Write the scenes in the two files that the released code reads."""
    files: dict[str, dict] = {"gqa": {}, "imsitu": {}}
    for graph in store.graphs(names.scenes):
        ids, source = names.objects(graph), names.sources[graph.scene_id]
        objects = {ids[old]: _object(item) for old, item in graph.objects.items()}
        for relation in graph.relations:
            row = {"name": relation.name, "object": ids[relation.object_id]}
            if relation.modifiers:
                row["prepositions"] = [
                    {"name": f"{relation.name}:_{name}", "object": ids[old]} for name, old in relation.modifiers
                ]
            objects[ids[relation.subject_id]]["relations"].append(row)
        files[source][names.scenes[graph.scene_id]] = {"objects": objects}
    for source, name in (("gqa", f"{split}_sceneGraphs"), ("imsitu", f"{split}_imsitu_formatted")):
        (folder / source).mkdir(parents=True, exist_ok=True)
        (folder / source / f"{name}.json").write_text(json.dumps(files[source]), encoding="utf-8")


def _object(item: Object) -> dict:
    box = {} if item.box is None else dict(zip("xywh", item.box, strict=True))
    return {"name": item.name, "attributes": list(item.attributes), "relations": [], **box}


def load(server: Server, store: SceneStore, names: Names, split: str) -> None:
    """Load the scenes as the released importer does: relations by type, modifiers from the relation's object on."""
    for statement in _SCHEMA:
        server.define(statement)
    scenes, objects, edges = [], [], {}
    for graph in store.graphs(names.scenes):
        ids, scene = names.objects(graph), names.scenes[graph.scene_id]
        scenes.append({"id": scene, "source": names.sources[graph.scene_id]})
        for old, item in graph.objects.items():
            attributes = list(item.attributes)
            objects.append({"id": ids[old], "scene": scene, "name": item.name, "attributes": attributes})
        for relation in graph.relations:
            subject, target = ids[relation.subject_id], ids[relation.object_id]
            edges.setdefault(relation.name, []).append({"a": subject, "b": target})
            for name, old in relation.modifiers:
                edges.setdefault(f"{relation.name}:_{name}", []).append({"a": target, "b": ids[old]})
    create = "UNWIND $rows AS row CREATE (:Scene {id: row.id, scene_id: row.id, source: row.source, split: $split})"
    _write(server, create, scenes, split=split)
    create = (
        "UNWIND $rows AS row MATCH (s:Scene {id: row.scene}) CREATE (s)-[:IN]->(:Object "
        "{id: row.id, scene_id: row.scene, name: row.name, attributes: row.attributes, split: $split})"
    )
    _write(server, create, objects, split=split)
    for name, rows in edges.items():
        ends = "UNWIND $rows AS row MATCH (a:Object {id: row.a}) MATCH (b:Object {id: row.b})"
        _write(server, f"{ends} CREATE (a)-[:`{name}`]->(b)", rows)


def _write(server: Server, statement: str, rows: list[dict], **given: object) -> None:
    for begin in range(0, len(rows), _BATCH):
        server.write(statement, rows=rows[begin : begin + _BATCH], **given)


class Released:
    """The released generator on one split of the scenes."""

    def __init__(self, code: Path, data: Path, split: str):
        """``code`` is its folder ``generation/dataset_gen``; ``data`` is what :func:`write_scenes` made."""
        for module in _missing():
            sys.modules.setdefault(module.__name__, module)
        sys.path.insert(0, str(code))
        import generator.queries.graph_executor as graph_executor
        from generator.question_generator import QuestionGenerator
        from generator.resources import Resources
        from generator.scene_reader import SceneReader

        Resources.load_yaml_cached = staticmethod(_read_yaml)
        Resources.load(str(code))
        connect, auth = graph_executor.GraphDatabase.driver, (os.environ[USER], os.environ[PASSWORD])
        self._driver = connect(os.environ[URI], auth=auth, notifications_min_severity="OFF")
        graph_executor.GraphDatabase = SimpleNamespace(driver=lambda _: self._driver)
        reader = SceneReader(split, str(data))
        self._generator = QuestionGenerator(2, split, scene_reader=reader)
        self._executor, self._walk = graph_executor.GraphExecutor, self._generator._graph_traversal

    @property
    def queries(self) -> int:
        """How many queries were sent to the server."""
        return self._executor.n_queries_executed_not_cached

    def questions(self, scene: str, roots: dict[str, list[Subgraph]]) -> Iterator[tuple]:
        """The questions of a scene from these subgraphs alone, given by the objects that are their roots."""
        given = {
            root: [_as_released(graph, f"{root}_{i}") for i, graph in enumerate(graphs)]
            for root, graphs in roots.items()
        }
        self._generator._graph_traversal = SimpleNamespace(traverse=lambda root, _: given.get(root, []))
        for text, _, scenes, answer, *_ in self._generator.generate_question_from_scene(scene):
            yield text, str(answer), frozenset(scenes)

    def records(self, scene: str) -> Iterator[dict]:
        """The questions of a scene from all subgraphs that it walks through, as they stand in the released files."""
        self._generator._graph_traversal = self._walk
        made = self._generator.generate_question_from_scene(scene)
        for number, (text, program, scenes, answer, pattern, *_) in enumerate(made):
            yield {
                "qid": f"{scene}-{number}", "utterance": text, "scenes": list(scenes), "answer": answer,
                "pattern_name": pattern["pattern_name"], "program": program,
            }  # fmt: skip

    def close(self) -> None:
        self._driver.close()


@contextmanager
def generating(
    code: Path, store: SceneStore, names: Names, split: str, folder: Path, command: str
) -> Iterator[Released]:
    """The generator of the checkout ``code`` on our scenes, its files in ``folder``, with a server of its own that
    ``command`` starts. What it prints goes to standard error, as does all else that is printed meanwhile."""
    if os.environ.get(URI):
        sys.exit(f"{URI} is set: unset it, the released generator has a server of its own.")
    write_scenes(store, names, split, folder / "covr-scenes")
    settings = Neo4jSettings(command=command)
    with (
        redirect_stdout(sys.stderr),
        serving(settings, folder / "server"),
        connect(settings.patience) as server,
    ):
        load(server, store, names, split)
        generator = Released(code / "generation/dataset_gen", folder / "covr-scenes", split)
        try:
            yield generator
        finally:
            generator.close()


def asked(generator: Released, scenes: Iterable[str]) -> list[dict]:
    """What the generator asks about these scenes, each question once."""
    records = {}
    for scene in scenes:
        for record in generator.records(scene):
            records[record["utterance"], str(record["answer"]), frozenset(record["scenes"])] = record
    return list(records.values())


def converted(record: dict, images: Mapping[str, str]) -> dict:
    """A record of the released files as a question that ``judge`` reads, with ``images`` by the names that they have
    there; :class:`Refused` says why there is none."""
    line = parse(record)
    return {
        "template": line.template,
        "text": line.text,
        "images": [images[name] for name in record["scenes"]],
        "answer": line.answer,
        "program": json.loads(line.program),
    }


def _missing() -> tuple[ModuleType, ...]:
    """What the released code imports: a store in memory, and decorators and a file format that it does without."""
    stored: dict[str, str] = {}
    redis, srsly, overrides = map(ModuleType, ("redis", "srsly", "overrides"))
    redis.Redis = lambda **_: SimpleNamespace(get=stored.get, set=stored.__setitem__)
    srsly.msgpack = None
    overrides.overrides = lambda method: method
    return redis, srsly, overrides


def _read_yaml(path: str) -> dict[str, list[str]]:
    """The file at ``path``, without the copy that the released code would leave beside it."""
    return yaml.safe_load(Path(path).read_bytes())


def _as_released(graph: Subgraph, symbol: str):
    """A subgraph as the released traversal gives it; ``symbol`` makes its variables' names."""
    from generator.queries.sub_graph import SubGraph

    return SubGraph(_node(graph, symbol))


def _node(graph: Subgraph, symbol: str):
    from generator.queries.data_classes import QueryNode, QueryRelationship

    attributes = set() if graph.attribute is None else {graph.attribute}
    node = QueryNode(f"o_{symbol}", name=graph.name, attributes=attributes)
    for i, edge in enumerate(graph.edges):
        target = _node(edge.target, f"{symbol}_{i}")
        relation = QueryRelationship(f"r_{symbol}_{i}", name=edge.name, source=node, target=target)
        target.backward_relation = relation
        for j, modifier in enumerate(edge.modifiers):
            tool = QueryNode(f"m_{symbol}_{i}_{j}", name=modifier.noun, attributes=set())
            name = f"{edge.name}:_{modifier.name}"
            word = QueryRelationship(f"w_{symbol}_{i}_{j}", name=name, source=relation, target=tool)
            word.backward_relation, tool.backward_relation = relation, word
            relation.prepositions = [*(relation.prepositions or []), word]
        node.relations = [*(node.relations or []), relation]
    return node
