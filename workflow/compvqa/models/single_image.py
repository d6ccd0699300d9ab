"""What CLEVR's models of one picture and its question share (Johnson et al., 2017, section 4.1)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field

from compvqa.models import lstm


class SingleImageSettings(lstm.ModelSettings):
    """The sizes of what reads the question and of what classifies it with its picture."""

    images: Literal["seen", "zeroed"] = Field("seen", description="zeroed: the text-only baseline")


def seen(images: str, features: torch.Tensor, question_of: torch.Tensor, n: int) -> torch.Tensor:
    """The ``features`` [n, K, D] of the pictures of ``n`` questions, in float32, or zeros where ``images`` is zeroed.

    ValueError where a question has not one picture.
    """
    if len(question_of) != n or not torch.equal(question_of, torch.arange(n, device=question_of.device)):
        raise ValueError(
            "this model reads questions about one picture each: take a model of several, such as visualbert"
        )
    return torch.zeros_like(features, dtype=torch.float32) if images == "zeroed" else features.float()


def of_pictures(images: str, features: torch.Tensor, question_of: torch.Tensor, n: int) -> torch.Tensor:
    """The pooled vectors [n, D] of the pictures of ``n`` questions, as :func:`seen` gives them."""
    return seen(images, features, question_of, n)[:, 0]
