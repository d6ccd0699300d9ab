"""Random small worlds of scene graphs, written as scene tables."""

import random
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from compvqa import tables
from compvqa.scenes.graph import Object, Relation, SceneGraph
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS, SCENES

NOUNS = ["man", "hat", "cup", 'a "dog"']
ATTRIBUTE_NAMES = ["red", "old", "été"]
RELATION_NAMES = ["on", "near", "of", "wearing"]


@st.composite
def scene_graphs(draw, scene_id: str, objects: int = 5, relations: int = 6, modifiers: int = 2) -> SceneGraph:
    """A scene of up to ``objects`` objects, in which equal names and equal relations are frequent."""
    ids = [str(i) for i in range(draw(st.integers(1, objects)))]
    box = st.sampled_from([None, (0.0, 0.0, 20.0, 20.0), (0.0, 0.0, 30.0, 30.0), (0.0, 0.0, 50.0, 40.0)])
    things = {
        i: Object(
            i,
            draw(st.sampled_from(NOUNS)),
            dict.fromkeys(draw(st.lists(st.sampled_from(ATTRIBUTE_NAMES), max_size=2, unique=True))),
            draw(box),
        )
        for i in ids
    }
    one_modifier = st.tuples(st.sampled_from(["with", "at"]), st.sampled_from(ids))
    one_relation = st.builds(
        Relation,
        st.sampled_from(RELATION_NAMES),
        st.sampled_from(ids),
        st.sampled_from(ids),
        st.lists(one_modifier, max_size=modifiers, unique=True).map(tuple),
    )
    return SceneGraph(scene_id, things, tuple(draw(st.lists(one_relation, max_size=relations))))


@st.composite
def worlds(draw, scenes: int = 12, **sizes: int) -> list[SceneGraph]:
    """Some scenes, which share their few names."""
    return [draw(scene_graphs(f"s:{i}", **sizes)) for i in range(draw(st.integers(1, scenes)))]


def drawn_world(number: int, scenes: int = 10) -> list[SceneGraph]:
    """The ``number``-th world: its scenes are changed copies of each other, so that many differ in a name or two.

    Its names end in its number, so that several worlds can be searched at once; only "of" stays "of".
    """
    rng = random.Random(number)
    graphs: list[SceneGraph] = []
    for index in range(scenes):
        fresh = index < 2 or rng.random() < 0.2
        graph = _drawn_scene(number, rng) if fresh else _changed(rng.choice(graphs), number, rng)
        graphs.append(replace(graph, scene_id=f"{number}:{index}"))
    return graphs


def of_world(number: int, name: str) -> str:
    """A name as it is called in the ``number``-th drawn world."""
    return name if name == "of" else f"{name} {number}"


def _drawn_scene(number: int, rng: random.Random) -> SceneGraph:
    ids = [str(i) for i in range(rng.randint(3, 5))]
    objects = {
        i: Object(i, of_world(number, rng.choice(NOUNS)), _attributes(number, rng, rng.choice([0, 1, 1, 2])))
        for i in ids
    }
    relations = []
    for _ in range(rng.randint(2, 5)):
        names = rng.sample(["with", "at"], rng.choice([0, 0, 0, 1, 2]))
        modifiers = tuple((name, rng.choice(ids)) for name in names)
        relations.append(Relation(of_world(number, rng.choice(RELATION_NAMES)), *rng.sample(ids, 2), modifiers))
    return SceneGraph("", objects, tuple(relations))


def _attributes(number: int, rng: random.Random, count: int) -> dict[str, None]:
    return dict.fromkeys(of_world(number, name) for name in rng.sample(ATTRIBUTE_NAMES, count))


def _changed(graph: SceneGraph, number: int, rng: random.Random) -> SceneGraph:
    """The scene with one to three nouns, attributes or relations drawn anew."""
    objects, relations = dict(graph.objects), list(graph.relations)
    for _ in range(rng.randint(1, 3)):
        kind, where = rng.choice(["noun", "noun", "attribute", "relation"]), rng.choice(list(objects))
        if kind == "noun":
            objects[where] = replace(objects[where], name=of_world(number, rng.choice(NOUNS)))
        elif kind == "attribute":
            objects[where] = replace(objects[where], attributes=_attributes(number, rng, 1))
        else:
            place = rng.randrange(len(relations))
            relations[place] = replace(relations[place], name=of_world(number, rng.choice(RELATION_NAMES)))
    return SceneGraph(graph.scene_id, objects, tuple(relations))


def write_scenes(folder: Path, graphs: list[SceneGraph], split=lambda scene_id: "train") -> Path:
    """The scene tables of ``graphs`` in ``folder``."""
    rows: dict[str, list[dict]] = {
        "scenes": [],
        "objects": [],
        "attributes": [],
        "relations": [],
        "modifiers": [],
    }
    for graph in graphs:
        scene = {"scene_id": graph.scene_id}
        rows["scenes"].append(
            scene
            | {
                "source": "s",
                "split": split(graph.scene_id),
                "image": graph.scene_id,
                "width": 640,
                "height": 480,
            }
        )
        for thing in graph.objects.values():
            of_object = scene | {"object_id": thing.object_id}
            box = dict(zip("xywh", thing.box or [None] * 4, strict=True))
            rows["objects"].append(of_object | {"name": thing.name} | box)
            for name, group in thing.attributes.items():
                rows["attributes"].append(of_object | {"name": name, "group": group})
        for number, relation in enumerate(graph.relations):
            of_relation = scene | {"relation_id": f"{number:04}"}
            ends = {"subject_id": relation.subject_id, "object_id": relation.object_id}
            rows["relations"].append(of_relation | ends | {"name": relation.name})
            for name, object_id in relation.modifiers:
                rows["modifiers"].append(of_relation | {"name": name, "object_id": object_id})
    for schema in (SCENES, OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS):
        tables.write(folder / f"{schema.name}.parquet", schema, rows[schema.name])
    return folder
