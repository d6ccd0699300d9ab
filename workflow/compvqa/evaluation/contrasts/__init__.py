"""Contrasts: one number made of two or more accuracies, with its interval, such as the generalization score.

Each is a module of this package, found by the name that the config has for it (``scores.contrasts``), with

* ``VARIANTS``, the variants of a model whose accuracies it compares, in the order of the following functions (none: it
  compares models);
* ``value(*accuracies)``, the number of these accuracies (0 to 1, or all in percent), None where it is undefined, and,
  if it may be, ``UNDEFINED``, why that is in a word or two;
* ``below(*accuracies)``, whether the model is worse than one that it should beat: tables mark it where that is sure;
* ``rows(db, settings, seed)``, rows of :data:`CONTRASTS` but for ``contrast``, for ``other``, ``facet`` and ``value``
  if they are of one model and all questions, and for ``undefined`` and ``below`` if no resample is so. They are made of
  what is ``graded`` and ``drawn`` in ``db`` (:func:`compvqa.evaluation.answers.grade`), or ``by_facet``, the same by
  facet (:func:`compvqa.evaluation.scores.score_rows`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import duckdb
import pyarrow as pa

from compvqa import plugins
from compvqa.evaluation.facets import ALL
from compvqa.evaluation.intervals import Resampling
from compvqa.tables import Schema

CONTRASTS = Schema(
    "contrasts",
    pa.schema(
        [
            ("contrast", pa.string()),
            ("model", pa.string()),
            ("other", pa.string()),  # the model that it is compared with; "": it is of one model
            ("split", pa.string()),
            ("part", pa.string()),
            ("text", pa.string()),  # as in the scores, as are facet and value
            ("facet", pa.string()),
            ("value", pa.string()),
            ("n", pa.int64()),
            ("seeds", pa.int64()),  # runs of the model that is scored
            ("accuracies", pa.string()),  # what it is made of: JSON, from 0 to 1 by variant, mean over seeds
            ("score", pa.float64()),  # null where it is undefined, as are low and high
            ("low", pa.float64()),  # bootstrap interval of the score
            ("high", pa.float64()),
            ("undefined", pa.float64()),  # share of the resamples in which it is so: low and high leave them out
            ("below", pa.float64()),  # share of the resamples in which tables mark it
        ]
    ),
    key=("contrast", "model", "other", "split", "part", "text", "facet", "value"),
)


class Contrast(Protocol):
    """A module of a contrast."""

    @property
    def VARIANTS(self) -> Sequence[str]: ...

    @property
    def value(self) -> Callable[..., float | None]: ...

    @property
    def below(self) -> Callable[..., bool]: ...

    def rows(self, db: duckdb.DuckDBPyConnection, settings: Resampling, seed: int) -> Iterable[dict[str, Any]]: ...


def find(name: str) -> Contrast:
    """The contrast called ``name``; an InputError says which there are."""
    return plugins.find(__name__, name, "rows", "contrast")


def contrast_rows(
    names: Iterable[str], db: duckdb.DuckDBPyConnection, settings: Resampling, seed: int
) -> list[dict[str, Any]]:
    """The rows of the contrasts ``names`` of what is ``graded`` in ``db``."""
    always = {"other": "", "facet": ALL, "value": "", "undefined": 0.0, "below": 0.0}
    return [{"contrast": name, **always, **row} for name in names for row in find(name).rows(db, settings, seed)]


def as_json(accuracies: Mapping[str, float]) -> str:
    """Accuracies by variant as a contrast's row holds them."""
    return json.dumps(accuracies, sort_keys=True)
