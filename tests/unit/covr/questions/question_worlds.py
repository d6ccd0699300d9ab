"""A small random world with its seeds and related scenes, found by looking everywhere."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from compvqa import tables
from compvqa.covr.questions.generate import QuestionsSettings, generate
from compvqa.covr.questions.references import matches, substitute, without_attribute
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, Subgraph, make
from compvqa.covr.subgraphs.tables import RELATED, SEEDS
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.seeds import stable_hash, text_key
from unit.covr.subgraphs.graph_worlds import write_scenes
from unit.covr.subgraphs.related_oracle import leaves

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
        Relation(
            rng.choice(RELATIONS), a, b, (("with", rng.choice(sorted(set(objects) - {a, b}))),) * (rng.random() < 0.3)
        )
        for a, b in pairs
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


def write_world(folder: Path, scenes: int, most_seeds: int = 400, first: int = 0) -> list[SceneGraph]:
    """Write scene tables, seeds and related scenes of a world into ``folder``; give its scenes.

    Worlds whose ``first`` scenes are far apart have nothing in common.
    """
    graphs = [scene(number) for number in range(first, first + scenes)]
    write_scenes(folder / "scenes", graphs)
    seeds, related = [], []
    for graph in graphs:
        for g in {g.key: g for g in subgraphs(graph)}.values():
            if len(seeds) == most_seeds or stable_hash(g.key, graph.scene_id) % 3:
                continue
            number = text_key(f"{g.key} {graph.scene_id}")
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


Change = tuple[str, dict[tuple[int, bool], str], Subgraph]  # key, names by (node, is attribute), what must be absent


def distance_1(g: Subgraph) -> Iterator[Change]:
    for key, node, name, attribute in changes(g):
        yield key, {(node, attribute): name}, g


def distance_2(g: Subgraph, seen: set[tuple[str, str, str]]) -> Iterator[Change]:
    """Two nodes replaced, as templates need it; ``seen`` are the relations of the world by their names."""
    single = list(changes(g))
    for key, node, name, attribute in single:
        one = {(node, attribute): name}
        if g.edges and g.attribute and key != "0_attr":
            for _, _, other, of_attribute in single:
                if of_attribute:
                    yield f"{key}_neg_attr_root", one | {(0, True): other}, without_attribute(g)
        for leaf in leaves(g):
            if key.endswith("_name") and node not in leaf.inside:
                for other in NOUNS:
                    if other != leaf.noun and (leaf.subject, leaf.name, other) in seen:
                        yield f"{key}_neg_object_{leaf.node + 1}", one | {(leaf.node + 1, False): other}, leaf.rest
            if leaf.alone and key in leaf.told_by:
                for other in RELATIONS:
                    if other != leaf.name and (leaf.subject, other, leaf.noun) in seen:
                        yield f"{key}_neg_relation_{leaf.node}", one | {(leaf.node, False): other}, leaf.alone


def _related(g: Subgraph, start: SceneGraph, graphs: list[SceneGraph]) -> Iterator[tuple[str, str, list, list]]:
    counts = {other.scene_id: len(matches(other, g)) for other in graphs}
    yield from (("pos", s, [], []) for s in [s for s in counts if counts[s] and s != start.scene_id][:10])
    if 2 <= counts[start.scene_id] <= 4:
        yield ("mult", start.scene_id, [], [])
        yield from (("mult", s, [], []) for s in counts if counts[s] >= 2)
        yield from (("no_mult", s, [], []) for s in counts if counts[s] == 1)
    related = [(o.objects, r) for o in graphs for r in o.relations]
    seen = {(names[r.subject_id].name, r.name, names[r.object_id].name) for names, r in related}
    seen |= {(r.name, modifier, names[where].name) for names, r in related for modifier, where in r.modifiers}
    for key, names, absent in [*distance_1(g), *distance_2(g, seen)]:
        second = substitute(g, names)
        found = [o.scene_id for o in graphs if matches(o, second) and not matches(o, absent)]
        yield from ((key, s, [node for node, _ in names], list(names.values())) for s in found[:5])


def _rows(seed: int, found: list[tuple[str, str, list, list]]) -> Iterator[dict]:
    seen: dict[str, list[str]] = {}
    for key, scene_id, nodes, names in found:
        taken = seen.setdefault(key, [])
        if scene_id not in taken and len(taken) < 10:
            row = {"seed": seed, "key": key, "scene_id": scene_id, "rank": len(taken)}
            taken.append(scene_id)
            yield row | {"nodes": nodes, "names": names}


def run(world, templates, out, seed=1, settings=None, **inputs):
    """Generate the questions of a written world, or of other tables given by name; the counts, and the questions."""
    paths = {"seeds": world / "seeds.parquet", "related": world / "related.parquet"} | inputs
    counts = generate(
        scenes=world / "scenes",
        lexicon=None,
        templates=[templates],
        out=out / "questions.parquet",
        dropped=out / "dropped.parquet",
        settings=settings or QuestionsSettings(),
        seed=seed,
        testbed="world",
        **paths,
    )
    rows = tables.read(out / "questions.parquet", QUESTIONS).to_pylist()
    return counts, rows
