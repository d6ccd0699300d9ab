"""What CLEVR's models of one picture and its question share (Johnson et al., 2017, section 4.1)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import nn

from compvqa.models import lstm
from compvqa.settings import Settings


class PictureSettings(Settings):
    """How pictures are seen."""

    images: Literal["seen", "zeroed"] = Field("seen", description="zeroed: the text-only baseline")
    normalised: bool = Field(
        False, description="each vector of a picture is brought to mean 0 and spread 1, which large numbers need"
    )


class SingleImageSettings(lstm.ModelSettings, PictureSettings):
    """The sizes of what reads the question and of what classifies it with its picture."""


class Looking(nn.Module):
    """What a net sees of the pictures of its questions."""

    def __init__(self, settings: PictureSettings):
        super().__init__()
        self.zeroed, self.normalised = settings.images == "zeroed", settings.normalised

    def forward(self, features: torch.Tensor, question_of: torch.Tensor | None, n: int) -> torch.Tensor:
        """The ``features`` [n, K, D] of the pictures of ``n`` questions, in float32; ValueError where a question
        has not one picture. None for ``question_of``: questions share pictures, and there are fewer."""
        numbers = torch.arange(n, device=features.device)
        if question_of is not None and not torch.equal(question_of, numbers):
            raise ValueError(
                "this model reads questions about one picture each: take one of several, such as visualbert"
            )
        if self.zeroed:
            return torch.zeros_like(features, dtype=torch.float32)
        seen = features.float()
        return nn.functional.layer_norm(seen, seen.shape[-1:]) if self.normalised else seen


class Standardised(nn.BatchNorm1d):
    """Numbers brought to mean 0 and spread 1, by those of a batch in training, and by what was counted elsewhere."""

    def __init__(self, size: int):
        super().__init__(size, affine=False)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The rows [B, size], each number for itself; one row alone has no spread, and is taken by what was counted."""
        if len(rows) == 1:
            return nn.functional.batch_norm(rows, self.running_mean, self.running_var, eps=self.eps)
        return super().forward(rows)
