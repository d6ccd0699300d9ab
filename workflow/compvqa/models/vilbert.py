"""ViLBERT (Lu et al., 2019), built from BERT's layers: a stream of words and one of regions, and layers in which each
attends to the other.

As in VOLTA's controlled setup (Bugliarello et al., 2021): layers over the text alone, then blocks in which both streams
first attend to each other and then each to itself; the regions come after one of the whole image (but ``as_released``);
what is pooled of the text is multiplied by what is pooled of the image. With ``checkpoint`` the weights of a file of
VOLTA's; without, a tiny one for training from scratch on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertEmbeddings, BertLayer

from compvqa.errors import InputError
from compvqa.features.store import GEOMETRY
from compvqa.models import as_released
from compvqa.models.backbone import (
    PLACE_SIZE,
    BertSettings,
    ProductPooler,
    anchor_columns,
    anchor_words,
    check_features,
    initialise,
    layer_over,
    waves,
    with_whole,
    words_of,
)
from compvqa.models.multi_image import MultiImageModel
from compvqa.models.task import Task
from compvqa.models.volta import Weights, vilbert_names

READS = ("regions",)
PARTS = ("text_to_image", "image_to_text", "text", "image")  # the layers of a block


class ModelSettings(BertSettings):
    """The size of ViLBERT and of the layers over the images."""

    checkpoint: str = Field("", description="file of VOLTA's weights, which give the size; empty: none")
    text_layers: int = Field(1, ge=1, description="layers over words alone, before the blocks (released: 6)")
    blocks: int = Field(2, ge=1, description="blocks of a layer across the streams and one within each (released: 6)")


class ImageEmbeddings(nn.Module):
    """What an image's stream begins with: projections of its regions' features and of their places."""

    def __init__(self, config: BertConfig, feature_dim: int, place_size: int):
        super().__init__()
        self.features = nn.Linear(feature_dim, config.hidden_size)
        self.place = nn.Linear(place_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, features: torch.Tensor, geometry: torch.Tensor) -> torch.Tensor:
        """Vectors [n, K, H] of regions with ``features`` [n, K, D] and ``geometry`` [n, K, 5]."""
        if self.place.in_features > GEOMETRY:
            geometry = torch.cat([geometry, *waves(geometry)], dim=2)
        return self.dropout(self.LayerNorm(self.features(features) + self.place(geometry)))


class Backbone(nn.Module):
    """One text and one image to the product of their pooled vectors."""

    word_embedding = "text.word_embeddings.weight"

    def __init__(self, settings: ModelSettings, vocab_size: int, feature_dim: int):
        super().__init__()
        self.whole = not settings.as_released  # whether a region of the whole image comes first
        if settings.as_released and not settings.checkpoint:
            raise InputError("as_released needs a file of VOLTA's, not '': name one as checkpoint.")
        if not settings.checkpoint:
            config = BertConfig(**settings.bert(vocab_size))
            self._build(config, settings.text_layers, settings.blocks, feature_dim, PLACE_SIZE, config.hidden_size)
            initialise(self, settings.initializer_range)
            for part in (self.pooler.text, self.pooler.image):
                nn.init.ones_(part.bias)  # else a ReLU is shut in three of four products, and these learn nothing
            return
        weights = Weights.read(settings.checkpoint)
        seeing = weights.sublayers("v_query")
        layers = seeing[0] // 2 if seeing else 0, (len(seeing) + 1) // 2
        check_features(settings.checkpoint, weights.size("v_embeddings.image_embeddings.weight", 1), feature_dim)
        self._build(BertConfig(**weights.bert()), *layers, feature_dim, GEOMETRY, weights.pooled())
        weights.load(self, vilbert_names(*layers))

    def _build(
        self, config: BertConfig, text_layers: int, blocks: int, feature_dim: int, place_size: int, pooled: int
    ) -> None:
        self.hidden_size, self.region_size, self.fed_size = pooled, config.hidden_size, config.intermediate_size
        self.text = BertEmbeddings(config)
        self.image = ImageEmbeddings(config, feature_dim, place_size)
        self.text_layers = nn.ModuleList(BertLayer(config) for _ in range(text_layers))
        self.blocks = nn.ModuleList(nn.ModuleDict({part: BertLayer(config) for part in PARTS}) for _ in range(blocks))
        self.pooler = ProductPooler(config.hidden_size, pooled)

    @torch.no_grad()
    def anchor(self, columns: Mapping[int, Sequence[int]]) -> None:
        """Let the projection of each feature column in ``columns`` start from the mean embedding of its tokens, and
        attention across the streams from what is alike, so that words look for the regions that they name from the
        first step on."""
        words, projection = self.text.word_embeddings.weight, self.image.features.weight
        anchor_words(words, self.text.position_embeddings.weight)
        projection.mul_(0.3)
        self.image.place.weight.mul_(0.5)
        anchor_columns(projection, words, columns)
        blocks: list[Any] = [*self.blocks]
        for block in blocks:
            for part in PARTS[:2]:
                attention = block[part].attention.self
                attention.key.weight.copy_(attention.query.weight)
        blocks[0]["text_to_image"].attention.self.query.weight.mul_(4)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Pooled vectors [n, H] and the regions' before their last layer [n, K, R]; arguments as
        :class:`MultiImageModel` gives them. The last layers work for what is pooled alone."""
        if self.whole:
            features, geometry, region_mask = with_whole(features, geometry, region_mask)
        words, regions = (mask.bool()[:, None, None, :] for mask in (attention_mask, region_mask))
        text, image = self.text(input_ids), self.image(features.to(geometry.dtype), geometry)
        for layer in self.text_layers:
            text = layer_over(layer, text, text, words)
        blocks: list[Any] = [*self.blocks]
        for number, block in enumerate(blocks, 1):
            text, image = (
                layer_over(block["text_to_image"], text, image, regions),
                layer_over(block["image_to_text"], image, text, words),
            )
            asked = 1 if number == len(self.blocks) else None
            seen = image[:, self.whole :]
            text = layer_over(block["text"], text[:, :asked], text, words)
            image = layer_over(block["image"], image[:, :asked], image, regions)
        return self.pooler(text[:, 0], image[:, 0]), seen


def build(settings: ModelSettings, task: Task) -> MultiImageModel:
    """The multi-image model over this backbone."""
    return as_released.build(Backbone, settings, task)


def tokenizer(settings: ModelSettings) -> Tokenizer | None:
    """The tokenizer of the released weights; None where there are none."""
    return words_of(settings, bool(settings.checkpoint))
