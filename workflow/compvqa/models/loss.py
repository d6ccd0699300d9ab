"""What nets give of a batch: scores, and their loss where the answers are known."""

from __future__ import annotations

import torch
from torch.nn import functional

UNKNOWN_LABEL = -100  # of what no train question has for its answer, and of padding; losses leave it out


def scored(logits: torch.Tensor, labels: torch.Tensor | None) -> dict[str, torch.Tensor]:
    """``logits`` [B, classes], and their mean cross-entropy as ``loss`` where labels are given."""
    if labels is None:
        return {"logits": logits}
    known = (labels != UNKNOWN_LABEL).sum().clamp(min=1)
    return {"loss": functional.cross_entropy(logits, labels, reduction="sum") / known, "logits": logits}
