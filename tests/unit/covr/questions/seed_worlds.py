"""Worlds around one seed: a subgraph in its start scene, and scenes that are related to it, as templates are asked."""

import random

from compvqa.covr.executor import answer_text, execute
from compvqa.covr.questions.seed import Dropped, Negative, Seed
from compvqa.covr.questions.templates import module_of
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, Subgraph, make
from compvqa.scenes.graph import Object, Relation, SceneGraph

GROUPS = {"white": "color", "black": "color", "running": "activity", "looking up": "activity", "wood": "material"}


def g(name, *edges, attribute=None):
    return make(name, attribute, tuple(edges))


def rel(name, target, *modifiers):
    target = target if isinstance(target, Subgraph) else g(target)
    return Edge(name, target, tuple(Modifier(*modifier) for modifier in modifiers))


def scene(scene_id, *subgraphs):
    """A scene that holds these subgraphs, each with objects of its own."""
    objects, relations = {}, []

    def add(item):
        object_id = str(len(objects))
        attributes = {item.attribute: GROUPS.get(item.attribute)} if item.attribute else {}
        objects[object_id] = Object(object_id, item.name, attributes)
        for edge in item.edges:
            target = add(edge.target)
            modifiers = tuple((m.name, add(g(m.noun))) for m in edge.modifiers)
            relations.append(Relation(edge.name, object_id, target, modifiers))
        return object_id

    for subgraph in subgraphs:
        add(subgraph)
    return SceneGraph(scene_id, objects, tuple(relations))


class World:
    """A seed's subgraph, found ``instances`` times in its start scene, and scenes related to it."""

    def __init__(self, own, instances=1):
        self.own, self.instances = own, instances
        self.scenes = {"own": scene("own", *[own] * instances)}
        self.related = {}

    def add(self, key, *subgraphs, nodes=(), names=(), times=1):
        """``times`` scenes of that key with these subgraphs."""
        for _ in range(times):
            scene_id = f"{key} {len(self.scenes)}"
            self.scenes[scene_id] = scene(scene_id, *subgraphs)
            self.related.setdefault(key, []).append(Negative(scene_id, tuple(nodes), tuple(names)))
        return self

    def ask(self, template, number=0):
        """What each variant makes of the seed: by its text, the scenes and answers; and the reasons of drops."""
        of_key = {key: [n.scene_id for n in self.related.get(key, ())] for key in ("pos", "mult")}
        negatives = {key: found for key, found in self.related.items() if key not in of_key}
        seed = Seed(1, self.own, "own", self.instances, of_key["pos"], negatives, self.scenes.get, None, of_key["mult"])
        made, dropped = {}, []
        for variant in template.variants.values():
            for draft in module_of(template).drafts(template, variant, seed, random.Random(number)):
                if isinstance(draft, Dropped):
                    dropped.append(draft.reason)
                else:
                    answer = execute(draft.wording.program, [self.scenes[s] for s in draft.scenes])
                    assert draft.wanted in (None, answer)
                    made.setdefault(draft.wording.text, {})[answer_text(answer)] = draft
        return made, dropped


def every(world, template, tries=40):
    """What comes out with any of many draws: answers and a draft by text."""
    made = {}
    for number in range(tries):
        for text, drafts in world.ask(template, number)[0].items():
            made.setdefault(text, {}).update(drafts)
    return made
