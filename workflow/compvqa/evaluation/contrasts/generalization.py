"""The generalization score (COVR, section 5): how much of what is lost by holding a property out a model gains back.

It is the share of the gap between a model without images (``text``) and one trained on as many questions, drawn from
all (``size``), that the model trained on the split (``comp``) closes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import duckdb
import numpy as np

from compvqa.evaluation.contrasts import as_json
from compvqa.evaluation.intervals import Resampling, interval, resampled, unseen
from compvqa.splits.setups import ALL

VARIANTS = ("text", "comp", "size")
UNDEFINED = "no gap"
_OF_VARIANT = """max(correct) filter (variant = '{0}') as right{1}, max(seeds) filter (variant = '{0}') as seeds{1}"""


def value(text: float, comp: float, size: float) -> float | None:
    """The share of the gap that is closed: 0 at least, maybe above 1.

    None where there is no gap, that is, where the model trained on as many questions is no better than without images.
    """
    return max(0.0, (comp - text) / (size - text)) if size > text else None


def below(text: float, comp: float, size: float) -> bool:
    """Whether the model is worse than the one without images."""
    return comp < text


def rows(db: duckdb.DuckDBPyConnection, settings: Resampling, seed: int) -> Iterator[dict[str, Any]]:
    """A row for each model with runs of all three variants, part with what a split holds out, and text.

    Accuracies are means over seeds, and the interval resamples the questions, or images, the same ones for all three.
    """
    return rows_of(VARIANTS, "graded", db, settings, seed)


def rows_of(
    variants: tuple[str, str, str], graded: str, db: duckdb.DuckDBPyConnection, settings: Resampling, seed: int
) -> Iterator[dict[str, Any]]:
    """The rows of the score of other ``variants``, of what is ``graded``: a table, or a query in brackets."""
    low, middle, high = variants
    patterns = db.sql(
        f"""with summed as (
            select split_part(run, '.', 1) as model, split, part, text, split_part(run, '.', 3) as variant,
                question_id, unit, sum(correct)::bigint as correct, count(*) as seeds
            from {graded} where held_out = '{ALL}' group by all
        ), questions_of as (
            select model, split, part, text, question_id, unit,
                {", ".join(_OF_VARIANT.format(variant, i) for i, variant in enumerate((low, middle, high)))}
            from summed group by all
        ), units as (
            select model, split, part, text, unit, sum(right0)::bigint as right0, sum(right1)::bigint as right1,
                sum(right2)::bigint as right2, count(*) as questions, max(seeds0) as seeds0, max(seeds1) as seeds1,
                max(seeds2) as seeds2
            from questions_of where right0 is not null and right1 is not null and right2 is not null group by all
        )
        select model, split, part, text, right0, right1, right2, questions, count(*) as n, max(seeds0), max(seeds1),
            max(seeds2)
        from units group by all order by all"""
    ).fetchall()
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row in patterns:
        groups.setdefault(row[:4], []).append(row[4:])
    return (_row(variants, key, group, settings, seed) for key, group in groups.items())


def _row(
    variants: tuple[str, str, str],
    key: tuple[Any, ...],
    patterns: list[tuple[Any, ...]],
    settings: Resampling,
    seed: int,
) -> dict[str, Any]:
    """One row from the distinct outcomes of what is drawn: how often each of the three models is right, on how many
    questions; of how many units, and the models' seeds. Whole numbers are summed, so that no sum depends on its order.
    """
    outcomes = np.array([row[:3] for row in patterns])
    sizes, counts = np.array([row[3:5] for row in patterns]).T
    seeds = np.array([row[5:] for row in patterns]).max(axis=0)
    n = int(counts @ sizes)
    accuracies = (counts @ outcomes / n / seeds).tolist()
    means = (resampled(outcomes, counts, settings, seed, *key, sizes=sizes) / seeds).tolist()
    defined = np.array([found for found in (value(*mean) for mean in means) if found is not None])
    score = value(*accuracies)
    low, high = (None, None) if score is None or not len(defined) else interval(defined, settings.level)
    if low is not None and low == high:
        low, high = _extremes(accuracies, int(counts.sum()), settings.level)
    model, split, part, text = key
    return {
        "model": model, "split": split, "part": part, "text": text, "n": n, "seeds": int(seeds[1]),
        "accuracies": as_json(dict(zip(variants, accuracies, strict=True))), "score": score, "low": low, "high": high,
        "undefined": 1 - len(defined) / len(means), "below": sum(below(*mean) for mean in means) / len(means),
    }  # fmt: skip


def _extremes(accuracies: list[float], units: int, level: float) -> tuple[float, float]:
    """The interval of a score that all resamples have: what it would be, at the lowest and the highest, if the units
    that were not seen (:func:`unseen`) were answered right by some of the three models and wrong by the others."""
    share = unseen(units, level)
    mixed = (
        value(*((1 - share) * seen + share * right for seen, right in zip(accuracies, rights, strict=True)))
        for rights in product((0, 1), repeat=len(accuracies))
    )
    found = [score for score in mixed if score is not None]
    return min(found), max(found)
