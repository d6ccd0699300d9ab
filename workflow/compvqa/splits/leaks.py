"""The guard against leaks between the parts of a split (COVR, sections 3.4 and 4), as its setup says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.programs.properties import AttributeGroups, PropertiesModule
from compvqa.questions.dataset import language_of
from compvqa.scenes.asked import AskedScenes
from compvqa.scenes.tables import SCENES
from compvqa.splits.held import HeldOut
from compvqa.splits.setups import ALL, FIT, IMAGE, NO, TEXT, Part, Setup


def check_leaks(
    dataset: Path,
    name: str,
    setup: Setup,
    parts: Mapping[str, Sequence[str]],
    held_out: HeldOut | None = None,
    few: int = 0,
    lexicon: AttributeGroups | None = None,
    scenes: Path | None = None,
) -> dict[str, int]:
    """Raise :class:`InputError` if the parts (name to question ids) of the split ``name`` leak.

    * No image or text is on two sides that the setup holds apart in it (``setup.apart``). With ``scenes`` (a scenes
      table) images are compared; without, scenes, of which there is one an image after merging.
    * In each part that models are fitted on, and that the property ``held_out`` is kept from, exactly ``few`` questions
      have it (all of its side, if that has fewer); 0 where the setup keeps none. In other parts none, or all.

    Gives, for the record, the numbers of images, texts and questions that were compared, by side.
    """
    of = {part: setup.part(part) for part in parts}
    sides = {
        side: pa.array(sorted({q for part, ids in parts.items() if of[part].side == side for q in ids}), pa.string())
        for side in setup.sides
    }
    table = tables.read(dataset, columns=["question_id", "text", "scene_ids"])
    rows = {side: table.filter(pc.is_in(table["question_id"], ids)) for side, ids in sides.items()}
    for side, ids in sides.items():
        if len(rows[side]) != len(ids):
            raise InputError(
                f"split {name} names {len(ids) - len(rows[side])} {side} questions that {dataset} does not "
                "hold: split it again."
            )
    compared = _check_images(name, setup, rows, _images(scenes)) | _check_texts(name, setup, rows)
    if held_out is not None:
        compared |= _check_property(dataset, name, setup, parts, held_out, few, lexicon, scenes)
    return {f"leak guard: {what}": count for what, count in compared.items()}


def _check_images(name: str, setup: Setup, rows: Mapping[str, pa.Table], image_of: pa.Table | None) -> dict[str, int]:
    compared: dict[str, int] = {}
    for apart in setup.apart:
        if apart.what == IMAGE:
            seen, shown = (_shown(rows[side], image_of) for side in (apart.one, apart.other))
            compared[f"images of {apart.one}"] = len(seen)
            _refuse_common(seen, shown, f"split {name} leaks: {apart.one} and {apart.other} share the image")
            compared[f"images of {apart.other}, none of {apart.one}'s"] = len(shown)
    return compared


def _check_texts(name: str, setup: Setup, rows: Mapping[str, pa.Table]) -> dict[str, int]:
    compared: dict[str, int] = {}
    for apart in setup.apart:
        if apart.what == TEXT:
            one, other = (rows[side]["text"] for side in (apart.one, apart.other))
            _refuse_common(one, other, f"split {name} leaks: {apart.one} and {apart.other} share the text")
            compared[f"questions of {apart.one}, with no text of {apart.other}"] = len(one)
    return compared


def _images(scenes: Path | None) -> pa.Table | None:
    return None if scenes is None else tables.read(scenes, SCENES, ["scene_id", "image"])


def _shown(questions: pa.Table, image_of: pa.Table | None) -> pa.ChunkedArray:
    """The images (or scenes) of the questions, each once."""
    scene_ids = pc.list_flatten(questions["scene_ids"]).unique()
    if image_of is None:
        return pa.chunked_array([scene_ids])
    return image_of.filter(pc.is_in(image_of["scene_id"], scene_ids))["image"]


def _refuse_common(a: pa.ChunkedArray, b: pa.ChunkedArray, message: str) -> None:
    common = b.filter(pc.is_in(b, a.combine_chunks() if len(a) else pa.array([], pa.string())))
    if len(common):
        first = pc.min(common).as_py()
        raise InputError(f"{message} {first!r} ({len(common.unique())} in all): check the stages before it.")


def _check_property(
    dataset: Path,
    name: str,
    setup: Setup,
    parts: Mapping[str, Sequence[str]],
    held_out: HeldOut,
    few: int,
    lexicon: AttributeGroups | None,
    scenes: Path | None,
) -> dict[str, int]:
    """Count the property again in the parts that are fitted on, and see that the others agree with it."""
    asked = [part for part in setup.parts if part.held_out and part.name in parts]
    kept = {part.name: set(parts[part.name]) for part in asked}
    found = dict.fromkeys([part.name for part in asked], 0)
    on_side = dict.fromkeys(setup.sides, 0)
    properties: PropertiesModule = wings.part(language_of(dataset), "properties")
    graphs = AskedScenes(scenes.parent) if scenes else None
    table = tables.read(dataset, columns=["question_id", "part", *properties.COLUMNS, "scene_ids"])
    for batch in table.to_batches(16_384):
        ids, sides = (batch[column].to_pylist() for column in ("question_id", "part"))
        for question_id, side, question in zip(ids, sides, properties.questions(batch, lexicon, graphs), strict=True):
            if side in on_side:
                on_side[side] += held_out.asked(question)
            for part in asked:
                if question_id in kept[part.name]:
                    holds = held_out.in_part(question, part.held_out == ALL)
                    found[part.name] += holds
                    _refuse_wrong(name, part, question_id, holds)
    compared = {}
    for part in asked:
        if part.role == FIT:
            expected = min(0 if part.held_out == NO else few, on_side[part.side])
            if found[part.name] != expected:
                raise InputError(
                    f"split {name} leaks: {found[part.name]} questions in {part.name} have the held-out property "
                    f"instead of {expected}."
                )
            compared[f"questions of {part.name} with what is held out"] = expected
    return compared


def _refuse_wrong(name: str, part: Part, question_id: str, holds: bool) -> None:
    """A question that a part may not have; parts that are fitted on are counted instead."""
    if part.role != FIT and holds != (part.held_out == ALL):
        verb = "has" if holds else "lacks"
        raise InputError(f"split {name}: question {question_id} in {part.name} {verb} the held-out property.")
