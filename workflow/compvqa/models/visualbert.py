"""VisualBERT (Li et al., 2019) from transformers, as the backbone of the multi-image model: words and regions in one
stream.

With ``checkpoint`` released weights: a transformers checkpoint, or a file of VOLTA's controlled setup (Bugliarello et
al., 2021), whose regions come after one of the whole image (but ``as_released``) and whose pooled text is multiplied by
the pooled image. Neither knows where regions are. Without, a tiny one for training from scratch on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch import nn
from transformers import VisualBertConfig, VisualBertModel

from compvqa.errors import InputError
from compvqa.models import as_released
from compvqa.models.backbone import (
    PLACE_SIZE,
    BertSettings,
    ProductPooler,
    anchor_columns,
    anchor_words,
    check_features,
    layer_over,
    released_model,
    waves,
    with_whole,
    words_of,
)
from compvqa.models.multi_image import MultiImageModel
from compvqa.models.task import Task
from compvqa.models.volta import Weights, visualbert_names

READS = ("regions",)


class ModelSettings(BertSettings):
    """The size of VisualBERT and of the layers over the images."""

    checkpoint: str = Field(
        "",
        description="weights that were released, which give the size: a file of VOLTA's, or a name or folder as"
        " transformers takes them; empty: none",
    )
    layers: int = Field(3, ge=1, description="layers of the backbone, over words and regions (released: 12)")


class Backbone(nn.Module):
    """One question and one image to one vector: the pooled [CLS], or its product with the pooled image."""

    word_embedding = "bert.embeddings.word_embeddings.weight"

    def __init__(self, settings: ModelSettings, vocab_size: int, feature_dim: int):
        super().__init__()
        self.pooler: ProductPooler | None = None
        self.place_size = 0 if settings.checkpoint else PLACE_SIZE
        self.whole = not settings.as_released  # whether a region of the whole image comes first
        if Path(settings.checkpoint).is_file():
            self._volta(Weights.read(settings.checkpoint), feature_dim)
        elif settings.checkpoint:
            self.bert = released_model(VisualBertModel, settings.checkpoint, feature_dim, "visual_embedding_dim")
        else:
            seen = {"visual_embedding_dim": feature_dim + PLACE_SIZE, "num_hidden_layers": settings.layers}
            self.bert = VisualBertModel(VisualBertConfig(**settings.bert(vocab_size), **seen))
        if settings.as_released and not self.pooler:
            raise InputError(f"as_released needs a file of VOLTA's, not {settings.checkpoint!r}: name one.")
        self.region_size, self.fed_size = self.bert.config.hidden_size, self.bert.config.intermediate_size
        self.hidden_size = self.pooler.text.out_features if self.pooler else self.region_size

    def _volta(self, weights: Weights, feature_dim: int) -> None:
        layers = len(weights.sublayers("query"))
        check_features(weights.path, weights.size("embeddings.projection.weight", 1), feature_dim)
        config = VisualBertConfig(**weights.bert(), visual_embedding_dim=feature_dim, num_hidden_layers=layers)
        self.bert = VisualBertModel(config, add_pooling_layer=False)
        self.pooler = ProductPooler(config.hidden_size, weights.pooled())
        weights.load(self, visualbert_names(layers))

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
        """Pooled vectors [n, H] and the regions' before the last layer [n, K, R]; arguments as
        :class:`MultiImageModel` gives them.

        What VisualBertModel computes, but attention is fused and the last layer works for what is pooled alone: about
        half the time on a processor.
        """
        whole = bool(self.pooler) and self.whole
        if whole:
            features, geometry, region_mask = with_whole(features, geometry, region_mask)
        seen = features.to(geometry.dtype)  # autocast to bfloat16 concatenates no float16
        if self.place_size:
            seen = torch.cat([seen, geometry, *waves(geometry)], dim=2)
        hidden = self.bert.embeddings(input_ids=input_ids, visual_embeds=seen)
        mask = torch.cat([attention_mask, region_mask], dim=1).bool()[:, None, None, :]
        *layers, last = self.bert.encoder.layer
        for layer in layers:
            hidden = layer_over(layer, hidden, hidden, mask)
        words = input_ids.shape[1]
        if self.pooler:
            text, image = layer_over(last, hidden[:, [0, words]], hidden, mask).unbind(dim=1)
            return self.pooler(text, image), hidden[:, words + whole :]
        return self.bert.pooler(layer_over(last, hidden[:, :1], hidden, mask)), hidden[:, words:]


def build(settings: ModelSettings, task: Task) -> MultiImageModel:
    """The multi-image model over this backbone."""
    return as_released.build(Backbone, settings, task)


def tokenizer(settings: ModelSettings) -> Tokenizer | None:
    """The tokenizer of the released weights; None where there are none."""
    return words_of(settings, bool(settings.checkpoint))
