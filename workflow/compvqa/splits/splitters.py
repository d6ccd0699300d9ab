"""Splits of the balanced data set: i.i.d., and compositional ones that hold a property out (COVR, section 4).

A split is one file in ``config/splits``. What it holds out is named there, or drawn from the data
(:mod:`compvqa.splits.drawn`). Splitting only takes questions away: train keeps the images of
train, dev and test those of val. The parts of a compositional split are

* ``train``: train questions without the property; in the few-shot setup also M that have it;
* ``train_size``: as many train questions, drawn from all of them (what VB_iid-size is trained on);
* ``dev_iid``: dev questions without the property (for early stopping);
* ``dev_comp`` and ``test_comp``: dev and test questions that have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field, NonNegativeInt, PositiveFloat, ValidationError, model_validator

from compvqa import tables
from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.programs.properties import AttributeGroups, Predicate
from compvqa.progress import track
from compvqa.questions.dataset import language_of
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import by_rank
from compvqa.settings import Settings
from compvqa.splits.drawn import Drawn, draw
from compvqa.splits.expressions import predicate
from compvqa.splits.leaks import check_leaks
from compvqa.tables import Schema

SPLITS = Schema(
    "splits",
    pa.schema([("split_name", pa.string()), ("part", pa.string()), ("question_id", pa.string())]),
    key=("split_name", "part", "question_id"),
)


class SplitSettings(Settings):
    """What all splits share."""

    m_scale: PositiveFloat = Field(
        1.0, description="factor on every few-shot split's M, for data sets smaller than COVR"
    )


class SplitDefinition(Settings):
    """One file of ``config/splits``."""

    name: str = Field(description="the file's name without .yaml")
    title: str = Field("", description="the split's name in tables, as in the paper; empty: the name")
    setup: Literal["iid", "few-shot", "zero-shot"] = Field(
        description="iid: nothing is held out; few-shot: train keeps M questions with the property; zero-shot: none"
    )
    property: str = Field("", description="what is held out: an expression of properties")
    drawn: Drawn | None = Field(
        None, discriminator="kind", description="what is held out, where it is drawn from the data: programs, or pairs"
    )
    m: NonNegativeInt = Field(250, description="few-shot: M, the questions with the property that train keeps")

    @model_validator(mode="after")
    def _whole(self) -> SplitDefinition:
        if bool(self.property) + bool(self.drawn) != (self.setup != "iid"):
            raise ValueError("a split has a property, or one drawn, exactly if its setup is few-shot or zero-shot")
        return self

    def few(self, settings: SplitSettings) -> int:
        """M, scaled; 0 in the zero-shot setup."""
        return round(self.m * settings.m_scale) if self.setup == "few-shot" else 0


def read_definition(definition: dict) -> SplitDefinition:
    """The content of a split's file, checked; raises :class:`InputError` naming split and key."""
    try:
        return SplitDefinition.model_validate(definition)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its keys"
        raise InputError(f"split {definition.get('name', '?')}, {where}: {first['msg']}.") from None


def split(
    dataset: Path,
    definition: dict,
    lexicon: Path | None,
    out: Path,
    settings: SplitSettings,
    seed: int,
    scenes: Path | None = None,
) -> dict[str, int]:
    """Write the split that ``definition`` (a file of ``config/splits``) describes.

    Counts: questions in and out by part, how many have the property, how many were filtered from train, and
    for each empty part why it is empty. Raises :class:`InputError` if anything leaks (:func:`check_leaks`).
    """
    described = read_definition(definition)
    properties = wings.part(language_of(dataset), "properties")
    words = Lexicon.load(lexicon) if lexicon else None
    table = tables.read(dataset, columns=["question_id", "part"])
    ids, of_part = np.array(table["question_id"].to_pylist(), dtype=object), _masks(table)
    if described.setup == "iid":
        parts = {part: ids[mask].tolist() for part, mask in of_part.items()}
        held_out, counts = None, {}
    else:
        if described.drawn:
            held_out, drawn = draw(dataset, described.drawn, seed)
        else:
            held_out, drawn = predicate(described.property, properties.named), {}
        held = _holds(dataset, held_out, words)
        parts, counts = _compositional(ids, of_part, held, described, settings, seed)
        counts |= drawn
    compared = check_leaks(dataset, described.name, parts, held_out, described.few(settings), words, scenes)
    rows = [
        {"split_name": described.name, "part": part, "question_id": question}
        for part, questions in parts.items()
        for question in questions
    ]
    tables.write(out, SPLITS, rows)
    sizes = {f"out: {part}": len(questions) for part, questions in parts.items()}
    return {"in": len(ids), "out": len(rows), **sizes, **counts, **compared}


def guard(
    made: Path, dataset: Path, definition: dict, lexicon: Path | None, settings: SplitSettings, seed: int, scenes: Path
) -> dict[str, int]:
    """The leak guard run again on a split that was made; what it compared, or :class:`InputError` if anything leaks."""
    described = read_definition(definition)
    properties = wings.part(language_of(dataset), "properties")
    held_out = predicate(described.property, properties.named) if described.property else None
    if described.drawn:
        held_out, _ = draw(dataset, described.drawn, seed)
    words = Lexicon.load(lexicon) if lexicon else None
    few = described.few(settings)
    return check_leaks(dataset, described.name, parts_of(made), held_out, few, words, scenes)


def parts_of(made: Path) -> dict[str, list[str]]:
    """The question ids of each part in a split's table."""
    table = tables.read(made, SPLITS)
    masks = {part: pc.equal(table["part"], part) for part in table["part"].unique().to_pylist()}
    return {part: table["question_id"].filter(mask).to_pylist() for part, mask in masks.items()}


def _masks(table: pa.Table) -> dict[str, np.ndarray]:
    parts = np.array(table["part"].to_pylist(), dtype=object)
    return {part: parts == part for part in ("train", "dev", "test")}


def _holds(dataset: Path, held_out: Predicate, lexicon: AttributeGroups | None) -> np.ndarray:
    """For each question, in the table's order, whether it has the property."""
    properties = wings.part(language_of(dataset), "properties")
    flags: list[bool] = []
    with pq.ParquetFile(dataset) as file:
        batches = file.iter_batches(16_384, columns=properties.COLUMNS)
        total = -(-file.metadata.num_rows // 16_384)
        for batch in track(batches, "reading properties", total, "batch"):
            flags += map(held_out, properties.questions(batch, lexicon))
    return np.array(flags, dtype=bool)


def _compositional(
    ids: np.ndarray,
    of_part: Mapping[str, np.ndarray],
    held: np.ndarray,
    described: SplitDefinition,
    settings: SplitSettings,
    seed: int,
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The parts of a compositional split, and what is to be counted of it."""
    name, few = described.name, described.few(settings)
    train, with_property = of_part["train"], ids[of_part["train"] & held].tolist()
    shots = by_rank(seed, f"few-shot {name}", with_property)[:few]
    kept = ids[train & ~held].tolist() + shots
    parts = {
        "train": kept,
        "train_size": by_rank(seed, f"train size {name}", ids[train].tolist())[: len(kept)],
        "dev_iid": ids[of_part["dev"] & ~held].tolist(),
        "dev_comp": ids[of_part["dev"] & held].tolist(),
        "test_comp": ids[of_part["test"] & held].tolist(),
    }
    counts = {f"with the property: {part}": int((mask & held).sum()) for part, mask in of_part.items()}
    counts["filtered from train"] = len(with_property) - len(shots)
    if len(shots) < few:
        counts[f"few-shot: train has fewer than M = {few}"] = len(shots)
    for part, reason in (
        ("train", "every question of train has the property"),
        ("dev_iid", "every question of dev has the property"),
        ("dev_comp", "no question of dev has the property"),
        ("test_comp", "no question of test has the property"),
    ):
        if not parts[part]:
            counts[f"empty: {part}, because {reason}"] = 1
    return parts, counts
