"""m(x, y) from word filters fine-tuned on labelled pairs (COVR, App. A).

The model scores every pair, also those that people labelled, as in the paper: one model gives all m of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import torch

from compvqa.covr.filters.words.model import load, scores
from compvqa.errors import InputError
from compvqa.scenes.lexicon import KINDS, Lexicon

_load = lru_cache(maxsize=1)(load)  # kinds come one after the other, and a model can be large


def scorer(lexicon: Path, models: Path | None) -> Callable[[str, Sequence[str], Sequence[str]], list[float]]:
    """A function that gives m for the pairs (xs[i], ys[i]) of a kind; ``models`` has a folder for each kind."""
    if models is None:
        raise InputError("overlap.method: learned needs trained word filters; give their folder as --models.")
    torch.set_num_threads(1)  # other numbers give other bytes
    known = Lexicon.load(lexicon)

    def score(kind: str, xs: Sequence[str], ys: Sequence[str]) -> list[float]:
        return scores(_load(models / kind), kind, xs, ys, known).tolist()

    return score


def model_name(models: Path) -> str:
    """The method and the checkpoint that was fine-tuned: ``learned:minilm``."""
    return f"learned:{_load(models / KINDS[0]).name}"
