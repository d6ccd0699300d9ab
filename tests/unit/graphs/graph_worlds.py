"""Random small worlds of scene graphs, written as scene tables."""

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
