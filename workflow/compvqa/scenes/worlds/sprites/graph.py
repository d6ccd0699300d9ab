"""A scene's graph: the complete truth, and what careless annotators make of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from compvqa.scenes.worlds.sprites.scene import Scene
from compvqa.scenes.worlds.sprites.settings import SpritesSettings
from compvqa.scenes.worlds.sprites.situations import VERBS
from compvqa.scenes.worlds.sprites.vocabulary import (
    CONFUSED_RELATIONS,
    ENTAILS,
    GENERAL_RELATIONS,
    GROUP_OF,
    GROUPS,
    NOUNS,
    POSITIONS,
    RELATION_SYNONYMS,
)
from compvqa.seeds import generator

Box = tuple[int, int, int, int]  # x, y, w, h in pixels


@dataclass(frozen=True)
class Node:
    """An object: its name, attributes and box."""

    name: str
    attributes: tuple[str, ...]
    box: Box | None  # None where annotators drew none


@dataclass(frozen=True)
class Edge:
    """A relation, with its modifiers ((words, object id), …)."""

    subject: str
    name: str
    target: str
    modifiers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Graph:
    """Objects by their ids, and relations in a fixed order."""

    nodes: dict[str, Node]
    edges: tuple[Edge, ...]


def object_ids(scene: Scene) -> dict[int, str]:
    """The id of each thing: the role's name in scenes with roles, the image's id and a number elsewhere."""
    roles = {number: role for role, number in scene.roles.items() if isinstance(number, int)}
    if scene.verb:
        return {thing.number: roles.get(thing.number, f"other{thing.number:02d}") for thing in scene.things}
    return {thing.number: f"{scene.image}{thing.number:02d}" for thing in scene.things}


def complete(scene: Scene) -> Graph:
    """The truth: all objects with all attributes, all relations that hold, by their most specific names."""
    ids, boxes = object_ids(scene), scene.boxes()
    nodes = {
        ids[thing.number]: Node(thing.noun, tuple(thing.attributes.values()), whole(boxes[thing.number]))
        for thing in scene.things
    }
    edges = sorted(
        {
            Edge(ids[link.subject], link.name, ids[link.target], tuple((w, ids[n]) for w, n in link.modifiers))
            for link in scene.links
        },
        key=lambda edge: (edge.subject, edge.target, edge.name),
    )
    return Graph(dict(sorted(nodes.items())), tuple(edges))


def whole(box: tuple[float, float, float, float]) -> Box:
    """The smallest box in whole pixels around ``box``."""
    x, y, w, h = box
    left, top = int(x), int(y)
    return left, top, -int(-(x + w) // 1) - left, -int(-(y + h) // 1) - top


@dataclass(frozen=True)
class Draws:
    """Keyed draws for one image: each depends on what is drawn and for what, never on other draws."""

    image: str
    seed: int

    def happens(self, rate: float, what: str, *key: str) -> bool:
        return generator(self.seed, "sprites annotation", self.image, what, *key).random() < rate

    def one_of(self, options: list[str], what: str, *key: str) -> str:
        return generator(self.seed, "sprites annotation", self.image, what, "which", *key).choice(options)


def careless(truth: Graph, image: str, settings: SpritesSettings, seed: int) -> tuple[Graph, Graph]:
    """A scene's graph from which annotations are missing, and the one in which some are wrong as well."""
    draws = Draws(image, seed)
    first = {node.name: key for key, node in reversed(truth.nodes.items())}
    others = {key for key, node in truth.nodes.items() if first[node.name] != key}
    nodes = {
        key: replace(
            node,
            name=general_name(node.name, key, settings, draws),
            attributes=tuple(
                value
                for value in node.attributes
                if not draws.happens(settings.missing_attribute, "missing attribute", key, value)
            ),
        )
        for key, node in truth.nodes.items()
        if not draws.happens(
            settings.missing_another if key in others else settings.missing_object, "missing object", key
        )
    }
    edges = [
        replace(edge, name=_relation_name(edge, settings, draws))
        for edge in truth.edges
        if edge.subject in nodes
        and edge.target in nodes
        and not draws.happens(
            settings.missing_position if edge.name in POSITIONS else settings.missing_relation,
            "missing relation",
            edge.subject,
            edge.name,
            edge.target,
        )
    ]
    missing = Graph(nodes, tuple(edges))
    wrong_nodes = {key: _wrong_node(key, node, truth.nodes[key], settings, draws) for key, node in nodes.items()}
    wrong_edges = {_wrong_edge(edge, missing, truth, settings, draws): None for edge in edges}
    return missing, Graph(wrong_nodes, tuple(wrong_edges))


def general_name(
    noun: str, key: str, settings: SpritesSettings, draws: Draws, known: Mapping[str, str] | None = None
) -> str:
    """The noun, or a hypernym or synonym of it (of those in ``known``, if given)."""
    for rate, what, options in (
        (settings.hypernym, "hypernym", NOUNS[noun].hypernyms),
        (settings.synonym, "synonym", NOUNS[noun].synonyms),
    ):
        possible = [option for option in options if known is None or option in known]
        if possible and draws.happens(rate, what, key):
            return draws.one_of(possible, what, key)
    return noun


def confused_nouns(noun: str) -> list[str]:
    """What a thing may be taken for: things of its kind, or of no kind where it has none."""
    first = NOUNS[noun].hypernyms[:1]
    alike = [other.name for other in NOUNS.values() if other.hypernyms[:1] == first and other.name != noun]
    return alike or [other for other in NOUNS if other != noun]


def _relation_name(edge: Edge, settings: SpritesSettings, draws: Draws) -> str:
    key = (edge.subject, edge.name, edge.target)
    if edge.name in GENERAL_RELATIONS and draws.happens(settings.hypernym, "general relation", *key):
        return GENERAL_RELATIONS[edge.name]
    if edge.name in RELATION_SYNONYMS and draws.happens(settings.synonym, "relation synonym", *key):
        return RELATION_SYNONYMS[edge.name]
    return edge.name


def _wrong_node(key: str, node: Node, truth: Node, settings: SpritesSettings, draws: Draws) -> Node:
    name = node.name
    if draws.happens(settings.wrong_name, "wrong name", key):
        name = draws.one_of(confused_nouns(truth.name), "wrong name", key)
    attributes = []
    for value in node.attributes:
        if draws.happens(settings.wrong_attribute, "wrong attribute", key, value):
            group = GROUPS[GROUP_OF[value]]
            value = draws.one_of([other for other in group if other != value], "wrong attribute", key, value)
        attributes.append(value)
    return replace(node, name=name, attributes=tuple(attributes))


def _wrong_edge(edge: Edge, graph: Graph, truth: Graph, settings: SpritesSettings, draws: Draws) -> Edge:
    """The relation, or with its rate another one in its place, that does not hold."""
    key = (edge.subject, edge.name, edge.target)
    if not draws.happens(settings.wrong_relation, "wrong relation", *key):
        return edge
    true = {(e.subject, name, e.target) for e in truth.edges for name in (e.name, *ENTAILS.get(e.name, ()))}
    options = [replace(edge, target=node) for node in graph.nodes if node not in (edge.subject, edge.target)]
    options += [replace(edge, name=name) for name in CONFUSED_RELATIONS.get(edge.name, ())] * 2
    options = [option for option in options if (option.subject, option.name, option.target) not in true]
    return generator(draws.seed, "sprites annotation", draws.image, "which wrong relation", *key).choice(
        options or [edge]
    )


def role_nouns(
    scene: Scene, settings: SpritesSettings, seed: int, known: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The noun of each role as annotators agree ("" for none): with what is missing, and with wrong ones.

    The first two roles are always filled; ``known`` are the nouns that imSitu's space has.
    """
    draws = Draws(scene.image, seed)
    nouns = {thing.number: thing.noun for thing in scene.things}
    optional = optional_roles(scene)
    missing, annotated = {}, {}
    for role, filler in scene.roles.items():
        if not isinstance(filler, int):
            missing[role] = annotated[role] = filler
            continue
        noun = general_name(nouns[filler], role, settings, draws, known)
        if role in optional and draws.happens(settings.missing_relation, "missing relation", role):
            noun = ""
        missing[role] = annotated[role] = noun
        if noun and draws.happens(settings.wrong_name, "wrong name", role):
            options = [other for other in confused_nouns(nouns[filler]) if other in known]
            annotated[role] = draws.one_of(options, "wrong name", role)
    return missing, annotated


def optional_roles(scene: Scene) -> frozenset[str]:
    """The roles that are modifiers of the scene's verb."""
    return frozenset(role for _, role in VERBS[scene.verb].phrases)


def frames(
    scene: Scene, agreed: Mapping[str, str], settings: SpritesSettings, seed: int, known: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Three annotators' frames (role → noun or ""): each differs from what is agreed on now and then."""
    draws = Draws(scene.image, seed)
    for number in range(3):
        frame = {}
        for role, noun in agreed.items():
            frame[role] = noun
            if draws.happens(settings.disagreement, "disagreement", str(number), role):
                kind = NOUNS.get(noun)
                others = (*kind.hypernyms, *kind.synonyms) if kind else ()
                options = [other for other in others if other in known]
                if role in optional_roles(scene):
                    options.append("")
                frame[role] = draws.one_of(options or [noun], "disagreement", str(number), role)
        yield frame
