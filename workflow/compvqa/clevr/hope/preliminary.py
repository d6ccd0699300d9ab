"""The preliminary test of single attribute values (CLEVR-PRELIM, appendix B): is there a thing of a value, how many.

``exist``: of pictures of one object, in a variant of place and light, whether it has a value; yes of one that has it,
no of one that differs from it in nothing but the value. ``count``: of pictures of five objects, of which none to all
have the value, how many have it. The paper asked them zero-shot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

from compvqa import query
from compvqa.clevr.gather import write_dropped
from compvqa.clevr.generate import identity
from compvqa.clevr.hope.minimal import Attributes, asked_by, single_objects
from compvqa.clevr.language import GROUPS
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import Template
from compvqa.clevr.words import Words, text
from compvqa.errors import InputError
from compvqa.programs.rows import to_json
from compvqa.questions.dataset import GROUP
from compvqa.scenes.values import open_scenes
from compvqa.scenes.worlds.clevr_pools import COUNTED, MANY, MINIMAL, slug, tag_in, variant_of
from compvqa.seeds import generator


@dataclass(frozen=True)
class Item:
    """A question: of which side and scene, what it asks for, and the answer; ``group`` tells those that belong
    together, ``number`` its place in the side."""

    side: str
    scene: str
    group_of: str
    value: str
    answer: str
    number: int
    group: str


@dataclass(frozen=True)
class Pictures:
    """The scenes of both sides in a folder of scene tables: of one object by variant and what it is, and of five by
    variant, value and how many have it."""

    scenes: Path
    words: Words
    seed: int
    scratch: Path
    memory: str

    @cached_property
    def single(self) -> Mapping[tuple[int, Attributes], str]:
        return single_objects(self.scenes, MINIMAL, self.scratch, self.memory)

    @cached_property
    def counted(self) -> Mapping[tuple[int, str, int], str]:
        values = {slug(value): value for group in GROUPS for value in self.words.values[group]}
        with query.connect(self.scratch, self.memory) as connection:
            open_scenes(connection, self.scenes)
            sql = """SELECT scene_id, list(distinct objects.object_id || ' ' || objects.name),
                list(objects.object_id || ' ' || attributes.name)
                FROM scenes JOIN objects USING (scene_id) JOIN attributes USING (scene_id, object_id)
                WHERE split = $side GROUP BY scene_id ORDER BY scene_id"""
            rows = connection.execute(sql, {"side": COUNTED}).fetchall()
        found = {}
        for scene, shapes, attributes in rows:
            value = values.get(tag_in(scene))
            if value is None:
                raise InputError(f"the picture {scene} counts {tag_in(scene)!r}, which is none of the words: add it.")
            having = sum(one.partition(" ")[2] == value for one in (*shapes, *attributes))
            found[variant_of(scene), value, having] = scene
        return found

    def exist(self) -> Iterator[Item]:
        """Two questions for each variant and value, of two objects that differ in the value alone."""
        number = 0
        for variant in sorted({variant for variant, _ in self.single}):
            there = sorted(thing for other, thing in self.single if other == variant)
            for place, value in self._values():
                pairs = [
                    (thing, other)
                    for thing, other in product(there, there)
                    if thing[place] == value and other[place] != value and _alike(thing, other, place)
                ]
                if not pairs:
                    continue
                chosen = generator(self.seed, "preliminary", variant, value).choice(pairs)
                for thing, answer in zip(chosen, ("yes", "no"), strict=True):
                    scene, group = self.single[variant, thing], f"exist {value} {variant}"
                    yield Item(MINIMAL, scene, GROUPS[place], value, answer, number, group)
                    number += 1

    def count(self) -> Iterator[Item]:
        """Six questions for each variant and value, whose answers are 0 to 5."""
        place_of = {value: GROUPS[place] for place, value in self._values()}
        for number, ((variant, value, many), scene) in enumerate(sorted(self.counted.items())):
            yield Item(COUNTED, scene, place_of[value], value, str(many), number, f"count {value} {variant}")

    def _values(self) -> list[tuple[int, str]]:
        return [(place, value) for place, group in enumerate(GROUPS) for value in self.words.values[group]]


def _alike(one: Attributes, other: Attributes, place: int) -> bool:
    return all(a == b for number, (a, b) in enumerate(zip(one, other, strict=True)) if number != place)


def questions(
    scenes: Path,
    templates: Sequence[Template],
    words: Words,
    seed: int,
    testbed: str,
    out: Path,
    dropped: Path,
    memory: str = "1GB",
) -> dict[str, int]:
    """Write the questions about the scenes of the sides minimal and counted in a folder of scene tables to ``out``, and
    an empty table of what was dropped to ``dropped``. InputError where a side is missing, or a picture of it."""
    pictures = Pictures(scenes, words, seed, out.parent, memory)
    whole = {MINIMAL: list(pictures.exist()), COUNTED: list(pictures.count())}
    if empty := [side for side, items in whole.items() if not items]:
        raise InputError(f"the scenes have no side {empty[0]}: draw it (world.settings, variants and counted).")
    if lost := len(whole[COUNTED]) % (MANY + 1):
        raise InputError(f"the side {COUNTED} lacks {MANY + 1 - lost} pictures of a value: draw it whole.")
    asked = {side: asked_by(templates, end) for side, end in ((MINIMAL, "exist"), (COUNTED, "count"))}
    with query.connect(out.parent, memory) as connection:
        intake = query.Intake(connection, QUESTIONS)
        for side, items in whole.items():
            for item in items:
                intake.add((QUESTIONS, _row(item, asked[side], words, seed) | {"testbed": testbed}))
        intake.write(QUESTIONS, out)
    write_dropped(dropped, {})
    return {side: len(items) for side, items in whole.items()}


def _row(item: Item, template: Template, words: Words, seed: int) -> dict:
    description = tuple(item.value if group == item.group_of else None for group in GROUPS)
    filled = dict(zip(template.nodes[1].slots, description, strict=True))
    asked = text(template, filled, words, generator(seed, "preliminary text", item.group))
    return {
        "question_id": identity(asked, item.scene, template.name, item.answer, item.side),
        "split": item.side,
        "part": item.side,
        "template": template.name,
        "text": asked,
        "program": to_json(template.program([(), description])),
        "answer": item.answer,
        "scene_ids": [item.scene],
        "properties": None,
        "number": item.number,
        GROUP: item.group,
    }
