"""How much of what is lost by holding a property out a vision-language model gains back from shots without it.

It is the generalization score in context: of the gap between a model that is asked without pictures (``text``) and one
whose shots all have what the split holds out (``shown``), the share that is closed where shots come from what the split
lets a model learn from (``comp``: none with it in a zero-shot split, in a few-shot one some of its M).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from compvqa.evaluation.contrasts import generalization
from compvqa.evaluation.intervals import Resampling

VARIANTS = ("text", "comp", "shown")
UNDEFINED = generalization.UNDEFINED
value, below = generalization.value, generalization.below


def rows(db: duckdb.DuckDBPyConnection, settings: Resampling, seed: int) -> Iterator[dict[str, Any]]:
    """A row for each model that is asked in all three ways, part with what a split holds out, and text.

    Texts are drawn anew, each with all questions that it asks, and images, with all about the same ones, whatever other
    scores draw; the interval reaches from the lower of both ends to the higher.
    """
    by_wording, by_images = (
        generalization.rows_of(VARIANTS, f"({_GRADED.format(unit)})", db, settings, seed)
        for unit in ("wording", "images")
    )
    for one, other in zip(by_wording, by_images, strict=True):
        yield one | {
            "low": _of(min, one["low"], other["low"]),
            "high": _of(max, one["high"], other["high"]),
            "undefined": max(one["undefined"], other["undefined"]),
            "below": min(one["below"], other["below"]),
        }


_GRADED = """select graded.* exclude (unit), {} as unit from graded join drawn using (question_id)
    where split_part(run, '.', 3) in ('text', 'comp', 'shown')"""


def _of(choose: Any, *ends: float | None) -> float | None:
    """One of the ends that there are; None where there is none."""
    there = [end for end in ends if end is not None]
    return choose(there) if there else None
