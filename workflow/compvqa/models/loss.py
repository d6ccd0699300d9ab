"""What nets give of a batch: scores, and their loss where the answers are known."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional

from compvqa.errors import InputError

UNKNOWN_LABEL = -100  # of what no train question has for its answer, and of padding; losses leave it out


def scored(logits: torch.Tensor, labels: torch.Tensor | None) -> dict[str, torch.Tensor]:
    """``logits`` [B, classes], and their mean cross-entropy as ``loss`` where labels are given."""
    if labels is None:
        return {"logits": logits}
    known = (labels != UNKNOWN_LABEL).sum().clamp(min=1)
    return {"loss": functional.cross_entropy(logits, labels, reduction="sum") / known, "logits": logits}


def scored_apart(logits: torch.Tensor, labels: torch.Tensor | None) -> dict[str, torch.Tensor]:
    """``logits`` [B, classes] and, as ``loss``, how well each class is told from all others, where labels are given:
    binary cross-entropy with one-hot targets, summed over classes and its mean over examples."""
    if labels is None:
        return {"logits": logits}
    known = labels != UNKNOWN_LABEL
    targets = functional.one_hot(labels[known], logits.shape[1]).to(logits.dtype)
    lost = functional.binary_cross_entropy_with_logits(logits[known], targets, reduction="sum")
    return {"loss": lost / known.sum().clamp(min=1), "logits": logits}


def check_given(net: torch.nn.Module, given: object, *needed: str) -> None:
    """Refuse what a net gave of a batch where it is no dictionary with all that is ``needed`` of it."""
    if not isinstance(given, Mapping) or any(name not in given for name in needed):
        gave = f"a dictionary of {', '.join(given)}" if isinstance(given, Mapping) else f"a {type(given).__name__}"
        raise InputError(
            f"forward of {type(net).__module__}.{type(net).__qualname__} gave {gave}: have it give a dictionary with "
            f"{' and '.join(needed)}, as compvqa.models.loss.scored does."
        )
