"""What a question claims of its images: which subgraphs each of them holds or lacks, and which claims its answer needs.

A program's rows refer to objects ("man that holds a red cup", "red cup that a man holds"), and the annotations of each
of its scenes say how many there are. They may be wrong in two ways: there are ``more``, or there are ``fewer`` (what is
annotated is not there). A question needs the claim if its program gives another answer, or none, when the scene is
changed so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from compvqa.covr.executor import ProgramError, answer_text, execute
from compvqa.covr.questions.references import matches
from compvqa.covr.subgraphs.subgraph import Edge, Held, Modifier, Reference, Subgraph, make
from compvqa.programs.rows import Program, Row, from_json, is_program, to_json, walk
from compvqa.scenes.graph import Object, Relation, SceneGraph, without

MORE, FEWER = "more", "fewer"
CHANGES = (MORE, FEWER)
CACHE = 500_000
# What a row's objects are: a reference; what becomes one with the name that is asked for; or None
Described = Reference | Callable[[str], Reference] | None


def described(program: Program, answer: str, scope: Reference | None = None) -> list[Reference]:
    """The references that a program with its answer makes, each once.

    They are those that no other row adds to; of an attribute, name or relation that is asked for, those with each
    choice, or with the answer; of a quantifier, the scope and the scope with the condition. ``scope``: what a
    sub-program tests.
    """
    known: list[Described] = []
    asked: list[Reference] = []
    used: set[int] = set()
    for row in program:
        given = [known[index] for index in row.dependencies]
        known.append(_described(row, given, scope))
        asked += _asked(row, given[:1], answer)
        used.update(row.dependencies if row.operation in _ADDING and known[-1] is not None else ())
    whole = [g for index, g in enumerate(known) if isinstance(g, Subgraph | Held) and index not in used]
    return list(dict.fromkeys([*whole, *asked]))


_ADDING = ("Filter", "WithRelation", "WithRelationObject", "RelationBetween")


def _described(row: Row, given: Sequence[Described], scope: Reference | None) -> Described:
    if row.operation == "Find":
        return make(row.arguments[0])
    if row.operation == "Scene":
        return scope
    if row.operation in ("Unique", "AssertUnique"):
        return given[0]
    subject, *others = [*given, None]
    if row.operation not in _ADDING or not isinstance(subject, Subgraph | Held):
        return None
    if row.operation == "Filter":
        return subject if _root(subject).attribute is not None else _attributed(subject, row.arguments[0])
    target, between = others[0], row.operation == "RelationBetween"
    modifiers = _modifiers(row.arguments if between else row.arguments[1:], others[1:-1])
    if not isinstance(target, Subgraph):  # of something that is held by another, no tree can say more
        return None if between or target else partial(_holding, subject, row.arguments[0], modifiers)
    if between:
        return partial(_related, subject, target, modifiers)
    if row.operation == "WithRelation":
        return _related(subject, target, modifiers, row.arguments[0])
    return Held(subject, Edge(row.arguments[0], target, modifiers)) if isinstance(subject, Subgraph) else None


def _root(g: Reference) -> Subgraph:
    """What a reference says of its objects themselves."""
    return g.edge.target if isinstance(g, Held) else g


def _rooted(g: Reference, root: Subgraph) -> Reference:
    """The reference that says this of its objects instead."""
    return replace(g, edge=replace(g.edge, target=root)) if isinstance(g, Held) else root


def _attributed(g: Reference, attribute: str) -> Reference:
    return _rooted(g, replace(_root(g), attribute=attribute))


def _modifiers(names: Sequence[str], objects: Sequence[Described]) -> tuple[Modifier, ...]:
    return tuple(Modifier(name, g.name) for name, g in zip(names, objects, strict=True) if isinstance(g, Subgraph))


def _related(g: Reference, target: Subgraph, modifiers: tuple[Modifier, ...], relation: str) -> Reference:
    root = _root(g)
    return _rooted(g, make(root.name, root.attribute, (*root.edges, Edge(relation, target, modifiers))))


def _holding(g: Reference, relation: str, modifiers: tuple[Modifier, ...], noun: str) -> Reference:
    return _related(g, make(noun), modifiers, relation)


def _asked(row: Row, given: Sequence[Described], answer: str) -> Iterator[Reference]:
    """The references of which a row asks whether they are there."""
    for first in given:
        if isinstance(first, Subgraph | Held):
            if row.operation in ("VerifyAttribute", "ChooseAttribute"):
                yield from (_attributed(first, name) for name in row.arguments)
            elif row.operation == "QueryAttribute":
                yield _attributed(first, answer)
            elif row.operation in ("All", "Some", "None"):
                yield from described(row.arguments[0], answer, first)
        elif first is not None:
            yield from map(first, {"QueryName": (answer,)}.get(row.operation, row.arguments))


def changed(scene: SceneGraph, g: Reference, change: str) -> SceneGraph:
    """The scene with one more object that matches ``g`` and all that it needs (new objects), or without any."""
    if change == FEWER:
        return without(scene, set(matches(scene, g)))
    objects, relations = dict(scene.objects), list(scene.relations)
    _add(g.whole if isinstance(g, Held) else g, objects, relations)
    return SceneGraph(scene.scene_id, objects, tuple(relations))


def _add(g: Subgraph, objects: dict[str, Object], relations: list[Relation]) -> str:
    """Add an object that matches ``g``; give its id, which no annotated object has."""
    name = f"\x1f{len(objects)}"
    objects[name] = Object(name, g.name, {} if g.attribute is None else {g.attribute: None})
    for edge in g.edges:
        target = _add(edge.target, objects, relations)
        modifiers = tuple((m.name, _add(make(m.noun), objects, relations)) for m in edge.modifiers)
        relations.append(Relation(edge.name, name, target, modifiers))
    return name


def general(g: Reference, other: Reference) -> bool:
    """Whether all that matches ``other`` matches ``g``, by what the two say alone."""
    if isinstance(g, Held):
        if not isinstance(other, Held):
            return False
        same = (g.subject, g.edge.name, g.edge.modifiers) == (other.subject, other.edge.name, other.edge.modifiers)
        return same and general(_root(g), _root(other))
    of = _root(other)
    return g.name == of.name and g.attribute in (None, of.attribute) and all(edge in of.edges for edge in g.edges)


@dataclass(frozen=True)
class Claim:
    """That scene ``scene_id`` holds as many objects that match ``graph``, ``n``, as are annotated there.

    ``change``: which of CHANGES, were it true, would take the question its answer.
    """

    scene_id: str
    graph: Reference
    n: int
    change: str


class Claims:
    """Gives the claims that questions need.

    What a change does is tried out once for all questions that differ in names alone, of scenes that are alike in all
    that is named: neither the order of questions nor what other questions there are can change a claim.
    """

    def __init__(self, scene: Callable[[str], SceneGraph]):
        self.scene = scene
        self._tried: dict[tuple, list[tuple[int, str]]] = {}
        self._program = lru_cache(maxsize=CACHE)(_read)
        self._named = lru_cache(maxsize=CACHE)(self._looked_at)
        self.count = lru_cache(maxsize=CACHE)(self._count)

    def of(self, text: str, answer: str, scene_ids: Sequence[str]) -> Iterator[Claim]:
        """The claims that a question's answer needs, by its program as JSON.

        Where a change of one reference is a change of another too, the claim is about the one that says it all: there
        are more of the most general, and fewer of the most special.
        """
        known = answer in ("true", "false") or answer.isdigit()
        asked = self._program(text, "" if known else answer)
        looks = [self._named(scene_id, asked.names) if asked.names else scene_id for scene_id in scene_ids]
        alike = (asked.structure, answer if answer in ("true", "false") else "", *sorted(looks))
        for place, (scene_id, look) in enumerate(zip(scene_ids, looks, strict=True)):
            needed = self._tried.get((look, *alike))
            if needed is None:
                if len(self._tried) >= CACHE:
                    self._tried.clear()
                scenes = [self.scene(other) for other in scene_ids]
                needed = self._tried[look, *alike] = list(_needed(asked, answer, scenes, place))
            for number, change in needed:
                g = asked.graphs[number]
                yield Claim(scene_id, g, self.count(scene_id, g), change)

    def _looked_at(self, scene_id: str, names: Sequence[str]) -> str:
        return looked_at(self.scene(scene_id), names)

    def _count(self, scene_id: str, g: Reference) -> int:
        return len(matches(self.scene(scene_id), g))


def looked_at(scene: SceneGraph, names: Sequence[str]) -> str:
    """All that a program that names these alone sees of a scene: names are numbers here, and so are objects."""
    numbers = {name: number for number, name in enumerate(names)}
    found = [item for name in names for item in scene.by_name.get(name, ())]
    place = {item: number for number, item in enumerate(found)}
    things = [
        (
            numbers[scene.objects[item].name],
            [numbers[a] for a in sorted(scene.objects[item].attributes) if a in numbers],
        )
        for item in found
    ]
    links = []
    for relation in scene.relations:
        ends = place.get(relation.subject_id, -1), place.get(relation.object_id, -1)
        modifiers = [(numbers.get(m, -1), place.get(item, -1), numbers.get(f"{relation.name} {m}", -1))
                     for m, item in relation.modifiers]  # fmt: skip
        if relation.name in numbers or any(both >= 0 for *_, both in modifiers):
            links.append((numbers.get(relation.name, -1), *ends, modifiers))
    return repr((things, sorted(links)))


@dataclass(frozen=True)
class _Asked:
    """A program, the references that it makes, what it has in common with those that differ in names alone, and the
    names in the order in which it has them; none where it looks at what it does not name."""

    program: Program
    graphs: Sequence[Reference]
    structure: str
    names: tuple[str, ...]


_OPEN = ("QueryName", "QueryAttribute", "AllSame")  # what they look at, no program names


def _read(text: str, answer: str) -> _Asked:
    program = from_json(text)
    graphs = described(program, answer)
    if any(row.operation in _OPEN for row in walk(program)) or any(row.operation == "Scene" for row in program):
        return _Asked(program, graphs, f"{text} {answer}", ())
    names: dict[str, int] = {}
    structure = to_json(_renamed(program, names))
    return _Asked(program, graphs, f"{structure} {names.get(answer, answer)}", tuple(names))


def _renamed(program: Program, names: dict[str, int]) -> Program:
    """The program with the numbers of names instead of them; new ones are put into ``names``."""
    rows = []
    for row in program:
        given = [
            _renamed(a, names)
            if is_program(a)
            else f"name {names.setdefault(a, len(names))}"
            if isinstance(a, str)
            else a
            for a in row.arguments
        ]
        rows.append(replace(row, arguments=tuple(given)))
    return tuple(rows)


def _needed(asked: _Asked, answer: str, scenes: Sequence[SceneGraph], place: int) -> Iterator[tuple[int, str]]:
    """The changes of the scene at ``place`` after which the program does not give the answer: a reference's number,
    how."""
    scene, graphs = scenes[place], asked.graphs
    held = [len(matches(scene, g)) for g in graphs]
    for change in CHANGES:
        found = [
            number
            for number, g in enumerate(graphs)
            if (held[number] or change == MORE)
            and _fails(asked.program, answer, scenes, place, changed(scene, g, change))
        ]
        for number in found:
            rest = [graphs[other] for other in found if other != number]
            said = any(general(g, graphs[number]) if change == MORE else general(graphs[number], g) for g in rest)
            if not said:
                yield number, change


def _fails(program: Program, answer: str, scenes: Sequence[SceneGraph], place: int, other: SceneGraph) -> bool:
    """Whether the program gives another answer, or none, with the other scene in the place of the one that is there."""
    try:
        return answer_text(execute(program, [*scenes[:place], other, *scenes[place + 1 :]])) != answer
    except ProgramError:
        return True
