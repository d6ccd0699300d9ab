"""VisualBERT (Li et al., 2019) from transformers, as the backbone of the multi-image model.

Built from its configuration; the default is a tiny one for training from scratch on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from pydantic import Field
from torch import nn
from torch.nn import functional
from transformers import VisualBertConfig, VisualBertModel

from compvqa.features.store import GEOMETRY
from compvqa.models.backbone import WAVES, BackboneSettings, anchor_columns, anchor_words, waves


class ModelSettings(BackboneSettings):
    """The size of VisualBERT and of the layers over the images."""

    layers: int = Field(3, ge=1, description="layers of the backbone, over words and regions")


class Backbone(nn.Module):
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
        anchor_words(words, parts.position_embeddings.weight)
        projection[:, : -self.place_size].mul_(0.3)
        projection[:, -self.place_size :].mul_(0.5)
        anchor_columns(projection, words, columns)
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
