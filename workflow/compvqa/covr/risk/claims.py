"""What a question claims of its images: which subgraphs each of them holds or lacks, and which claims its answer needs.

A program's rows describe subgraphs ("man that holds a red cup"), and the annotations of each of its scenes say how many
objects match one. They may be wrong in two ways: there are ``more``, or there are ``fewer`` (what is annotated is not
there). A question needs the claim if its program gives another answer, or none, when the scene is changed so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from compvqa.covr.executor import ProgramError, answer_text, execute
from compvqa.covr.questions.references import matches
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, Subgraph, make
from compvqa.programs.rows import Program, Row, anonymize, from_json
from compvqa.scenes.graph import Object, Relation, SceneGraph, without

MORE, FEWER = "more", "fewer"
CHANGES = (MORE, FEWER)
CACHE = 500_000
# What a row's objects are: a subgraph; what becomes one with the name that is asked for; or None
Described = Subgraph | Callable[[str], Subgraph] | None


def described(program: Program, answer: str, scope: Subgraph | None = None) -> list[Subgraph]:
    """The subgraphs that a program with its answer speaks of, each once.

    They are those that no other row adds to; of an attribute, name or relation that is asked for, those with each
    choice, or with the answer; of a quantifier, the scope and the scope with the condition. ``scope``: what a
    sub-program tests.
    """
    known: list[Described] = []
    asked: list[Subgraph] = []
    for row in program:
        given = [known[index] for index in row.dependencies]
        known.append(_described(row, given, scope))
        asked += _asked(row, given[:1], answer)
    used = {index for row in program if row.operation in _ADDING for index in row.dependencies}
    whole = [g for index, g in enumerate(known) if isinstance(g, Subgraph) and index not in used]
    return list(dict.fromkeys([*whole, *asked]))


_ADDING = ("Filter", "WithRelation", "WithRelationObject", "RelationBetween")


def _described(row: Row, given: Sequence[Described], scope: Subgraph | None) -> Described:
    if row.operation == "Find":
        return make(row.arguments[0])
    if row.operation == "Scene":
        return scope
    if row.operation in ("Unique", "AssertUnique"):
        return given[0]
    subject, *others = [*given, None]
    if row.operation not in _ADDING or not isinstance(subject, Subgraph):
        return None
    if row.operation == "Filter":
        return replace(subject, attribute=row.arguments[0]) if subject.attribute is None else subject
    target, between = others[0], row.operation == "RelationBetween"
    modifiers = _modifiers(row.arguments if between else row.arguments[1:], others[1:-1])
    if not isinstance(target, Subgraph):
        return None if between else partial(_holding, subject, row.arguments[0], modifiers)
    if between:
        return partial(_related, subject, target, modifiers)
    return _related(subject, target, modifiers, row.arguments[0])


def _modifiers(names: Sequence[str], objects: Sequence[Described]) -> tuple[Modifier, ...]:
    return tuple(Modifier(name, g.name) for name, g in zip(names, objects, strict=True) if isinstance(g, Subgraph))


def _related(subject: Subgraph, target: Subgraph, modifiers: tuple[Modifier, ...], relation: str) -> Subgraph:
    return make(subject.name, subject.attribute, (*subject.edges, Edge(relation, target, modifiers)))


def _holding(subject: Subgraph, relation: str, modifiers: tuple[Modifier, ...], noun: str) -> Subgraph:
    return _related(subject, make(noun), modifiers, relation)


def _asked(row: Row, given: Sequence[Described], answer: str) -> Iterator[Subgraph]:
    """The subgraphs that a row asks about."""
    for first in given:
        if isinstance(first, Subgraph):
            if row.operation in ("VerifyAttribute", "ChooseAttribute"):
                yield from (replace(first, attribute=name) for name in row.arguments)
            elif row.operation == "QueryAttribute":
                yield replace(first, attribute=answer)
            elif row.operation in ("All", "Some", "None"):
                yield from described(row.arguments[0], answer, first)
        elif first is not None:
            yield from map(first, {"QueryName": (answer,)}.get(row.operation, row.arguments))


def changed(scene: SceneGraph, g: Subgraph, change: str) -> SceneGraph:
    """The scene with one more object that matches ``g`` and all that it needs (new objects), or without any."""
    if change == FEWER:
        return without(scene, set(matches(scene, g)))
    objects, relations = dict(scene.objects), list(scene.relations)
    _add(g, objects, relations)
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


def general(g: Subgraph, other: Subgraph) -> bool:
    """Whether all that matches ``other`` matches ``g``, by what the two say alone."""
    return (
        g.name == other.name and g.attribute in (None, other.attribute) and all(edge in other.edges for edge in g.edges)
    )


@dataclass(frozen=True)
class Claim:
    """That scene ``scene_id`` holds as many objects that match ``graph``, ``n``, as are annotated there.

    ``change``: which of CHANGES, were it true, would take the question its answer.
    """

    scene_id: str
    graph: Subgraph
    n: int
    change: str


Counts = tuple[int, ...]  # objects in a scene that match each of a question's subgraphs


class Claims:
    """Gives the claims that questions need.

    What a change does hangs on the program's structure and on how many objects match each subgraph in each scene, not
    on names: it is tried out once for all questions that are alike in these.
    """

    def __init__(self, scene: Callable[[str], SceneGraph]):
        self.scene = scene
        self._tried: dict[tuple, list[tuple[int, str]]] = {}
        self._program = lru_cache(maxsize=CACHE)(_read)
        self.count = lru_cache(maxsize=CACHE)(self._count)

    def of(self, text: str, answer: str, scene_ids: Sequence[str]) -> Iterator[Claim]:
        """The claims that a question's answer needs, by its program as JSON.

        Where a change of one subgraph is a change of another too, the claim is about the one that says it all: there
        are more of the most general, and fewer of the most special.
        """
        said = answer in ("true", "false") or answer.isdigit()
        program, structure, graphs = self._program(text, "" if said else answer)
        counts = [tuple(self.count(scene_id, g) for g in graphs) for scene_id in scene_ids]
        alike = (structure, answer if answer in ("true", "false") else "", *sorted(counts))
        for place, (scene_id, held) in enumerate(zip(scene_ids, counts, strict=True)):
            needed = self._tried.get((held, *alike))
            if needed is None:
                scenes = [self.scene(other) for other in scene_ids]
                needed = self._tried[held, *alike] = list(_needed(program, answer, scenes, place, graphs, held))
            yield from (Claim(scene_id, graphs[number], held[number], change) for number, change in needed)

    def _count(self, scene_id: str, g: Subgraph) -> int:
        return len(matches(self.scene(scene_id), g))


def _read(text: str, answer: str) -> tuple[Program, str, list[Subgraph]]:
    """A program, its structure, and the subgraphs that it speaks of."""
    program = from_json(text)
    return program, anonymize(program, numbers=True), described(program, answer)


def _needed(
    program: Program,
    answer: str,
    scenes: Sequence[SceneGraph],
    place: int,
    graphs: Sequence[Subgraph],
    held: Counts,
) -> Iterator[tuple[int, str]]:
    """The changes of the scene at ``place`` after which the program does not give the answer: a graph's number, how."""
    for change in CHANGES:
        found = [
            number
            for number, g in enumerate(graphs)
            if (held[number] or change == MORE)
            and _fails(program, answer, scenes, place, changed(scenes[place], g, change))
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
