"""Splits of a dataset: i.i.d., and compositional ones that hold a property out (COVR, section 4).

A split is one file in ``config/splits``. What it holds out is named there, or drawn from the data
(:mod:`compvqa.splits.drawn`). Splitting only takes questions away: train keeps the images of
train, dev and test those of val. Which parts a split has, its setup says (:mod:`compvqa.splits.setups`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from compvqa import tables
from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.programs.properties import AttributeGroups, PropertiesModule
from compvqa.progress import track
from compvqa.questions.dataset import language_of
from compvqa.scenes.asked import AskedScenes
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.values import seen
from compvqa.seeds import by_rank
from compvqa.splits.drawn import Drawn, draw
from compvqa.splits.drawn_pair import DrawnPair, draw_pair
from compvqa.splits.expressions import predicate
from compvqa.splits.held import HeldOut, HeldPair
from compvqa.splits.leaks import check_leaks
from compvqa.splits.setups import ALL, FEW, FIT, NO, TEST, Definition, Part, Setup, SplitSettings, find_setup
from compvqa.tables import Schema

KEPT = "kept"  # in a split's metadata: M, the questions with what is held out that train keeps
SPLITS = Schema(
    "splits",
    pa.schema(
        [
            ("split_name", pa.string()),
            ("part", pa.string()),
            ("question_id", pa.string()),
            ("role", pa.string()),  # what the part is for: fit, choose, test
            ("held_out", pa.string()),  # which of its questions have what is held out: none, few, all; "": not asked
        ]
    ),
    key=("split_name", "part", "question_id"),
)


def read_definition(definition: dict[str, Any]) -> Definition:
    """The content of a split's file, checked by its setup; raises :class:`InputError` naming split and key."""
    setup, name = definition.get("setup"), definition.get("name", "?")
    try:
        kind = find_setup(setup).definition if isinstance(setup, str) else Definition
        return kind.model_validate(definition)
    except InputError as error:
        raise InputError(f"split {name}, setup: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its keys"
        raise InputError(f"split {name}, {where}: {first['msg']}.") from None


def split(
    dataset: Path,
    definition: dict[str, Any],
    lexicon: Path | None,
    out: Path,
    settings: SplitSettings,
    seed: int,
    scenes: Path | None = None,
) -> dict[str, int]:
    """Write the split that ``definition`` (a file of ``config/splits``) describes.

    ``scenes`` is the scenes table; those beside it are read only if a property looks at a question's scenes.

    Counts: questions in and out by part, how many have the property, how many were filtered from train, and
    for each empty part why it is empty. Raises :class:`InputError` if anything leaks (:func:`check_leaks`), or
    a program is in another language than the dataset's.
    """
    described = read_definition(definition)
    language_of(dataset)
    setup, few = find_setup(described.setup), described.few(settings)
    words = Lexicon.load(lexicon) if lexicon else None
    table = tables.read(dataset, columns=["question_id", "part"])
    ids, of_side = np.array(table["question_id"].to_pylist(), dtype=object), _masks(table, setup)
    held_out, drawn = held_out_of(dataset, described, seed, scenes)
    held = _Held.none(len(ids)) if held_out is None else _Held.read(dataset, held_out, words, scenes)
    parts = _parts(ids, of_side, held, setup, described.name, few, seed)
    counts = {} if held_out is None else _counts(setup, parts, of_side, held.asked, few) | drawn
    compared = check_leaks(dataset, described.name, setup, parts, held_out, few, words, scenes)
    rows = [
        {
            "split_name": described.name,
            "part": part.name,
            "question_id": question,
            "role": part.role,
            "held_out": part.held_out,
        }
        for part in setup.parts
        for question in parts[part.name]
    ]
    told = _pair_told(described, held_out, dataset, parts, scenes, settings.least_seen, out)
    metadata = (told.metadata() if told else {}) | _kept(setup, of_side, held.asked, few)
    tables.write(out, replace(SPLITS, metadata=metadata), rows)
    sizes = {f"out: {part}": len(questions) for part, questions in parts.items()}
    diverse = {"diversity of the pair": told.diversity} if told else {}
    return {"in": len(ids), "out": len(rows), **sizes, **counts, **diverse, **compared}


def guard(
    made: Path,
    dataset: Path,
    definition: dict[str, Any],
    lexicon: Path | None,
    settings: SplitSettings,
    seed: int,
    scenes: Path,
) -> dict[str, int]:
    """The leak guard run again on a split that was made; what it compared, or :class:`InputError` if anything leaks."""
    described = read_definition(definition)
    held_out, _ = held_out_of(dataset, described, seed, scenes)
    words = Lexicon.load(lexicon) if lexicon else None
    setup, few = find_setup(described.setup), described.few(settings)
    return check_leaks(dataset, described.name, setup, parts_of(made), held_out, few, words, scenes)


def held_out_of(
    dataset: Path, described: Definition, seed: int, scenes: Path | None
) -> tuple[HeldOut | None, dict[str, int]]:
    """Whether a question has what is held out, and counts of what there was to draw it from; ``scenes`` is the scenes
    table, beside which are those that a pair is drawn from."""
    held_out = described.held_out()
    if held_out is None:
        return None, {}
    if isinstance(held_out, DrawnPair):
        if scenes is None:
            raise InputError(f"split {described.name} draws a pair, and nothing tells its scenes: give --scenes.")
        return draw_pair(dataset, held_out, seed, scenes.parent)
    if isinstance(held_out, Drawn):
        asked, counts = draw(dataset, held_out, seed)
        return HeldOut(asked), counts
    properties: PropertiesModule = wings.part(language_of(dataset), "properties")
    return HeldOut(predicate(str(held_out), properties.named), pair=described.held_pair()), {}


def parts_of(made: Path) -> dict[str, list[str]]:
    """The question ids of each part in a split's table."""
    table = tables.read(made, SPLITS)
    masks = {part: pc.equal(table["part"], part) for part in table["part"].unique().to_pylist()}
    return {part: table["question_id"].filter(mask).to_pylist() for part, mask in masks.items()}


def tested(made: Path) -> tuple[str, list[str]]:
    """The name of the split in a table, and its parts to test on; :class:`InputError` where it has none."""
    table = tables.read(made, SPLITS)
    parts = sorted(table.filter(pc.equal(table["role"], TEST))["part"].unique().to_pylist())
    if not parts:
        raise InputError(f"{made} has no question to test on: leave it out.")
    return table["split_name"][0].as_py(), parts


def _masks(table: pa.Table, setup: Setup) -> dict[str, np.ndarray]:
    parts = np.array(table["part"].to_pylist(), dtype=object)
    return {side: parts == side for side in setup.sides}


@dataclass(frozen=True)
class _Held:
    """For each question, in the table's order, whether it asks for what is held out, whether it does or shows it, and
    whether it asks alike for other."""

    asked: np.ndarray
    near: np.ndarray
    alike: np.ndarray

    @staticmethod
    def none(questions: int) -> _Held:
        """Where nothing is held out."""
        return _Held(*[np.zeros(questions, dtype=bool)] * 3)

    @staticmethod
    def read(dataset: Path, held_out: HeldOut, lexicon: AttributeGroups | None, scenes: Path | None) -> _Held:
        """Of a dataset's questions; properties may look at the tables beside ``scenes``."""
        properties: PropertiesModule = wings.part(language_of(dataset), "properties")
        flags: list[tuple[bool, bool, bool]] = []
        graphs = AskedScenes(scenes.parent) if scenes else None
        with pq.ParquetFile(dataset) as file:
            batches = file.iter_batches(16_384, columns=[*properties.COLUMNS, "scene_ids"])
            total = -(-file.metadata.num_rows // 16_384)
            for batch in track(batches, "reading properties", total, "batch"):
                flags += map(held_out.flags, properties.questions(batch, lexicon, graphs))
        return _Held(*np.array(flags, dtype=bool).reshape(-1, 3).T)


def _pair_told(
    described: Definition,
    held_out: HeldOut | None,
    dataset: Path,
    parts: Mapping[str, Sequence[str]],
    scenes: Path | None,
    least: int,
    out: Path,
) -> HeldPair | None:
    """What the split tells of the pair that it holds out, by the scenes that its own runs are fitted on; None where
    there is no pair, or nothing tells scenes."""
    if held_out is None or held_out.pair is None or scenes is None:
        return None
    setup = find_setup(described.setup)
    fitted = pa.array([question for part in setup.own.fit for question in parts[part]], pa.string())
    questions = tables.read(dataset, columns=["question_id", "scene_ids"])
    shown = pc.list_flatten(questions.filter(pc.is_in(questions["question_id"], fitted))["scene_ids"]).unique()
    found = seen(held_out.pair, scenes.parent, shown.to_pylist(), least, out.parent)
    variant = next(name for name, of in setup.variants.items() if of is setup.own)
    gaps = tuple((part.name, other) for part in setup.parts for other in part.like)
    return HeldPair(described.name, held_out.pair, found.kinds, found.diversity, found.bits, variant, gaps)


def _parts(
    ids: np.ndarray,
    of_side: Mapping[str, np.ndarray],
    held: _Held,
    setup: Setup,
    name: str,
    few: int,
    seed: int,
) -> dict[str, list[str]]:
    """The questions of each part of a setup, in the dataset's order, those that are drawn after them."""
    parts: dict[str, list[str]] = {}
    for part in setup.parts:
        side = of_side[part.side]
        if part.as_many_as:
            drawn = by_rank(seed, f"train size {name}", ids[side].tolist())
            parts[part.name] = drawn[: len(parts[part.as_many_as])]
        else:
            chosen = side & {NO: ~held.near, FEW: ~held.near, ALL: held.asked}.get(part.held_out, True)
            chosen &= held.alike | (not part.alike)
            drawn = by_rank(seed, f"few-shot {name}", ids[side & held.asked].tolist()) if part.held_out == FEW else []
            parts[part.name] = ids[chosen].tolist() + drawn[:few]
    return parts


def _counts(
    setup: Setup, parts: Mapping[str, list[str]], of_side: Mapping[str, np.ndarray], held: np.ndarray, few: int
) -> dict[str, int]:
    """What is to be counted where something is held out: how much of it there is, what was filtered, what is empty."""
    with_it = {side: int((mask & held).sum()) for side, mask in of_side.items()}
    counts = {f"with the property: {side}": count for side, count in with_it.items()}
    for part in setup.parts:
        if part.role == FIT and part.held_out:
            counts |= _filtered(part, with_it[part.side], few if part.held_out == FEW else 0)
        if part.why_empty and not parts[part.name]:
            counts[f"empty: {part.name}, because {part.why_empty}"] = 1
    return counts


def _kept(setup: Setup, of_side: Mapping[str, np.ndarray], held: np.ndarray, few: int) -> dict[str, str]:
    """For the metadata of a split whose train keeps a few questions with what is held out: how many."""
    sides = [part.side for part in setup.parts if part.held_out == FEW]
    return {KEPT: str(min(few, int((of_side[sides[0]] & held).sum())))} if sides else {}


def _filtered(part: Part, with_it: int, few: int) -> dict[str, int]:
    """How many questions with what is held out a part was not given, and those it was, if they are fewer than M."""
    shots = min(few, with_it)
    fewer = {f"few-shot: {part.name} has fewer than M = {few}": shots} if shots < few else {}
    return {f"filtered from {part.name}": with_it - shots, **fewer}
