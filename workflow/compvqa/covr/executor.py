"""Runs a program on scene graphs: what each operator of COVR's Table 11 does.

Inside, a set of objects is one list of object ids for each scene, in the scenes' order, so that no operator
has to look across scenes. An object is (index of its scene, object id), an image is the index of a scene.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from compvqa.programs.rows import Program, Row
from compvqa.scenes.graph import Object, Relation, SceneGraph

Objects = Sequence[Sequence[str]]
Modifiers = Sequence[tuple[str, Sequence[str]]]
Value = bool | int | str


class Entailment(Protocol):
    """What the executor asks of a lexicon."""

    def entailed(self, kind: str, name: str) -> frozenset[str]:
        """All names n such that what is truly called n may also be called ``name``, itself included."""


class Images(list[int]):
    """A set of images: the indices of their scenes."""


class Groups(list[tuple[int, Sequence[str]]]):
    """Objects grouped by image: (image, the objects in it)."""


class Relations(list[str]):
    """The names of relations between one object and others."""


class ProgramError(Exception):
    """A program has no answer on these scenes; ``reason`` says why in a few words, to be counted by."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)  # one is made for each object of a quantifier, and a frozen one takes three times as long
class _World:
    """What a program is run on; within a quantifier, one scene and in it the one object ``under_test``."""

    scenes: Sequence[SceneGraph]
    lexicon: Entailment | None
    under_test: str | None = None


def meant(lexicon: Entailment | None, kind: str, name: str, there: Collection[str]) -> Sequence[str]:
    """Those of the annotated names ``there``, of a scene or an object, that ``name`` stands for, in a stable order."""
    if lexicon is None:
        return (name,) if name in there else ()
    names = lexicon.entailed(kind, name)
    if len(names) == 1:
        (only,) = names
        return (only,) if only in there else ()
    return sorted(names.intersection(there))


def execute(program: Program, scenes: Sequence[SceneGraph], lexicon: Entailment | None = None) -> Value:
    """The program's answer on ``scenes``: a truth value, a number or a name.

    With a lexicon, a name stands for every name that entails it ("person" finds a man), as it should when the
    scenes are the complete truth; without one it stands for itself alone, as in COVR. Raises :class:`ProgramError`
    when there is no answer. The program must be well-typed (``LANGUAGE.check``).
    """
    return trace(program, scenes, lexicon)[-1]


def trace(
    program: Program,
    scenes: Sequence[SceneGraph],
    lexicon: Entailment | None = None,
    values: list[Any] | None = None,
) -> list[Any]:
    """The values of all rows of the program, in their order.

    They are appended to ``values`` one by one, where given, so that those above a failing row are known.
    """
    return _run(program, _World(scenes, lexicon), values)


def answer_text(value: Value) -> str:
    """An answer as it is stored: "true", "false", "3", "red"."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _run(program: Program, world: _World, values: list[Any] | None = None) -> list[Any]:
    values = [] if values is None else values
    for row in program:
        values.append(RUN[row.operation](world, row, [values[index] for index in row.dependencies]))
    return values


# --- sets of objects


def _scene(world: _World, row: Row, given: list) -> Objects:
    if world.under_test is not None:
        return [[world.under_test]]
    return [list(scene.objects) for scene in world.scenes]


def _find(world: _World, row: Row, given: list) -> Objects:
    (noun,) = row.arguments
    if world.lexicon is None:
        return [scene.by_name.get(noun, ()) for scene in world.scenes]
    return [
        [found for name in meant(world.lexicon, "noun", noun, scene.by_name) for found in scene.by_name[name]]
        for scene in world.scenes
    ]


def _has(world: _World, item: Object, attribute: str) -> bool:
    return bool(meant(world.lexicon, "attribute", attribute, item.attributes))


def _filter(world: _World, row: Row, given: list) -> Objects:
    return [
        [found for found in ids if _has(world, scene.objects[found], row.arguments[0])]
        for scene, ids in zip(world.scenes, given[0], strict=True)
    ]


def _related(world: _World, row: Row, given: list) -> Iterator[list[Relation]]:
    """Of each scene the relations that WithRelation's arguments and dependencies describe."""
    with_modifiers = len(row.arguments) > 1
    for index, (scene, subjects, targets) in enumerate(zip(world.scenes, given[0], given[1], strict=True)):
        found = []
        if subjects and targets:
            for name in meant(world.lexicon, "relation", row.arguments[0], scene.leading):
                for relation in scene.leading[name]:
                    if relation.subject_id in subjects and relation.object_id in targets:
                        found.append(relation)
        if found and with_modifiers:
            modifiers = _modifiers(row.arguments[1:], given[2:], index)
            found = [relation for relation in found if _modified(relation, modifiers)]
        yield found


def _modifiers(names: Sequence[str], given: list[Objects], index: int) -> Modifiers:
    return [(name, ids[index]) for name, ids in zip(names, given, strict=True)]


def _modified(relation: Relation, modifiers: Modifiers) -> bool:
    """Whether the relation has all the modifiers: each a name, and the objects of which it must have one."""
    return all(any(m == name and o in ids for m, o in relation.modifiers) for name, ids in modifiers)


def _with_relation(world: _World, row: Row, given: list) -> Objects:
    result = []
    for ids, related in zip(given[0], _related(world, row, given), strict=True):
        kept = {relation.subject_id for relation in related}
        result.append([found for found in ids if found in kept] if kept else ())
    return result


def _with_relation_object(world: _World, row: Row, given: list) -> Objects:
    result = []
    for ids, related in zip(given[1], _related(world, row, given), strict=True):
        kept = {relation.object_id for relation in related}
        result.append([found for found in ids if found in kept] if kept else ())
    return result


# --- from sets to one object, relations, images, groups, numbers


def _unique(world: _World, row: Row, given: list) -> tuple[int, str]:
    found = [(index, object_id) for index, ids in enumerate(given[0]) for object_id in ids]
    if len(found) != 1:
        raise ProgramError("not unique" if found else "nothing there")
    return found[0]


def _assert_unique(world: _World, row: Row, given: list) -> Objects:
    _unique(world, row, given)
    return given[0]


def _relation_between(world: _World, row: Row, given: list) -> Relations:
    (index, subject), targets, *rest = given
    modifiers = _modifiers(row.arguments, rest, index)
    found = (r for r in world.scenes[index].outgoing.get(subject, ()) if r.object_id in targets[index])
    return Relations(dict.fromkeys(relation.name for relation in found if _modified(relation, modifiers)))


def _unique_images(world: _World, row: Row, given: list) -> Images:
    return Images(index for index, ids in enumerate(given[0]) if ids)


def _group_by_images(world: _World, row: Row, given: list) -> Groups:
    return Groups((index, ids) for index, ids in enumerate(given[0]) if ids)


def _keep_if(compare: Callable[[int, int], bool]) -> Callable:
    def run(world: _World, row: Row, given: list) -> Groups:
        return Groups(group for group in given[0] if compare(len(group[1]), row.arguments[0]))

    return run


def _size(value: Objects | Images | Groups) -> int:
    return len(value) if isinstance(value, Images | Groups) else sum(map(len, value))


def _count(world: _World, row: Row, given: list) -> int:
    return _size(given[0])


def _exists(world: _World, row: Row, given: list) -> bool:
    return _size(given[0]) > 0


# --- truth values


def _compare(compare: Callable[[Any, Any], bool]) -> Callable:
    def run(world: _World, row: Row, given: list) -> bool:
        return compare(*given, *row.arguments)

    return run


def _and(world: _World, row: Row, given: list) -> bool:
    return given[0] and given[1]


def _or(world: _World, row: Row, given: list) -> bool:
    return given[0] or given[1]


def _quantifier(decide: Callable[[list[bool]], bool]) -> Callable:
    """A quantifier runs its sub-program on each object of the scope; it sees that object alone."""

    def run(world: _World, row: Row, given: list) -> bool:
        verdicts = []
        for scene, ids in zip(world.scenes, given[0], strict=True):
            for object_id in ids:
                verdicts.append(_run(row.arguments[0], _World((scene,), world.lexicon, object_id))[-1])
        if not verdicts:
            raise ProgramError("empty scope")
        return decide(verdicts)

    return run


def _all_same(world: _World, row: Row, given: list) -> bool:
    values = {
        _value(scene.objects[found], row.arguments[0])
        for scene, ids in zip(world.scenes, given[0], strict=True)
        for found in ids
    }
    if not values:
        raise ProgramError("empty scope")
    return len(values) == 1


# --- names


def _item(world: _World, where: tuple[int, str]) -> Object:
    return world.scenes[where[0]].objects[where[1]]


def _value(item: Object, group: str) -> str:
    values = [name for name, of in item.attributes.items() if of == group]
    if len(values) != 1:
        raise ProgramError("two values in one group" if values else "no value in the group")
    return values[0]


def _query_name(world: _World, row: Row, given: list) -> str:
    return _item(world, given[0]).name


def _query_attribute(world: _World, row: Row, given: list) -> str:
    return _value(_item(world, given[0]), row.arguments[0])


def _verify_attribute(world: _World, row: Row, given: list) -> bool:
    return _has(world, _item(world, given[0]), row.arguments[0])


def _the_one(choices: Sequence[str], good: list[bool]) -> str:
    if sum(good) != 1:
        raise ProgramError("both choices hold" if any(good) else "no such choice")
    return choices[good.index(True)]


def _choose_name(world: _World, row: Row, given: list) -> str:
    there = (_item(world, given[0]).name,)
    return _the_one(row.arguments, [bool(meant(world.lexicon, "noun", choice, there)) for choice in row.arguments])


def _choose_attribute(world: _World, row: Row, given: list) -> str:
    item = _item(world, given[0])
    return _the_one(row.arguments, [_has(world, item, choice) for choice in row.arguments])


def _choose_relation(world: _World, row: Row, given: list) -> str:
    good = [bool(meant(world.lexicon, "relation", choice, given[0])) for choice in row.arguments]
    return _the_one(row.arguments, good)


RUN: dict[str, Callable[[_World, Row, list], Any]] = {
    "Scene": _scene,
    "Find": _find,
    "Filter": _filter,
    "WithRelation": _with_relation,
    "WithRelationObject": _with_relation_object,
    "Unique": _unique,
    "AssertUnique": _assert_unique,
    "RelationBetween": _relation_between,
    "UniqueImages": _unique_images,
    "GroupByImages": _group_by_images,
    "KeepIfValuesCountEq": _keep_if(operator.eq),
    "KeepIfValuesCountGt": _keep_if(operator.gt),
    "KeepIfValuesCountLt": _keep_if(operator.lt),
    "KeepIfValuesCountGeq": _keep_if(operator.ge),
    "KeepIfValuesCountLeq": _keep_if(operator.le),
    "Count": _count,
    "Exists": _exists,
    "And": _and,
    "Or": _or,
    "eq": _compare(operator.eq),
    "gt": _compare(operator.gt),
    "lt": _compare(operator.lt),
    "geq": _compare(operator.ge),
    "leq": _compare(operator.le),
    "All": _quantifier(all),
    "Some": _quantifier(any),
    "None": _quantifier(lambda verdicts: not any(verdicts)),
    "AllSame": _all_same,
    "QueryName": _query_name,
    "QueryAttribute": _query_attribute,
    "VerifyAttribute": _verify_attribute,
    "ChooseName": _choose_name,
    "ChooseAttribute": _choose_attribute,
    "ChooseRelation": _choose_relation,
}
