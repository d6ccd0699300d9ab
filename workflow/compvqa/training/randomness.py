"""The random generators that a training run draws from: seeded, kept in checkpoints, restored."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def seed(number: int) -> None:
    """Seed the generators of Python, numpy and torch."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 - of libraries and users' models, which draw from it
    torch.manual_seed(number)


def state() -> dict[str, Any]:
    """What the generators will draw, in numbers, lists and tensors."""
    kind, key, *rest = np.random.get_state()  # noqa: NPY002
    drawn = {"python": random.getstate(), "numpy": (kind, np.asarray(key).tolist(), *rest)}
    cuda = {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else {}
    return {**drawn, "torch": torch.get_rng_state(), **cuda}


def restore(drawn: dict[str, Any]) -> None:
    """Have the generators draw what they were to draw at that :func:`state`."""
    random.setstate(drawn["python"])
    np.random.set_state(drawn["numpy"])  # noqa: NPY002
    torch.set_rng_state(drawn["torch"])
    if "cuda" in drawn and torch.cuda.is_available():
        torch.cuda.set_rng_state(drawn["cuda"])
