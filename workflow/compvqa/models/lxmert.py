"""LXMERT (Tan and Bansal, 2019) from transformers: two streams, words and regions, and layers across them.

The backbone of the image filter (COVR, App. B), of a multi-image model, and of one of single images
(:mod:`compvqa.models.lxmert_vqa`). With ``checkpoint`` the released weights, their tokenizer and size; without, a tiny
one for training from scratch on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch import nn
from transformers import LxmertConfig, LxmertModel

from compvqa.models import multi_image
from compvqa.models.backbone import (
    PLACE_SIZE,
    BackboneSettings,
    LayerSettings,
    anchor_columns,
    anchor_words,
    attention_over,
    layer_over,
    released_model,
    released_tokenizer,
    waves,
)
from compvqa.models.multi_image import MultiImageModel
from compvqa.models.task import Task

READS = ("regions",)
EDGES = 4  # left, top, right and bottom: what the released weights know of a region's place
PLACE = 0.3  # how far names outweigh places at first, in regions


class LxmertSettings(LayerSettings):
    """The size of LXMERT."""

    checkpoint: str = Field("", description="name or folder of released weights, which give the size; empty: none")
    language_layers: int = Field(1, ge=1, description="layers over words alone (released: 9)")
    region_layers: int = Field(1, ge=1, description="layers over regions alone (released: 5)")
    cross_layers: int = Field(2, ge=1, description="layers across both (released: 5)")

    def config(self, vocab_size: int, feature_dim: int) -> LxmertConfig:
        """What transformers makes a net by that is not released."""
        layers = {"l_layers": self.language_layers, "r_layers": self.region_layers, "x_layers": self.cross_layers}
        seen = {"visual_feat_dim": feature_dim, "visual_pos_dim": PLACE_SIZE}
        return LxmertConfig(**self.bert(vocab_size), **layers, **seen)


class ModelSettings(LxmertSettings, BackboneSettings):
    """The size of LXMERT and of the layers over the images."""


class Backbone(nn.Module):
    """One text and one image to the pooled [CLS] of LXMERT."""

    word_embedding = "lxmert.embeddings.word_embeddings.weight"

    def __init__(self, settings: LxmertSettings, vocab_size: int, feature_dim: int):
        super().__init__()
        if settings.checkpoint:
            self.lxmert = released_model(LxmertModel, settings.checkpoint, feature_dim, "visual_feat_dim")
        else:
            self.lxmert = LxmertModel(settings.config(vocab_size, feature_dim))
        config = self.lxmert.config
        self.hidden_size = self.region_size = config.hidden_size
        self.edges_alone = config.visual_pos_dim == EDGES

    @torch.no_grad()
    def anchor(self, columns: Mapping[int, Sequence[int]]) -> None:
        """Let the projection of each feature column in ``columns`` start from the mean embedding of its tokens, and
        attention from what is alike, so that words look for the regions that they name from the first step on."""
        parts, encoder = self.lxmert.embeddings, self.lxmert.encoder
        words, projection = parts.word_embeddings.weight, encoder.visn_fc.visn_fc.weight
        anchor_words(words, parts.position_embeddings.weight)
        projection.mul_(0.3)
        encoder.visn_fc.box_layer_norm.weight.mul_(PLACE)
        anchor_columns(projection, words, columns)
        for layer in encoder.x_layers:
            attention = layer.visual_attention.att
            attention.key.weight.copy_(attention.query.weight)
        encoder.x_layers[0].visual_attention.att.query.weight.mul_(4)

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

        What LxmertModel computes, but attention is fused and the last layer works for what is pooled alone. An image
        without regions is one with a region of zeros.
        """
        place = geometry[..., :EDGES] if self.edges_alone else torch.cat([geometry, *waves(geometry)], dim=2)
        encoder = self.lxmert.encoder
        words, regions = (mask.bool()[:, None, None, :] for mask in (attention_mask, region_mask))
        regions = torch.cat([regions[..., :1] | ~regions.any(dim=3, keepdim=True), regions[..., 1:]], dim=3)
        text = self.lxmert.embeddings(input_ids, torch.zeros_like(input_ids))
        image = encoder.visn_fc(features.to(place.dtype), place)
        for layer in encoder.layer:
            text = layer_over(layer, text, text, words)
        for layer in encoder.r_layers:
            image = layer_over(layer, image, image, regions)
        *layers, last = encoder.x_layers
        for layer in layers:
            text, image = (
                _stream(layer, "lang", text, image, words, regions),
                _stream(layer, "visn", image, text, regions, words),
            )
        return self.lxmert.pooler(_stream(last, "lang", text, image, words, regions, 1)), image


def _stream(
    layer: nn.Module,
    name: str,
    own: torch.Tensor,
    other: torch.Tensor,
    real: torch.Tensor,
    real_other: torch.Tensor,
    asked: int | None = None,
) -> torch.Tensor:
    """One stream through a layer across both: ``own`` [n, L, H] attend to the ``other``, then to themselves; the output
    for the first ``asked`` of them. The masks ``real`` are as in :func:`layer_over`."""
    cross: Any = layer.visual_attention
    self_attention = getattr(layer, f"{name}_self_att")
    seen = attention_over(cross.att, cross.output, own, other, real_other)
    attended = attention_over(self_attention.self, self_attention.output, seen[:, :asked], seen, real)
    return getattr(layer, f"{name}_output")(getattr(layer, f"{name}_inter")(attended), attended)


def build(settings: ModelSettings, task: Task) -> MultiImageModel:
    """The multi-image model over this backbone."""
    return multi_image.build(Backbone, settings, task)


def tokenizer(settings: LxmertSettings) -> Tokenizer | None:
    """The tokenizer of the released weights; None where there are none."""
    return released_tokenizer(settings.checkpoint) if settings.checkpoint else None
