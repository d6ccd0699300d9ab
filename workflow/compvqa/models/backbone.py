"""What the backbones of the multi-image model share: their settings, and how places and names start (COVR, section 5).

A backbone is a module of this package with ``ModelSettings`` and ``Backbone(settings, vocab_size, feature_dim)``, which
:class:`compvqa.models.multi_image.MultiImageModel` describes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from pydantic import Field

from compvqa.settings import Settings

ANCHOR = 4.5  # how far names outweigh places at first, in words
WAVES = (1, 2, 4)  # half periods of the sines that tell a region's place


class BackboneSettings(Settings):
    """The size of a backbone's layers and of those over the images."""

    hidden_size: int = Field(64, ge=8, description="width of all layers")
    heads: int = Field(4, ge=1, description="attention heads, in the backbone and over the images")
    image_layers: int = Field(2, ge=1, description="transformer layers over the images of a question (paper: 2)")
    dropout: float = Field(0.0, ge=0, lt=1, description="in all layers that are not released")
    initializer_range: float = Field(
        0.08, gt=0, description="spread of the first weights that are not released (0.02 needs far longer)"
    )
    longest: int = Field(64, ge=8, description="most tokens of a text")
    images: Literal["seen", "zeroed"] = Field("seen", description="zeroed: the text-only baseline VBText")


def anchor_words(words: torch.Tensor, places: torch.Tensor) -> None:
    """Let embeddings of ``words`` outweigh those of their ``places`` in the text, of which near ones look alike."""
    words.mul_(ANCHOR)
    places.copy_(0.2 * 2**0.5 * positions(*places.shape))


def anchor_columns(projection: torch.Tensor, words: torch.Tensor, columns: Mapping[int, Sequence[int]]) -> None:
    """Let the ``projection`` of each feature column in ``columns`` start from the mean embedding of its tokens."""
    for column, tokens in columns.items():
        projection[:, column] = words[list(tokens)].mean(dim=0)


def positions(n: int, width: int) -> torch.Tensor:
    """Sines and cosines of the positions 0 … n - 1 [n, width] (width even): near ones look alike, wherever they are."""
    rates = 100 ** (-torch.arange(width // 2) / (width // 2))
    angles = torch.arange(n)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def waves(numbers: torch.Tensor) -> list[torch.Tensor]:
    """Sines and cosines of ``numbers`` in 0 to 1, so that near ones look alike and far ones do not."""
    return [function(torch.pi * wave * numbers) for wave in WAVES for function in (torch.sin, torch.cos)]
