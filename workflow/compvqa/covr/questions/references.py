"""What templates do with subgraphs: take parts away, replace nodes, turn them into programs, find them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from compvqa.covr.executor import Entailment, meant
from compvqa.covr.inflection import unsayable
from compvqa.covr.subgraphs.subgraph import Edge, Held, Modifier, Reference, Subgraph, make
from compvqa.programs.rows import Row
from compvqa.scenes.graph import Relation, SceneGraph

ATTRIBUTE = "attr"  # in the key of a distractor whose attribute differs


@lru_cache(maxsize=20_000)
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
    """Whether a relation or a noun says an attribute again: "sitting man that is sitting on a sofa", "metal metal rod"
    (its root's noun, or a noun below)."""
    if g.attribute is not None and g.attribute in g.name.split(" "):
        return True
    return any(g.attribute in edge.name.split(" ") or repeats_attribute(edge.target) for edge in g.edges)


def repeats_noun(g: Subgraph, above: frozenset[str] = frozenset()) -> bool:
    """Whether a noun comes twice on one way from the root: "a counter that is on a counter"."""
    below = above | {g.name}
    return g.name in above or any(repeats_noun(edge.target, below) for edge in g.edges)


def names(g: Reference) -> Iterator[tuple[str, str]]:
    """The kind and the name of all that the reference names."""
    if isinstance(g, Held):
        g = g.whole
    yield "noun", g.name
    if g.attribute is not None:
        yield "attribute", g.attribute
    for edge in g.edges:
        yield "relation", edge.name
        yield from names(edge.target)
        yield from (("noun", modifier.noun) for modifier in edge.modifiers)


@lru_cache(maxsize=20_000)
def unclear(g: Subgraph) -> str | None:
    """Why nothing should be asked about the subgraph, if so."""
    if alike_branches(g):
        return "two branches alike"
    if repeats_attribute(g):
        return "attribute said twice"
    return "a name that no sentence can be made with" if any(unsayable(*name) for name in names(g)) else None


def rows(g: Reference, start: int = 0) -> list[Row]:
    """The program rows that find the objects ``g`` refers to, the first of them being row ``start``.

    Targets come before the root, as in Table 10; the last row gives the objects.
    """
    if isinstance(g, Held):
        return _held_rows(g, start)
    result: list[Row] = []
    targets = []
    for edge in g.edges:
        targets.append(_target_rows(edge, result, start))
    result.append(Row("Find", (g.name,)))
    if g.attribute is not None:
        result.append(Row("Filter", (g.attribute,), (start + len(result) - 1,)))
    for edge, found in zip(g.edges, targets, strict=True):
        result.append(_relation_row(edge, start + len(result) - 1, found))
    return result


def _held_rows(g: Held, start: int) -> list[Row]:
    """The rows of the subject, of the target, and the relation from the one to the other."""
    result = rows(g.subject, start)
    subject = start + len(result) - 1
    target, *modifiers = _target_rows(g.edge, result, start)
    return [*result, Row("WithRelationObject", _names(g.edge), (subject, target, *modifiers))]


def condition_rows(attribute: str | None, edges: Sequence[Edge]) -> tuple[Row, ...]:
    """A quantifier's sub-program: whether the object under test has the attribute and all the relations."""
    result: list[Row] = []
    targets = []
    for edge in edges:
        targets.append(_target_rows(edge, result, 0))
    result.append(Row("Scene"))
    if attribute is not None:
        result.append(Row("Filter", (attribute,), (len(result) - 1,)))
    for edge, found in zip(edges, targets, strict=True):
        result.append(_relation_row(edge, len(result) - 1, found))
    result.append(Row("Exists", (), (len(result) - 1,)))
    return tuple(result)


def object_rows(edge: Edge, subjects: int, start: int) -> list[Row]:
    """The rows that find all that the objects of row ``subjects`` have the relation to, whatever it is."""
    result = [Row("Scene")]
    found = _modifier_rows(edge, result, start)
    result.append(Row("WithRelationObject", _names(edge), (subjects, start, *found)))
    return result


def between_rows(edge: Edge, subject: int, targets: int, start: int) -> list[Row]:
    """The rows that give all relations, with the edge's modifiers, from the one object of row ``subject`` to those of
    row ``targets``."""
    result: list[Row] = []
    found = _modifier_rows(edge, result, start)
    names = tuple(modifier.name for modifier in edge.modifiers)
    return [*result, Row("RelationBetween", names, (subject, targets, *found))]


def _target_rows(edge: Edge, result: list[Row], start: int) -> list[int]:
    """Append the rows of a relation's target and modifiers; give where their values are."""
    result.extend(rows(edge.target, start + len(result)))
    return [start + len(result) - 1, *_modifier_rows(edge, result, start)]


def _modifier_rows(edge: Edge, result: list[Row], start: int) -> list[int]:
    found = []
    for modifier in edge.modifiers:
        result.append(Row("Find", (modifier.noun,)))
        found.append(start + len(result) - 1)
    return found


def _relation_row(edge: Edge, objects: int, found: list[int]) -> Row:
    return Row("WithRelation", _names(edge), (objects, *found))


def _names(edge: Edge) -> tuple[str, ...]:
    return (edge.name, *(modifier.name for modifier in edge.modifiers))


def matches(scene: SceneGraph, g: Reference, read: Entailment | None = None) -> list[str]:
    """The ids of the objects in the scene that ``g`` refers to: what :func:`rows` would find there.

    With ``read`` a name stands for all names that may be called so, else for itself.
    """
    if isinstance(g, Held):
        held = _related(scene, g.edge, matches(scene, g.subject, read), read)
        return [item for item in matches(scene, g.edge.target, read) if item in held]
    found = _named(scene, g.name, read)
    if g.attribute is not None:
        found = [item for item in found if meant(read, "attribute", g.attribute, scene.objects[item].attributes)]
    for edge in g.edges:
        if not found:
            return []
        subjects = _subjects(scene, edge, read)
        found = [item for item in found if item in subjects]
    return list(found)


def _related(scene: SceneGraph, edge: Edge, subjects: Container[str], read: Entailment | None) -> set[str]:
    """All that the subjects have the relation to."""
    found = meant(read, "relation", edge.name, scene.by_relation)
    held = (r for name in found for r in _modified(scene, scene.by_relation[name], edge, read))
    return {r.object_id for r in held if r.subject_id in subjects}


def _named(scene: SceneGraph, noun: str, read: Entailment | None) -> Sequence[str]:
    if read is None:
        return scene.by_name.get(noun, ())
    return [item for name in meant(read, "noun", noun, scene.by_name) for item in scene.by_name[name]]


def _subjects(scene: SceneGraph, edge: Edge, read: Entailment | None) -> set[str]:
    found = meant(read, "relation", edge.name, scene.by_relation)
    objects = matches(scene, edge.target, read) if found else ()
    if not objects:
        return set()
    held = (r for name in found for r in _modified(scene, scene.by_relation[name], edge, read))
    return {r.subject_id for r in held if r.object_id in objects}


def relations_between(scene: SceneGraph, subjects: Container[str], objects: Container[str], edge: Edge) -> set[str]:
    """The names of the relations, with the edge's modifiers, between them: what :func:`between_rows` would find."""
    found = (r for r in scene.relations if r.subject_id in subjects and r.object_id in objects)
    return {relation.name for relation in _modified(scene, found, edge)}


def targets(scene: SceneGraph, subjects: Container[str], edge: Edge) -> list[str]:
    """The ids of all objects that the subjects have the relation to: what :func:`object_rows` would find."""
    found = (r.object_id for r in _holding(scene, edge) if r.subject_id in subjects)
    return list(dict.fromkeys(found))


def _holding(scene: SceneGraph, edge: Edge) -> Iterable[Relation]:
    """The relations of the edge's name that have its modifiers."""
    return _modified(scene, scene.leading.get(edge.name, ()), edge)


def _modified(
    scene: SceneGraph, relations: Iterable[Relation], edge: Edge, read: Entailment | None = None
) -> Iterable[Relation]:
    """Those of the relations that have the edge's modifiers."""
    if not edge.modifiers:
        return relations
    modifiers = [(m.name, _named(scene, m.noun, read)) for m in edge.modifiers]
    return [
        relation
        for relation in relations
        if all(any(m == name and o in ids for m, o in relation.modifiers) for name, ids in modifiers)
    ]


def in_distractor(g: Subgraph, key: str, nodes: Sequence[int], names: Sequence[str]) -> Subgraph:
    """``g`` as a distractor scene holds it: with the names found there (a row of the related table).

    The key says what differs at each node: ``1_relation_neg_attr_root`` a relation, then the root's attribute.
    A key such as ``no_mult`` has no nodes: such a scene holds ``g`` itself.
    """
    return substitute(g, changes(key, nodes, names))


def changes(key: str, nodes: Sequence[int], names: Sequence[str]) -> dict[tuple[int, bool], str]:
    """What a distractor has in place of a subgraph's names, as :func:`substitute` takes it."""
    of_attribute = [ATTRIBUTE in part.split("_") for part in key.split("_neg_")]
    found = zip(nodes, of_attribute, names, strict=False)
    return {(node, attribute): name for node, attribute, name in found}


def substitute(g: Subgraph, names: Mapping[tuple[int, bool], str], root: int = 0) -> Subgraph:
    """``g``, whose root is node ``root``, with some nodes' names replaced, all at once.

    ``names`` has for (node, False) the node's new name and for (object, True) the object's new attribute. As
    the branches are put in order again, a node of the result may have another number.
    """
    edges = []
    for number, edge in g.numbered_edges():
        relation = root + number
        after = relation + 1 + edge.target.size
        modifiers = tuple(
            Modifier(names.get((at, False), m.name), names.get((at + 1, False), m.noun))
            for at, m in zip(range(after, after + 2 * len(edge.modifiers), 2), edge.modifiers, strict=True)
        )
        target = substitute(edge.target, names, relation + 1)
        edges.append(Edge(names.get((relation, False), edge.name), target, modifiers))
    return make(names.get((root, False), g.name), names.get((root, True), g.attribute), tuple(edges))
