"""What questions about leaf triplets answer, by plain loops over all relations of all scenes.

It reads a program's JSON, from its last row back, and shares no code with the executor or the generator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compvqa.scenes.graph import SceneGraph

Where = tuple[int, str]  # a scene's place in the question, and an object in it
Triplet = tuple[int, str, str, str, list[tuple[str, str]]]  # scene, subject, name, object, modifiers
DECIDE = {"All": all, "Some": any, "None": lambda given: not any(given)}


class Asked:
    """A question's scenes and a program, or a condition of the one object ``tested``."""

    def __init__(self, rows: list, scenes: Sequence[SceneGraph], tested: Where | None = None):
        self.rows, self.scenes, self.tested = rows, scenes, tested

    def answer(self) -> str:
        """What the last row gives, as a dataset writes it."""
        operation, arguments, given = self.rows[-1]
        if operation in DECIDE:
            verdicts = [Asked(arguments[0], self.scenes, one).holds() for one in self.found(given[0])]
            assert verdicts, "an empty scope"
            return str(DECIDE[operation](verdicts)).lower()
        good = self.relations_between(given[0]) if operation == "ChooseRelation" else {self.name_of_one(given[0])}
        if operation == "QueryName":
            return good.pop()
        [chosen] = [name for name in arguments if name in good]
        return chosen

    def holds(self) -> bool:
        """Whether a condition's last row, which asks whether anything is left, holds."""
        operation, _, given = self.rows[-1]
        assert operation == "Exists"
        return bool(self.found(given[0]))

    def name_of_one(self, row: int) -> str:
        [(scene, item)] = self.found(row)
        return self.scenes[scene].objects[item].name

    def relations_between(self, row: int) -> set[str]:
        operation, names, (subject, target, *objects) = self.rows[row]
        assert operation == "RelationBetween"
        wanted = list(zip(names, map(self.found, objects), strict=True))
        [subjects, targets] = self.found(subject), self.found(target)
        assert len(subjects) == 1
        return {t[2] for t in self.triplets() if ends(t, subjects, targets) and has_all(t, wanted)}

    def found(self, row: int) -> set[Where]:
        """The objects that a row gives."""
        operation, arguments, given = self.rows[row]
        every = {(number, item) for number, scene in enumerate(self.scenes) for item in scene.objects}
        if operation == "Scene":
            return every if self.tested is None else {self.tested}
        if operation == "Find":
            return {(n, item) for n, item in every if self.scenes[n].objects[item].name == arguments[0]}
        first, *others = map(self.found, given)
        if operation == "Filter":
            return {(n, item) for n, item in first if arguments[0] in self.scenes[n].objects[item].attributes}
        if operation in ("Unique", "AssertUnique"):
            assert len(first) == 1
            return first
        assert operation in ("WithRelation", "WithRelationObject"), operation
        (target, *objects), (name, *modifiers) = others, arguments
        wanted = list(zip(modifiers, objects, strict=True))
        hits = [t for t in self.triplets(name) if ends(t, first, target) and has_all(t, wanted)]
        return {(t[0], t[1] if operation == "WithRelation" else t[3]) for t in hits}

    def triplets(self, name: str | None = None) -> Iterator[Triplet]:
        """All relations of that name; where a scene has none, what their modifiers lead to, by both names."""
        for number, scene in enumerate(self.scenes):
            plain = [r for r in scene.relations if name in (None, r.name)]
            for r in plain:
                yield number, r.subject_id, r.name, r.object_id, list(r.modifiers)
            if not plain:
                for r in scene.relations:
                    for word, item in r.modifiers:
                        if f"{r.name} {word}" == name:
                            yield number, r.subject_id, name, item, []


def ends(triplet: Triplet, subjects: set[Where], targets: set[Where]) -> bool:
    scene, subject, _, target, _ = triplet
    return (scene, subject) in subjects and (scene, target) in targets


def has_all(triplet: Triplet, wanted: list[tuple[str, set[Where]]]) -> bool:
    """Whether the relation has each modifier, to one of the objects."""
    return all(any(word == name and (triplet[0], at) in them for word, at in triplet[4]) for name, them in wanted)
