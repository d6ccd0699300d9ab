"""VisualBERT (Li et al., 2019) from transformers, as the backbone of the multi-image model.

Built from its configuration; the default is a tiny one for training from scratch on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from pydantic import Field
from torch import nn
from torch.nn import functional
from transformers import VisualBertConfig, VisualBertModel

from compvqa.features.store import GEOMETRY
from compvqa.models.multi_image import MatchModel, MultiImageModel
from compvqa.settings import Settings

ANCHOR = 4.5  # how far names outweigh places at first
WAVES = (1, 2, 4)  # half periods of the sines that tell a region's place


class ModelSettings(Settings):
    """The size of VisualBERT and of the layers over the images."""

    hidden_size: int = Field(64, ge=8, description="width of all layers")
    layers: int = Field(3, ge=1, description="layers of the backbone, over words and regions")
    heads: int = Field(4, ge=1, description="attention heads, in the backbone and over the images")
    image_layers: int = Field(2, ge=1, description="transformer layers over the images (paper: 2)")
    dropout: float = Field(0.0, ge=0, lt=1, description="in all layers")
    initializer_range: float = Field(0.08, gt=0, description="spread of the first weights (0.02 needs far longer)")
    longest: int = Field(64, ge=8, description="most tokens of a text")
    images: Literal["seen", "zeroed"] = Field("seen", description="zeroed: the text-only baseline VBText")


class VisualBertBackbone(nn.Module):
    """One question and one image to one vector: the pooled [CLS] of VisualBERT."""

    word_embedding = "bert.embeddings.word_embeddings.weight"

    def __init__(self, settings: ModelSettings, vocab_size: int, feature_dim: int):
        super().__init__()
        self.hidden_size = settings.hidden_size
        self.place_size = GEOMETRY * (1 + 2 * len(WAVES))
        self.bert = VisualBertModel(
            VisualBertConfig(
                vocab_size=vocab_size,
                hidden_size=settings.hidden_size,
                visual_embedding_dim=feature_dim + self.place_size,
                num_hidden_layers=settings.layers,
                num_attention_heads=settings.heads,
                intermediate_size=2 * settings.hidden_size,
                hidden_dropout_prob=settings.dropout,
                attention_probs_dropout_prob=settings.dropout,
                max_position_embeddings=settings.longest,
                initializer_range=settings.initializer_range,
                pad_token_id=0,
            )
        )

    @torch.no_grad()
    def anchor(self, columns: Mapping[int, Sequence[int]]) -> None:
        """Let the projection of each feature column in ``columns`` start from the mean embedding of its tokens, and
        attention from what is alike, so that words look for the regions that they name from the first step on."""
        parts = self.bert.embeddings
        words, projection = parts.word_embeddings.weight, parts.visual_projection.weight
        words.mul_(ANCHOR)
        projection[:, : -self.place_size].mul_(0.3)
        projection[:, -self.place_size :].mul_(0.5)
        parts.position_embeddings.weight.copy_(0.2 * 2**0.5 * positions(*parts.position_embeddings.weight.shape))
        for column, tokens in columns.items():
            projection[:, column] = words[list(tokens)].mean(dim=0)
        for place in (
            parts.token_type_embeddings,
            parts.visual_token_type_embeddings,
            parts.visual_position_embeddings,
        ):
            place.weight.div_(2)
        for layer in self.bert.encoder.layer[:2]:
            layer.attention.self.key.weight.copy_(layer.attention.self.query.weight)
        self.bert.encoder.layer[0].attention.self.query.weight.mul_(4)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Pooled vectors [n, H] and the regions' before the last layer [n, K, H]; arguments as
        :class:`MultiImageModel` gives them.

        What VisualBertModel computes, but attention is fused and the last layer works for the [CLS] alone, the only
        token that is pooled: about half the time on a processor.
        """
        seen = torch.cat([features, geometry, *waves(geometry)], dim=2)
        hidden = self.bert.embeddings(input_ids=input_ids, visual_embeds=seen)
        mask = torch.cat([attention_mask, region_mask], dim=1).bool()[:, None, None, :]
        *layers, last = self.bert.encoder.layer
        for layer in layers:
            hidden = _layer(layer, hidden, hidden, mask)
        return self.bert.pooler(_layer(last, hidden[:, :1], hidden, mask)), hidden[:, input_ids.shape[1] :]


def positions(n: int, width: int) -> torch.Tensor:
    """Sines and cosines of the positions 0 … n - 1 [n, width] (width even): near ones look alike, wherever they are."""
    rates = 100 ** (-torch.arange(width // 2) / (width // 2))
    angles = torch.arange(n)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def waves(numbers: torch.Tensor) -> list[torch.Tensor]:
    """Sines and cosines of ``numbers`` in 0 to 1, so that near ones look alike and far ones do not."""
    return [function(torch.pi * wave * numbers) for wave in WAVES for function in (torch.sin, torch.cos)]


def _layer(layer: nn.Module, asking: torch.Tensor, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """A VisualBertLayer's output for the tokens ``asking`` [n, q, H], which attend to ``hidden`` [n, L, H]."""
    attention = layer.attention.self
    query, key, value = (
        part(tokens).unflatten(2, (attention.num_attention_heads, -1)).transpose(1, 2)
        for part, tokens in ((attention.query, asking), (attention.key, hidden), (attention.value, hidden))
    )
    dropped = attention.dropout.p if layer.training else 0.0
    mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropped)
    attended = layer.attention.output(mixed.transpose(1, 2).flatten(2), asking)
    return layer.output(layer.intermediate(attended), attended)


def build(settings: ModelSettings, vocab_size: int, n_answers: int, feature_dim: int) -> MultiImageModel:
    """The multi-image model for questions."""
    return MultiImageModel(
        VisualBertBackbone(settings, vocab_size, feature_dim),
        n_answers,
        settings.image_layers,
        settings.heads,
        settings.initializer_range,
        settings.dropout,
        settings.images == "zeroed",
    )


def build_match(settings: ModelSettings, vocab_size: int, n_classes: int, feature_dim: int) -> MatchModel:
    """The one-image model of pretraining."""
    return MatchModel(VisualBertBackbone(settings, vocab_size, feature_dim), n_classes, settings.initializer_range)
