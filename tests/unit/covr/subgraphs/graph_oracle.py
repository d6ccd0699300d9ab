"""All subgraphs of one scene by nested loops over objects and relations: the plain reading of the grammar."""

from itertools import combinations

from compvqa.covr.subgraphs.subgraph import Edge, Modifier, Subgraph, make
from compvqa.scenes.graph import Relation, SceneGraph

Tree = tuple  # (object id, attribute or None, ((relation, chosen modifiers, tree below), …))


def trees(scene: SceneGraph, full: bool = False) -> dict[tuple[Subgraph, tuple[str, ...]], set[Tree]]:
    """Each subgraph with the objects bound to it (preorder), and the trees that say so."""
    found: dict[tuple[Subgraph, tuple[str, ...]], set[Tree]] = {}
    for root in scene.objects:
        for tree in _trees_from(scene, root, 2, full):
            graph, ids = _read(scene, tree)
            found.setdefault((graph, ids), set()).add(tree)
    return found


def _trees_from(scene: SceneGraph, root: str, relations_left: int, full: bool) -> list[Tree]:
    noun = scene.objects[root].name
    branches = []
    if relations_left:
        for relation in scene.relations:
            if relation.subject_id != root:
                continue
            for below in _trees_from(scene, relation.object_id, relations_left - 1, full):
                for count in range(len(relation.modifiers) + 1):
                    for chosen in combinations(relation.modifiers, count):
                        branch = (relation, chosen, below)
                        if noun not in _nouns(scene, branch):
                            branches.append(branch)
    sets = [()] + [(branch,) for branch in branches]
    for pair in combinations(branches, 2):
        if pair[0][2][0] == pair[1][2][0]:
            continue
        if full and not _objects(pair[0][2]) & _objects(pair[1][2]):
            sets.append(pair)
        if not full and all(not chosen and not below[2] for _, chosen, below in pair):
            sets.append(pair)
    return [(root, attribute, branch) for attribute in (None, *scene.objects[root].attributes) for branch in sets]


def _nouns(scene: SceneGraph, branch: tuple) -> set[str]:
    _, chosen, below = branch
    nouns = {scene.objects[i].name for _, i in chosen} | {scene.objects[below[0]].name}
    return nouns.union(*(_nouns(scene, inner) for inner in below[2]))


def _objects(tree: Tree) -> set[str]:
    return {tree[0]}.union(*(_objects(below) for _, _, below in tree[2]))


def _read(scene: SceneGraph, tree: Tree) -> tuple[Subgraph, tuple[str, ...]]:
    root, attribute, branches = tree
    parts = []
    for relation, chosen, below in branches:
        target, ids = _read(scene, below)
        named = sorted((name, scene.objects[i].name, i) for name, i in chosen)
        edge = Edge(relation.name, target, tuple(Modifier(name, noun) for name, noun, _ in named))
        only = make("", None, (edge,)).json()
        parts.append((only, below[0], edge, ids + tuple(i for _, _, i in named)))
    parts.sort(key=lambda part: part[:2])
    graph = make(scene.objects[root].name, attribute, tuple(edge for _, _, edge, _ in parts))
    return graph, (root, *(i for part in parts for i in part[3]))


def usable(scene: SceneGraph, tree: Tree, settings) -> bool:
    """Whether the query side accepts the tree."""
    root, _, branches = tree
    return _good_object(scene, root, settings) and all(
        _good_branch(scene, relation, chosen, below, settings) for relation, chosen, below in branches
    )


def _good_branch(scene: SceneGraph, relation: Relation, chosen: tuple, below: Tree, settings) -> bool:
    dull = (
        relation.name == settings.dull_relation
        and scene.objects[below[0]].name in settings.dull_nouns
        and below[1] is None
    )
    return (
        len(chosen) == len(relation.modifiers)
        and relation.name not in settings.ignore_relations
        and not dull
        and all(_good_object(scene, i, settings) for _, i in chosen)
        and usable(scene, below, settings)
    )


def _good_object(scene: SceneGraph, object_id: str, settings) -> bool:
    thing = scene.objects[object_id]
    if thing.name in settings.ignore_nouns:
        return False
    if thing.box is None:
        return settings.no_boxes == "accept"
    return thing.box[2] * thing.box[3] > settings.min_box_area
