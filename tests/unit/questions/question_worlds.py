"""A small random world with its seeds and related scenes, found by looking everywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from compvqa import tables
from compvqa.graphs.subgraph import Edge, Modifier, Subgraph, make
from compvqa.graphs.tables import RELATED, SEEDS
from compvqa.questions.covr.references import matches, substitute
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.seeds import stable_hash
from unit.graphs.graph_worlds import write_scenes

NOUNS = {"boy": 4, "cat": 3, "hat": 2, "table": 2, "jeans": 2, "leaf": 1}
ATTRIBUTES = {"red": "color", "blue": "color", "old": None, "young": None}
RELATIONS = ["wearing", "near", "on"]


def scene(number: int) -> SceneGraph:
    """A scene of 3-6 objects in which a few names come again and again."""
    rng = random.Random(number)
    objects = {}
    for i in range(rng.randint(3, 6)):
        attributes = {rng.choice(["red", "blue"]), rng.choice(["old", "young"])} if rng.random() < 0.7 else set()
        name = rng.choices(list(NOUNS), list(NOUNS.values()))[0]
        objects[str(i)] = Object(str(i), name, {a: ATTRIBUTES[a] for a in sorted(attributes)})
    pairs = [rng.sample(sorted(objects), 2) for _ in range(rng.randint(2, 6))]
    relations = tuple(
        Relation(rng.choice(RELATIONS), a, b, (("with", b),) if rng.random() < 0.1 else ()) for a, b in pairs
    )
    return SceneGraph(f"w:{number:03}", objects, relations)


def subgraphs(graph: SceneGraph) -> Iterator[Subgraph]:
    """Single objects, relations, chains and V-shapes of the scene, with and without the root's attribute."""
    for item in graph.objects.values():
        edges = [
            Edge(r.name, make(graph.objects[r.object_id].name), _modifiers(graph, r))
            for r in graph.relations
            if r.subject_id == item.object_id
        ]
        chains = [
            Edge(
                r.name,
                make(
                    graph.objects[r.object_id].name,
                    None,
                    (Edge(n.name, make(graph.objects[n.object_id].name)),),
                ),
            )
            for r in graph.relations
            if r.subject_id == item.object_id
            for n in graph.relations
            if n.subject_id == r.object_id
        ]
        branches = [(), *((edge,) for edge in edges + chains)]
        branches += [(a, b) for i, a in enumerate(edges) for b in edges[i + 1 :]]
        for chosen in branches:
            for attribute in [None, *item.attributes]:
                yield make(item.name, attribute, chosen)


def _modifiers(graph: SceneGraph, relation: Relation) -> tuple[Modifier, ...]:
    return tuple(Modifier(name, graph.objects[where].name) for name, where in relation.modifiers)


def changes(g: Subgraph, number: int = 0) -> Iterator[tuple[str, int, str, bool]]:
    """All replacements of one node: key, node, name, whether it is the attribute."""
    for node, item in g.objects():
        yield from ((f"{node}_name", node, name, False) for name in NOUNS if name != item.name)
        if item.attribute is not None:
            same = [a for a in ATTRIBUTES if ATTRIBUTES[a] == ATTRIBUTES[item.attribute] and a != item.attribute]
            yield from ((f"{node}_attr", node, name, True) for name in same)
        for edge_number, edge in item.numbered_edges():
            for name in RELATIONS:
                if name != edge.name:
                    yield f"{node + edge_number}_relation", node + edge_number, name, False


def write_world(folder: Path, scenes: int, most_seeds: int = 400) -> list[SceneGraph]:
    """Write scene tables, seeds and related scenes of a world into ``folder``; give its scenes."""
    graphs = [scene(number) for number in range(scenes)]
    write_scenes(folder / "scenes", graphs)
    seeds, related = [], []
    for graph in graphs:
        for g in {g.key: g for g in subgraphs(graph)}.values():
            if len(seeds) == most_seeds or stable_hash(g.key, graph.scene_id) % 3:
                continue
            number = stable_hash("seed", g.key, graph.scene_id)
            found = list(_related(g, graph, graphs))
            if any(key != "pos" for key, *_ in found):
                seeds.append(
                    {
                        "seed": number,
                        "subgraph_key": g.key,
                        "scene_id": graph.scene_id,
                        "split": "train",
                        "tree": g.json(),
                        "n_instances": len(matches(graph, g)),
                    }
                )
                related.extend(_rows(number, found))
    tables.write(folder / "seeds.parquet", SEEDS, seeds)
    tables.write(folder / "related.parquet", RELATED, related)
    return graphs


def _related(g: Subgraph, start: SceneGraph, graphs: list[SceneGraph]) -> Iterator[tuple[str, str, list, list]]:
    with_g = {other.scene_id for other in graphs if matches(other, g)}
    yield from (("pos", scene_id, [], []) for scene_id in sorted(with_g - {start.scene_id})[:10])
    for key, node, name, attribute in changes(g):
        second = substitute(g, {(node, attribute): name})
        found = [o.scene_id for o in graphs if o.scene_id not in with_g and matches(o, second)]
        yield from ((key, scene_id, [node], [name]) for scene_id in found[:5])


def _rows(seed: int, found: list[tuple[str, str, list, list]]) -> Iterator[dict]:
    seen: dict[str, list[str]] = {}
    for key, scene_id, nodes, names in found:
        taken = seen.setdefault(key, [])
        if scene_id not in taken and len(taken) < 10:
            row = {"seed": seed, "key": key, "scene_id": scene_id, "rank": len(taken)}
            taken.append(scene_id)
            yield row | {"nodes": nodes, "names": names}
