"""Minimal tests of a held-out pair: whether the one thing of a picture is of a pair (section 3 and appendix).

A group asks one question of four pictures, in one variant of place and light: of a thing of the target pair (yes), and
of things that differ from it in one value, the other, or both (no). ``number`` of a question is four times its group's
plus its place in it: 0 for yes, then another second value, another first, both others. Numbers of questions that are
left out, whose picture shows the held-out pair, are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from compvqa import query
from compvqa.clevr.generate import identity
from compvqa.clevr.hope.sets import PairSettings, vocabulary_of
from compvqa.clevr.language import GROUPS
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import Template
from compvqa.clevr.words import Words, text
from compvqa.errors import InputError
from compvqa.programs.rows import to_json
from compvqa.questions.dataset import GROUP
from compvqa.scenes.pairs import Among, Pair, Vocabulary, combinations, types_of, within
from compvqa.scenes.values import open_scenes
from compvqa.scenes.worlds.clevr_pools import variant_of
from compvqa.seeds import generator

IID, OOD = "minimal_iid", "minimal_ood"
Attributes = tuple[str, ...]  # of a thing, in the order of GROUPS


@dataclass(frozen=True)
class Item:
    """A question of a minimal test: what is asked for, and the thing in the picture."""

    part: str
    number: int
    target: Pair
    variant: int
    thing: Attributes
    yes: bool


def items(pair: Pair, vocabulary: Vocabulary, variants: int, among: Among | None = None) -> Iterator[Item]:
    """All questions of a pair's two minimal tests. InputError where there are too few variants."""
    kept = within(pair, vocabulary, among)
    one, other = types_of(pair, vocabulary)
    there = combinations(pair, vocabulary, among)
    used = variants_used(pair, vocabulary, variants, among)
    free = [values for kind, values in kept.items() if kind not in (one, other)]
    for part, targets in ((OOD, [pair]), (IID, [item for item in there if item != pair])):
        group = 0
        for target in targets:
            unlike = distractors(target, there)
            for variant in range(used if unlike else 0):
                x, y = unlike[variant % len(unlike)]
                for rest in product(*free):
                    for place, shown in enumerate([target, (target[0], y), (x, target[1]), (x, y)]):
                        if part == OOD or shown != pair:
                            thing = _thing(dict(zip((one, other), shown, strict=True)), rest)
                            yield Item(part, 4 * group + place, target, variant, thing, place == 0)
                    group += 1


def variants_used(pair: Pair, vocabulary: Vocabulary, variants: int, among: Among | None = None) -> int:
    """How many of the variants a pair uses: as many as have each of its distractors equally often. In a subset of the
    combinations, where a target may have any number of them, all are used."""
    if among and among.subset:
        return variants
    kept = within(pair, vocabulary, among)
    one, other = types_of(pair, vocabulary)
    many = (len(kept[one]) - 1) * (len(kept[other]) - 1)
    if variants < many:
        raise InputError(
            f"the minimal tests of {' '.join(pair)} need {many} variants, one for each pair that differs in both "
            f"values, of which there are {variants}: give more (dataset.variants and the world's), or fewer values."
        )
    return variants // many * many


def distractors(target: Pair, there: Sequence[Pair]) -> list[Pair]:
    """The combinations that differ from the target in both values, whose mixtures with it are there too."""
    known = set(there)
    return [(x, y) for x, y in there if x != target[0] and y != target[1] and {(target[0], y), (x, target[1])} <= known]


def _thing(shown: Mapping[str, str], rest: Sequence[str]) -> Attributes:
    others = iter(rest)
    return tuple(shown[group] if group in shown else next(others) for group in GROUPS)


def questions(
    scenes: Path,
    settings: PairSettings,
    templates: Sequence[Template],
    words: Words,
    seed: int,
    testbed: str,
    out: Path,
    shard: tuple[int, int] = (0, 1),
    memory: str = "1GB",
) -> dict[str, int]:
    """Write a shard of the questions of both minimal tests about the scenes of single objects in a folder of scene
    tables."""
    template, hope = asked_by(templates), settings.hope
    found = items(settings.pair, vocabulary_of(words), hope.variants, settings.among)
    pictures = single_objects(scenes, hope.minimal, out.parent, memory)
    counts = {"in": len(pictures), IID: 0, OOD: 0}
    with query.connect(out.parent, memory) as connection:
        intake = query.Intake(connection, QUESTIONS)
        for item in (item for item in found if item.number % shard[1] == shard[0]):
            key = (item.variant, item.thing)
            if key not in pictures:
                raise InputError(
                    f"the side {hope.minimal} has no {' '.join(item.thing)} in its variant {item.variant}: "
                    "draw all objects in as many variants as dataset.variants says."
                )
            intake.add((QUESTIONS, _row(item, pictures[key], template, words, seed) | {"testbed": testbed}))
            counts[item.part] += 1
        intake.write(QUESTIONS, out)
    return counts


def asked_by(templates: Sequence[Template], end: str = "exist") -> Template:
    """The template that asks whether there is a thing of a description, or how many there are (``end``: count)."""
    for template in templates:
        if [node.kind for node in template.nodes] == ["scene", f"filter_{end}"] and not template.empty:
            return template
    raise InputError(f"no template asks for the {end} of things of a description (scene, filter_{end}): add one.")


def single_objects(scenes: Path, side: str, scratch: Path, memory: str) -> dict[tuple[int, Attributes], str]:
    """The scenes of one object, by variant and what it is."""
    sql = """SELECT scene_id, objects.name, list(attributes.name), list(attributes."group") FROM scenes
        JOIN objects USING (scene_id) JOIN attributes USING (scene_id, object_id)
        WHERE split = $side GROUP BY scene_id, objects.object_id, objects.name
        ORDER BY scene_id"""
    with query.connect(scratch, memory) as connection:
        open_scenes(connection, scenes)
        rows = connection.execute(sql, {"side": side}).fetchall()
    found = {}
    for scene, shape, names, groups in rows:
        of = {"shape": shape, **dict(zip(groups, names, strict=True))}
        found[variant_of(scene), tuple(of[group] for group in GROUPS)] = scene
    return found


def _row(item: Item, scene: str, template: Template, words: Words, seed: int) -> dict:
    description = tuple(
        next((value for value in item.target if value in words.values[group]), None) for group in GROUPS
    )
    filled = dict(zip(template.nodes[1].slots, description, strict=True))
    asked = text(template, filled, words, generator(seed, "minimal text", item.variant))
    answer = "yes" if item.yes else "no"
    return {
        "question_id": identity(asked, scene, template.name, answer, item.part),
        "split": item.part,
        "part": item.part,
        "template": template.name,
        "text": asked,
        "program": to_json(template.program([(), description])),
        "answer": answer,
        "scene_ids": [scene],
        "properties": None,
        "number": item.number,
        GROUP: f"{item.part} {item.number // 4}",
    }
