"""What the filters are worth: shares of invalid questions and of false distractors in each chain, with intervals.

A chain ("arm") is called by its methods, ``<overlap.method>-<presence.method>``. Measures, each a share, of what:

* ``questions``: ``invalid``;
* ``both``: of all distractors drawn, ``false`` (they hold the subgraph) and ``dropped`` by a filter; of the dropped
  ones, those that are false (``precision``); of the false ones, those that are dropped (``recall``); of the kept ones,
  those that truly lack the subgraph (``kept lacks``); of those that lack it, the dropped ones (``good lost``);
* ``words``: the same of the word filter alone;
* ``images``: the same of the image filter alone, among what the word filter has left.

``invalid``, ``false`` and ``recall`` are also given for each cause ("recall: missing"). The share of invalid questions
of all templates is the mean over templates, which have not the same number of questions. Questions that start from one
scene, and distractors in one scene, go right or wrong together, so the intervals resample scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import Field, PositiveInt

from compvqa import tables
from compvqa.covr.filters.words.overlap import NO_FILTER
from compvqa.covr.judging import distractors, validity
from compvqa.covr.judging.distractors import DISTRACTORS, IMAGES, WORDS, by_arm
from compvqa.covr.judging.validity import VALIDITY
from compvqa.evaluation.intervals import alike, interval
from compvqa.seeds import stable_hash
from compvqa.settings import Settings
from compvqa.tables import Schema

FILTERS = Schema(
    "filters",
    pa.schema(
        [
            ("of", pa.string()),  # questions, words, images or both
            ("arm", pa.string()),
            ("group", pa.string()),  # a template, or a kind of distractor; "" for all that are judged
            ("measure", pa.string()),
            ("n", pa.int64()),  # of how many it is a share
            ("value", pa.float64()),  # 0 to 1; null where n is 0, as are low and high
            ("low", pa.float64()),
            ("high", pa.float64()),
        ]
    ),
    key=("of", "arm", "group", "measure"),
)
QUESTIONS, BOTH = "questions", "both"
INVALID = "invalid"
FALSE, DROPPED, PRECISION, RECALL, LACKS, LOST = "false", "dropped", "precision", "recall", "kept lacks", "good lost"


class IntervalSettings(Settings):
    """Intervals of what the filters are worth."""

    resamples: PositiveInt = Field(2000, description="bootstrap resamples of the scenes")
    level: float = Field(0.95, gt=0, lt=1, description="share of the resamples inside the interval")


class FilterSettings(IntervalSettings):
    """What is measured, and how surely."""

    arms: tuple[str, ...] = Field(description="the chains, in the order in which their questions are given")


Measure = tuple[str, pd.Series, pd.Series]  # its name, what counts, among what


def judge(questions: Sequence[Path], judged: Path, out: Path, settings: FilterSettings, seed: int) -> dict[str, int]:
    """Write the measures of each arm: of its judged questions (a table for each), and of the judged distractors."""
    rows: list[dict] = []
    for arm, path in by_arm(settings.arms, questions).items():
        table = tables.read(path, VALIDITY, ["template", "start_scene", "valid", "cause"]).to_pandas()
        table = table.rename(columns={"template": "group", "start_scene": "scene_id"})
        rows += _rows(QUESTIONS, arm, table, _of_questions, settings, seed, mean=True)
    table = tables.read(judged, DISTRACTORS, ["arm", "scene_id", "kind", "cause", "dropped"]).to_pandas()
    table = table.rename(columns={"kind": "group"})
    for arm, drawn in table.groupby("arm"):
        for of in (BOTH, *filters_of(str(arm))):
            among = drawn[drawn["dropped"] != WORDS] if of == IMAGES else drawn
            among = among.assign(dropped=among["dropped"] != "" if of == BOTH else among["dropped"] == of)
            rows += _rows(of, str(arm), among, _of_distractors, settings, seed)
    tables.write(out, FILTERS, rows)
    return {"in": len(table), "out": len(rows)}


def filters_of(arm: str) -> list[str]:
    """The filters that an arm has."""
    return [of for of, method in zip((WORDS, IMAGES), arm.split("-"), strict=True) if method != NO_FILTER]


def cause_of(measure: str, cause: str) -> str:
    """The measure of one cause, where a measure is also given by cause."""
    return f"{measure}: {cause}"


def _of_questions(judged: pd.DataFrame) -> Iterator[Measure]:
    every = pd.Series(True, judged.index)
    yield INVALID, ~judged["valid"], every
    for cause in validity.CAUSES:
        yield cause_of(INVALID, cause), judged["cause"] == cause, every


def _of_distractors(judged: pd.DataFrame) -> Iterator[Measure]:
    every = pd.Series(True, judged.index)
    false, dropped = judged["cause"] != "", judged["dropped"]
    yield FALSE, false, every
    yield DROPPED, dropped, every
    yield PRECISION, false, dropped
    yield RECALL, dropped, false
    yield LACKS, ~false, ~dropped
    yield LOST, dropped, ~false
    for cause in distractors.CAUSES:
        yield cause_of(FALSE, cause), judged["cause"] == cause, every
        yield cause_of(RECALL, cause), dropped, judged["cause"] == cause


def _rows(
    of: str,
    arm: str,
    judged: pd.DataFrame,
    measures: Callable[[pd.DataFrame], Iterator[Measure]],
    settings: IntervalSettings,
    seed: int,
    mean: bool = False,
) -> Iterator[dict]:
    """The rows of an arm: of each group, and of all, which with ``mean`` is the mean over groups."""
    scenes, names = pd.factorize(judged["scene_id"], sort=True)
    groups, labels = pd.factorize(judged["group"], sort=True)
    weights = _weights(len(names), settings.resamples, seed, of, arm)
    cells, shape = scenes * len(labels) + groups, (len(names), len(labels))
    for measure, counted, among in measures(judged):
        chosen = (among & counted, among)
        counts = [np.bincount(cells[rows], minlength=len(names) * len(labels)).reshape(shape) for rows in chosen]
        hits, totals = (weights @ count for count in counts)
        columns_of: list[tuple[str, Any]] = [("", slice(None)), *((label, [i]) for i, label in enumerate(labels))]
        for group, columns in columns_of:
            units = int((counts[1][:, columns] > 0).any(axis=1).sum())
            value, low, high = _share(hits[:, columns], totals[:, columns], units, settings.level, mean)
            yield {
                "of": of, "arm": arm, "group": group, "measure": measure, "n": int(totals[0, columns].sum()),
                "value": value, "low": low, "high": high,
            }  # fmt: skip


def _weights(scenes: int, resamples: int, seed: int, *key: str) -> np.ndarray:
    """How often each scene counts: [1 + resamples, scenes]; in the first row, once."""
    random = np.random.default_rng(stable_hash(seed, "filters", *key) & 0xFFFFFFFF)
    drawn: Any = random.multinomial(scenes, np.full(scenes, 1 / scenes), size=resamples) if scenes else [[]] * resamples
    return np.vstack([np.ones(scenes), drawn])


def _share(
    hits: np.ndarray, totals: np.ndarray, units: int, level: float, mean: bool
) -> tuple[float | None, float | None, float | None]:
    """The share of hits and its interval, or the mean of the groups' shares; None where there is nothing.

    ``hits`` and ``totals``: [1 + resamples, groups], as they are and in each resample, of so many scenes (``units``).
    """
    held = totals[0] > 0
    if not held.any():
        return None, None, None
    hits, totals = (of[:, held] if mean else of.sum(axis=1, keepdims=True) for of in (hits, totals))
    known = (totals > 0).all(axis=1)
    value, *drawn = (hits[known] / totals[known]).mean(axis=1)
    low, high = alike(value, units, level) if all(d == value for d in drawn) else interval(np.array(drawn), level)
    return value, low, high
