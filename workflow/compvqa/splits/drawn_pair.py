"""A pair of a noun and an attribute that is drawn from the data and held out: of descriptions, and of train's scenes.

It is CLEVR-HOPE's held-out pair (section 3) in the scenes of any source, whose vocabulary nobody listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb
import pyarrow.parquet as pq
from pydantic import Field, PositiveInt

from compvqa.errors import InputError
from compvqa.programs import wings
from compvqa.programs.properties import PropertiesModule, Question
from compvqa.progress import track
from compvqa.questions.dataset import language_of
from compvqa.scenes.pairs import Pair, around
from compvqa.scenes.values import open_scenes
from compvqa.seeds import by_rank
from compvqa.settings import Settings
from compvqa.splits.held import DRAWN, HeldOut, describing

BATCH = 16_384
TRAIN = "train"
LEAST_DIVERSE = 4  # as two values of each kind give


class DrawnPair(Settings):
    """One pair of a noun and an attribute: train has no question that says both of one object, and no scene in which an
    object has both."""

    kind: Literal["pair"]
    draw: PositiveInt = Field(1, description="number of the draw; each draws another pair")
    group: str = Field(
        "",
        description="the attribute's group, such as material: the fewer it has, the less diverse are its pairs",
    )
    least_alone: PositiveInt = Field(50, description="questions that train keeps which name each of the two")
    least_together: PositiveInt = Field(30, description="questions of dev and test that ask for the pair")


@dataclass(frozen=True)
class _Asked:
    """A question of the dataset, as far as pairs concern it."""

    part: str
    pairs: frozenset[Pair]  # that it says of one object
    names: frozenset[str]
    scenes: tuple[str, ...]


@dataclass(frozen=True)
class _Shown:
    """The scenes that have an object of each pair, and each attribute's group."""

    scenes: dict[Pair, frozenset[str]]
    group: dict[str, str]

    @staticmethod
    def read(folder: Path) -> _Shown:
        found: dict[Pair, set[str]] = defaultdict(set)
        groups: Counter[tuple[str, str]] = Counter()
        with duckdb.connect() as connection:
            open_scenes(connection, folder)
            rows = connection.sql(
                """SELECT DISTINCT scene_id, objects.name, attributes.name, coalesce("group", '') FROM objects
                JOIN attributes USING (scene_id, object_id) ORDER BY ALL"""
            ).fetchall()
        for scene, noun, attribute, group in rows:
            found[noun, attribute].add(scene)
            groups[attribute, group] += 1
        of = {attribute: group for (attribute, group), _ in sorted(groups.items(), key=lambda item: item[1])}
        return _Shown({pair: frozenset(scenes) for pair, scenes in found.items()}, of)

    def said(self, descriptions: Iterable[frozenset[str]]) -> frozenset[Pair]:
        """The pairs of a noun and an attribute, of which there is an object, that one of the descriptions has."""
        every = ((noun, word) for words in descriptions for noun in words for word in words)
        return frozenset(pair for pair in every if pair in self.scenes)

    def alike(self, pair: Pair, other: Pair) -> bool:
        """Whether another pair has an attribute of the same group."""
        return other != pair and self.group[other[1]] == self.group[pair[1]]


def draw_pair(dataset: Path, drawn: DrawnPair, seed: int, scenes: Path) -> tuple[HeldOut, dict[str, int]]:
    """What holds the pair out, and counts of what there was to draw from. ``scenes`` is the folder of scene tables;
    :class:`InputError` where there are too few pairs."""
    shown = _Shown.read(scenes)
    asked = list(_read(dataset, shown))
    together = Counter(pair for question in asked if question.part != TRAIN for pair in question.pairs)
    candidates = sorted(
        pair
        for pair, n in together.items()
        if n >= drawn.least_together and (not drawn.group or shown.group[pair[1]] == drawn.group)
    )
    train = [question for question in asked if question.part == TRAIN]
    ranked = by_rank(seed, "held-out pair", candidates)
    fitting = [pair for pair in ranked if _leaves_enough(pair, train, shown, drawn.least_alone)]
    if len(fitting) < drawn.draw:
        remedy = ("" if drawn.draw == 1 else "give a smaller draw, ") + "lower these, or make more questions"
        raise InputError(
            f"draw {drawn.draw} of a pair: {len(candidates)} pairs of a noun and an attribute of "
            f"{drawn.group or 'any group'} are in {drawn.least_together} questions of dev and test (least_together); "
            f"without one of {len(fitting)} of them train keeps {drawn.least_alone} questions with each of its words "
            f"(least_alone), and {LEAST_DIVERSE} pairs around it: {remedy}."
        )
    pair = fitting[drawn.draw - 1]
    having = shown.scenes[pair]
    counts = {f"{DRAWN}{' + '.join(pair)}": together[pair], "scenes with the pair": len(having)}
    counts |= {"pairs to choose from": len(fitting)}

    def said(question: Question) -> frozenset[Pair]:
        return shown.said(describing(question).descriptions())

    return HeldOut(
        lambda question: pair in said(question),
        lambda question: not having.isdisjoint(describing(question).scene_ids),
        lambda question: any(shown.alike(pair, other) for other in said(question)),
        pair,
    ), counts


def _leaves_enough(pair: Pair, train: Iterable[_Asked], shown: _Shown, least: int) -> bool:
    """Whether train without the pair still names each of its two often enough, and shows each with others."""
    having = shown.scenes[pair]
    kept = [question for question in train if pair not in question.pairs and having.isdisjoint(question.scenes)]
    if any(sum(name in question.names for question in kept) < least for name in pair):
        return False
    scenes = {scene for question in kept for scene in question.scenes}
    seen = {other for other, of in shown.scenes.items() if shown.alike(pair, other) and not of.isdisjoint(scenes)}
    return len(around(pair, seen)) >= LEAST_DIVERSE


def _read(dataset: Path, shown: _Shown) -> Iterator[_Asked]:
    """The questions of the dataset."""
    properties: PropertiesModule = wings.part(language_of(dataset), "properties")
    with pq.ParquetFile(dataset) as file:
        total = -(-file.metadata.num_rows // BATCH)
        batches = file.iter_batches(BATCH, columns=["part", *properties.COLUMNS, "scene_ids"])
        for batch in track(batches, "reading programs", total, "batch"):
            for part, one in zip(batch["part"].to_pylist(), properties.questions(batch), strict=True):
                question = describing(one)
                pairs = shown.said(question.descriptions())
                yield _Asked(part, pairs, frozenset(question.names()), tuple(question.scene_ids))
