"""m(x, y) from word filters fine-tuned on labelled pairs (COVR, App. A).

The model scores every pair, also those that people labelled, as in the paper: one model gives all m of a kind. One that
is no better than a constant on the pairs held out from its training is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch

from compvqa import tables
from compvqa.covr.filters.floors import balanced
from compvqa.covr.filters.words import overlap
from compvqa.covr.filters.words.labels import EXCLUSIVE, OVERLAPPING
from compvqa.covr.filters.words.model import load, scores
from compvqa.covr.filters.words.training import HELD_OUT, SCORED
from compvqa.errors import InputError
from compvqa.files import read_json

_load = lru_cache(maxsize=1)(load)  # kinds come one after the other, and a model can be large


def scorer(kind: str, given: overlap.Knowledge) -> overlap.Score:
    """A function that gives m for the pairs (xs[i], ys[i]); ``given.models`` has a folder for each kind."""
    if given.models is None:
        raise InputError("overlap.method: learned needs trained word filters; give their folder as --models.")
    folder = given.models / kind
    _refuse(kind, tables.read(folder / "scored.parquet", SCORED).to_pylist(), given)
    torch.set_num_threads(1)  # other numbers give other bytes

    def score(xs: Sequence[str], ys: Sequence[str]) -> list[float]:
        return scores(_load(folder), kind, xs, ys, given.known).tolist()

    return score


def model_name(kind: str, given: overlap.Knowledge) -> str:
    """The method and the checkpoint that was fine-tuned: ``learned:minilm``."""
    assert given.models is not None
    return f"learned:{read_json(given.models / kind / 'model.json')['name']}"


def _refuse(kind: str, scored: Sequence[dict], given: overlap.Knowledge) -> None:
    """Raise :class:`InputError` where the filter is below its floor on the pairs held out from its training."""
    held_out = [row for row in scored if row["part"] == HELD_OUT]
    truth = np.array([row["label"] == EXCLUSIVE for row in held_out], bool)
    found = balanced(np.array([row["m"] > 0.5 for row in held_out], bool), truth, given.level)
    short = found.shortfall(given.least_balanced, "its balanced accuracy")
    if short:
        number = Counter({label: 0 for label in (EXCLUSIVE, OVERLAPPING)} | Counter(row["label"] for row in held_out))
        few = min(number, key=lambda label: number[label])
        raise InputError(
            f"the word filter of {kind}s is no better than a constant: on {len(held_out)} held-out pairs"
            f" ({number[EXCLUSIVE]} exclusive, {number[OVERLAPPING]} overlapping) {short}; label more {few} pairs of"
            f" {kind}s, or set overlap.methods: {{{kind}: lexicon}}."
        )
