"""The systematicity gap (CLEVR-HOPE, section 4.2): how much more often a model is right on questions with a held-out
pair than on those without it, which is mostly below 0.

A split's table says which of its parts are compared (:mod:`compvqa.splits.held`), whatever its setup and language.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np

from compvqa.evaluation.contrasts import as_json
from compvqa.evaluation.intervals import Resampling, interval, resampled

VARIANTS = ()  # parts are compared, of the variant that is kept from the pair
LIKE = "like"  # the facet of its rows, whose value is the part that is compared with
Key = tuple[str, str, str]


def value(with_it: float, without: float) -> float:
    """The difference of two accuracies."""
    return with_it - without


def below(with_it: float, without: float) -> bool:
    """Nothing is marked."""
    return False


def rows(db: duckdb.DuckDBPyConnection, settings: Resampling, seed: int) -> Iterator[dict[str, Any]]:
    """A row for each model, text, and two parts that a split's table compares.

    Accuracies are over all runs, which answer the same; the interval draws the questions, or images, of either part for
    itself, and the same ones for all runs.
    """
    found = _patterns(db)
    held = db.sql("select split, part, without from held order by all").fetchall()
    for split, part, without in held:
        for key in [key for key in found if key[1] == split and (key[0], split, without, key[3]) in found]:
            if key[2] == part:
                yield _row(key, without, found, settings, seed)


def _patterns(db: duckdb.DuckDBPyConnection) -> dict[tuple[str, str, str, str], np.ndarray]:
    """By model, split, part and text the distinct outcomes of what is drawn, [m, 4]: how many answers are right, of how
    many, how many units have them, and of how many runs they are."""
    sql = """with own as (
            select split_part(run, '.', 1) as model, graded.split, graded.part, text, unit, run, correct from graded
            join (select distinct split, variant from held) told on graded.split = told.split
                and split_part(run, '.', 2) = told.split and split_part(run, '.', 3) = told.variant
        ), units as (
            select model, split, part, text, unit, sum(correct)::bigint as "right", count(*) as n,
                count(distinct run) as seeds from own group by all
        )
        select model, split, part, text, "right", n, count(*), max(seeds) from units group by all order by all"""
    found = defaultdict(list)
    for row in db.sql(sql).fetchall():
        found[row[:4]].append(row[4:])
    return {key: np.array(of) for key, of in found.items()}


def _row(
    key: tuple[str, str, str, str],
    without: str,
    found: dict[tuple[str, str, str, str], np.ndarray],
    settings: Resampling,
    seed: int,
) -> dict[str, Any]:
    model, split, part, text = key
    accuracies, drawn = [], []
    for name in (part, without):
        right, n, units, _ = (patterns := found[model, split, name, text]).T
        accuracies.append(float(right @ units / (n @ units)))
        told = (seed, "systematicity gap", model, split, name, text)
        drawn.append(resampled(patterns[:, :1].astype(float), units, settings, *told, sizes=n)[:, 0])
    low, high = interval(drawn[0] - drawn[1], settings.level)
    right, n, units, seeds = found[key].T
    return {
        "model": model, "split": split, "part": part, "text": text, "facet": LIKE, "value": without,
        "n": int(n @ units // seeds.max()), "seeds": int(seeds.max()),
        "accuracies": as_json({"with": accuracies[0], "without": accuracies[1]}),
        "score": value(*accuracies), "low": low, "high": high,
    }  # fmt: skip
