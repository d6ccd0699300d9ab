"""Writing the sprites world: annotations in GQA's and imSitu's formats, and the truth as scene tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from compvqa import tables
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS, SCENES
from compvqa.scenes.worlds.sprites.graph import Draws, Edge, Graph, Node, careless, frames, role_nouns
from compvqa.scenes.worlds.sprites.scene import Scene
from compvqa.scenes.worlds.sprites.settings import SpritesSettings
from compvqa.scenes.worlds.sprites.situations import VERBS
from compvqa.scenes.worlds.sprites.vocabulary import GROUP_OF, MORE_WORDNET, NOUNS, PLACES, WORDNET

SIDE = 20  # pixels between two objects' middles from which on they are left and right of each other
SIDE_RATE = 0.4
SPLITS = ("train", "val")  # of a test-bed; scenes outside it count as of the first


def gqa_record(scene: Scene, graph: Graph, seed: int) -> dict:
    """The scene as GQA's files write it, with their many "to the left of" and "to the right of"."""
    draws = Draws(scene.image, seed)
    relations: dict[str, list[dict]] = {key: [] for key in graph.nodes}
    for edge in (*graph.edges, *_sides(graph, draws)):
        relations[edge.subject].append({"name": edge.name, "object": edge.target})
    objects = {}
    for key, node in graph.nodes.items():
        x, y, w, h = _drawn(node)
        objects[key] = {
            "name": node.name,
            "x": x,
            "y": y,
            "w": w,
            "h": h,
            "attributes": list(node.attributes),
            "relations": relations[key],
        }
    return {"width": scene.width, "height": scene.height, "objects": objects}


def _drawn(node: Node) -> tuple[int, int, int, int]:
    if node.box is None:
        raise ValueError(f"{node.name} has no box")
    return node.box


def _sides(graph: Graph, draws: Draws) -> Iterator[Edge]:
    for one, first in graph.nodes.items():
        for other, second in graph.nodes.items():
            (x, _, w, _), (from_x, _, from_w, _) = _drawn(second), _drawn(first)
            apart = (x + w / 2) - (from_x + from_w / 2)
            if abs(apart) > SIDE and draws.happens(SIDE_RATE, "side", one, other):
                yield Edge(one, "to the left of" if apart > 0 else "to the right of", other)


def imsitu_record(scene: Scene, annotated: dict[str, str], settings: SpritesSettings, seed: int) -> dict:
    """The scene as imSitu's files write it: a verb and three frames (role → WordNet id or "")."""
    found = frames(scene, annotated, settings, seed, WORDNET)
    return {
        "verb": scene.verb,
        "frames": [{role: WORDNET[noun] if noun else "" for role, noun in frame.items()} for frame in found],
    }


def imsitu_space() -> dict:
    """imSitu's ``imsitu_space.json``: the verbs with their roles and sentences, the nouns by WordNet id."""
    verbs = {
        name: {
            "roles": {role: {"def": f"the {role} of {name}"} for role in verb.roles},
            "abstract": verb.sentence,
            "order": verb.roles,
        }
        for name, verb in VERBS.items()
    }
    nouns = {number: {"gloss": [name], "def": _definition(name)} for name, number in sorted(WORDNET.items())}
    return {"verbs": verbs, "nouns": dict(sorted(nouns.items()))}


def _definition(name: str) -> str:
    if name in PLACES:
        return "a place"
    if name in MORE_WORDNET or not NOUNS[name].hypernyms:
        return "a thing in a picture"
    return f"a kind of {NOUNS[name].hypernyms[0]}"


def generation_templates() -> str:
    """imSitu's ``generation_templates.tab``."""
    return "".join(f"{name}\t{verb.sentence}\n" for name, verb in VERBS.items())


def scene_id(scene: Scene) -> str:
    """The id that the readers give: imSitu names its scenes by their picture files."""
    return f"sprites-imsitu:{scene.image}.jpg" if scene.verb else f"sprites:{scene.image}"


def roles_graph(scene: Scene, truth: Graph, nouns: dict[str, str]) -> Graph:
    """What imSitu's format can say: the roles filled with ``nouns``, and the verb with its modifiers."""
    nodes = {
        role: Node(noun, (), truth.nodes[role].box) for role, noun in nouns.items() if noun and role in truth.nodes
    }
    edges = [
        Edge(edge.subject, edge.name, edge.target, tuple(m for m in edge.modifiers if m[1] in nodes))
        for edge in truth.edges
        if edge.name == scene.verb
    ]
    return Graph(dict(sorted(nodes.items())), tuple(edges))


def agreed_nouns(scene: Scene, settings: SpritesSettings, seed: int) -> tuple[dict[str, str], dict[str, str]]:
    """Each role's noun in an imSitu scene: with what is missing, and with wrong ones as well."""
    return role_nouns(scene, settings, seed, WORDNET)


def annotated_graph(scene: Scene, truth: Graph, settings: SpritesSettings, seed: int) -> Graph:
    """What careless annotators make of the scene: what a reader would find in its GQA or imSitu record."""
    if not scene.verb:
        return careless(truth, scene.image, settings, seed)[1]
    _, nouns = agreed_nouns(scene, settings, seed)
    graph = roles_graph(scene, truth, nouns)
    return replace(graph, nodes={role: replace(node, box=None) for role, node in graph.nodes.items()})


class Tables:
    """Rows of one folder of scene tables."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict]] = {
            schema.name: [] for schema in (SCENES, OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS)
        }

    def add(self, scene: Scene, graph: Graph) -> None:
        """The rows of one scene."""
        key = scene_id(scene)
        self.rows["scenes"].append(
            {
                "scene_id": key,
                "source": key.partition(":")[0],
                "split": scene.split if scene.split in SPLITS else SPLITS[0],
                "image": f"sprites:{scene.image}",
                "width": scene.width,
                "height": scene.height,
            }
        )
        for object_id, node in graph.nodes.items():
            own = {"scene_id": key, "object_id": object_id}
            sides = dict(zip("xywh", node.box or (None,) * 4, strict=True))
            self.rows["objects"].append({**own, "name": node.name, **sides})
            self.rows["attributes"] += [{**own, "name": a, "group": GROUP_OF[a]} for a in node.attributes]
        for number, edge in enumerate(graph.edges):
            own = {"scene_id": key, "relation_id": f"{number:04d}"}
            self.rows["relations"].append(
                {**own, "subject_id": edge.subject, "object_id": edge.target, "name": edge.name}
            )
            self.rows["modifiers"] += [{**own, "name": name, "object_id": other} for name, other in edge.modifiers]

    def write(self, folder: Path) -> None:
        for schema in (SCENES, OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS):
            tables.write(folder / f"{schema.name}.parquet", schema, self.rows[schema.name])


def write_text(path: Path, text: str) -> None:
    with tables.replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
