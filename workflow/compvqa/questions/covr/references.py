"""What templates do with subgraphs: take parts away, replace nodes, turn them into programs, find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compvqa.graphs.subgraph import Edge, Subgraph, make
from compvqa.programs.operators import Row
from compvqa.scenes.graph import SceneGraph

ATTRIBUTE, NAME = "attr", "name"


def without_attribute(g: Subgraph) -> Subgraph:
    """The subgraph without its root's attribute."""
    return replace(g, attribute=None)


def with_edges(g: Subgraph, edges: Sequence[Edge]) -> Subgraph:
    """The subgraph's root with only these relations."""
    return make(g.name, g.attribute, tuple(edges))


def alike_branches(g: Subgraph) -> bool:
    """Whether two relations of one object have the same name and the same target noun.

    A program can't tell such branches' targets apart, so nothing should be asked about them.
    """
    names = [(edge.name, edge.target.name) for edge in g.edges]
    return len(set(names)) < len(names) or any(alike_branches(edge.target) for edge in g.edges)


def repeats_attribute(g: Subgraph) -> bool:
    """Whether a relation says its subject's attribute again: "sitting man that is sitting on a sofa"."""
    return any(g.attribute in edge.name.split(" ") or repeats_attribute(edge.target) for edge in g.edges)


def rows(g: Subgraph, start: int = 0) -> list[Row]:
    """The program rows that find the objects ``g`` refers to, the first of them being row ``start``.

    Targets come before the root, as in Table 10; the last row gives the objects.
    """
    result, targets = [], []
    for edge in g.edges:
        targets.append(_target_rows(edge, result, start))
    result.append(Row("Find", (g.name,)))
    if g.attribute is not None:
        result.append(Row("Filter", (g.attribute,), (start + len(result) - 1,)))
    for edge, found in zip(g.edges, targets, strict=True):
        result.append(_relation_row(edge, start + len(result) - 1, found))
    return result


def condition_rows(attribute: str | None, edges: Sequence[Edge]) -> tuple[Row, ...]:
    """A quantifier's sub-program: whether the object under test has the attribute and all the relations."""
    result, targets = [], []
    for edge in edges:
        targets.append(_target_rows(edge, result, 0))
    result.append(Row("Scene"))
    if attribute is not None:
        result.append(Row("Filter", (attribute,), (len(result) - 1,)))
    for edge, found in zip(edges, targets, strict=True):
        result.append(_relation_row(edge, len(result) - 1, found))
    result.append(Row("Exists", (), (len(result) - 1,)))
    return tuple(result)


def _target_rows(edge: Edge, result: list[Row], start: int) -> list[int]:
    """Append the rows of a relation's target and modifiers; give where their values are."""
    result.extend(rows(edge.target, start + len(result)))
    found = [start + len(result) - 1]
    for modifier in edge.modifiers:
        result.append(Row("Find", (modifier.noun,)))
        found.append(start + len(result) - 1)
    return found


def _relation_row(edge: Edge, objects: int, found: list[int]) -> Row:
    return Row("WithRelation", (edge.name, *(m.name for m in edge.modifiers)), (objects, *found))


def matches(scene: SceneGraph, g: Subgraph) -> list[str]:
    """The ids of the objects in the scene that ``g`` refers to: what :func:`rows` would find there."""
    found = scene.by_name.get(g.name)
    if not found:
        return []
    if g.attribute is not None:
        found = [item for item in found if g.attribute in scene.objects[item].attributes]
    for edge in g.edges:
        if not found:
            return []
        subjects = _subjects(scene, edge)
        found = [item for item in found if item in subjects]
    return list(found)


def _subjects(scene: SceneGraph, edge: Edge) -> set[str]:
    relations = scene.by_relation.get(edge.name)
    targets = matches(scene, edge.target) if relations else ()
    if not targets:
        return set()
    modifiers = [(m.name, scene.by_name.get(m.noun, ())) for m in edge.modifiers]
    return {
        relation.subject_id
        for relation in relations
        if relation.object_id in targets
        and all(any(m == name and o in ids for m, o in relation.modifiers) for name, ids in modifiers)
    }


def substitute(g: Subgraph, node: int, name: str, attribute: bool = False) -> Subgraph:
    """``g`` with the name of node ``node`` (or the attribute of object ``node``) replaced by ``name``."""
    if node == 0:
        return replace(g, attribute=name) if attribute else replace(g, name=name)
    edges = []
    for number, edge in g.numbered_edges():
        target, after = number + 1, number + 1 + edge.target.size
        if node == number:
            edge = replace(edge, name=name)
        elif target <= node < after:
            edge = replace(edge, target=substitute(edge.target, node - target, name, attribute))
        elif after <= node < after + 2 * len(edge.modifiers):
            position, is_noun = divmod(node - after, 2)
            changed = replace(edge.modifiers[position], **{"noun" if is_noun else "name": name})
            edge = replace(edge, modifiers=(*edge.modifiers[:position], changed, *edge.modifiers[position + 1 :]))
        edges.append(edge)
    return make(g.name, g.attribute, tuple(edges))
