"""What the backbones of the multi-image model share: settings, a layer's attention, and how weights start (COVR,
section 5).

A module with a backbone has ``Backbone(settings, vocab_size, feature_dim)``, which
:class:`compvqa.models.multi_image.MultiImageModel` describes, and all that a model has (:mod:`compvqa.models`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from transformers import AutoTokenizer, PreTrainedModel

from compvqa.errors import InputError
from compvqa.features.store import GEOMETRY
from compvqa.settings import Settings

ANCHOR = 4.5  # how far names outweigh places at first, in words
WAVES = (1, 2, 4)  # half periods of the sines that tell a region's place
PLACE_SIZE = GEOMETRY * (1 + 2 * len(WAVES))  # numbers that tell it, sines and cosines included
FEW = 2  # tokens at most that ask alone: for them, no key or value is computed of what they see
WHOLE = (0, 0, 1, 1, 1)  # where the whole image is, as the store's geometry tells places
Model = TypeVar("Model", bound=PreTrainedModel)


class LayerSettings(Settings):
    """The size of a backbone's layers."""

    hidden_size: int = Field(64, ge=8, description="width of all layers")
    heads: int = Field(4, ge=1, description="attention heads over the images, and in a backbone that is not released")
    dropout: float = Field(0.0, ge=0, lt=1, description="in all layers that are not released")
    initializer_range: float = Field(
        0.08, gt=0, description="spread of the first weights that are not released (0.02 needs far longer)"
    )
    longest: int = Field(64, ge=8, description="most tokens of a text")
    images: Literal["seen", "zeroed"] = Field("seen", description="zeroed: the text-only baseline VBText")

    def bert(self, vocab_size: int) -> dict[str, Any]:
        """The sizes of a backbone that is not released, by transformers' names."""
        return {
            "vocab_size": vocab_size,
            "hidden_size": self.hidden_size,
            "num_attention_heads": self.heads,
            "intermediate_size": 2 * self.hidden_size,
            "hidden_dropout_prob": self.dropout,
            "attention_probs_dropout_prob": self.dropout,
            "max_position_embeddings": self.longest,
            "initializer_range": self.initializer_range,
            "pad_token_id": 0,
        }


class BackboneSettings(LayerSettings):
    """The size of a backbone's layers and of those over the images."""

    image_layers: int = Field(2, ge=1, description="transformer layers over the images of a question (paper: 2)")


class BertSettings(BackboneSettings):
    """A backbone whose released weights read BERT's words."""

    words: str = Field(
        "google-bert/bert-base-uncased",
        description="name or folder of the tokenizer of released weights",
    )
    as_released: bool = Field(
        False,
        description="the net that COVR's released code trains: no region of the whole image, the first one is pooled; "
        "questions filled up to five images by images of zeros, which are seen; layers over images fed forward as wide "
        "as the backbone's; dropout of pooled vectors; texts cut before their [SEP]. It needs a file of VOLTA's",
    )


class ProductPooler(nn.Module):
    """Pooled text times pooled image, each a projection of its first vector through a ReLU (VOLTA, section 3)."""

    def __init__(self, size: int, pooled: int):
        super().__init__()
        self.text = nn.Linear(size, pooled)
        self.image = nn.Linear(size, pooled)

    def forward(self, text: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        """Vectors [n, pooled] of a text's and an image's first vectors [n, size]."""
        return self.text(text).relu() * self.image(image).relu()


def layer_over(layer: Any, asking: torch.Tensor, seen: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The output of ``layer``, one of BERT's, for the tokens ``asking`` [n, q, H], which attend to ``seen`` [n, L, H].

    ``mask`` [n, 1, 1, L] tells (True) which of these are real. With ``asking`` for ``seen`` what BERT computes.
    """
    attended = attention_over(layer.attention.self, layer.attention.output, asking, seen, mask)
    return layer.output(layer.intermediate(attended), attended)


def attention_over(
    attention: Any, output: Any, asking: torch.Tensor, seen: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """What the tokens ``asking`` take from ``seen`` by the heads of ``attention``, fused, and then ``output``.

    Both modules are BERT's or LXMERT's; tokens and ``mask`` as in :func:`layer_over`.
    """
    if asking.shape[1] <= FEW:
        return output(_taken_by_few(attention, asking, seen, mask), asking)
    query, key, value = (
        part(tokens).unflatten(2, (attention.num_attention_heads, -1)).transpose(1, 2)
        for part, tokens in ((attention.query, asking), (attention.key, seen), (attention.value, seen))
    )
    dropped = attention.dropout.p if attention.training else 0.0
    mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropped)
    return output(mixed.transpose(1, 2).flatten(2), asking)


def _taken_by_few(attention: Any, asking: torch.Tensor, seen: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """What the heads give to the tokens ``asking`` [n, q, H], by another order of the same products.

    The queries go through the weights of the keys, and the mean of what they see through those of the values: neither
    key nor value is computed for each token of ``seen``.
    """
    heads = attention.num_attention_heads
    query = attention.query(asking).unflatten(2, (heads, -1))
    size = query.shape[-1]
    keys, values = (part.weight.unflatten(0, (heads, size)) for part in (attention.key, attention.value))
    looked = torch.einsum("nqhd,hdk->nhqk", query, keys).flatten(1, 2) @ seen.transpose(1, 2)
    biased = torch.einsum("nqhd,hd->nhq", query, attention.key.bias.view(heads, size))
    scores = (looked.unflatten(1, (heads, -1)) + biased[..., None]) / size**0.5
    weights = attention.dropout(scores.masked_fill(~mask, float("-inf")).softmax(dim=-1))
    found = (weights.flatten(1, 2) @ seen).unflatten(1, (heads, -1))
    taken = torch.einsum("nhqk,hdk->nqhd", found, values)
    bias = attention.value.bias.view(heads, size)
    return (taken + weights.sum(dim=-1).transpose(1, 2)[..., None] * bias).flatten(2)


def with_whole(
    features: torch.Tensor, geometry: torch.Tensor, region_mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Regions as :class:`MultiImageModel` gives them, widened, after one of the whole image: the mean of the real."""
    features = features.to(geometry.dtype)
    real = region_mask[..., None].to(features.dtype)
    mean = (features * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True).clamp(min=1)
    place = geometry.new_tensor(WHOLE).expand(len(geometry), 1, -1)
    mask = region_mask.new_ones(len(region_mask), 1)
    return torch.cat([mean, features], 1), torch.cat([place, geometry], 1), torch.cat([mask, region_mask], 1)


def initialise(module: nn.Module, scale: float) -> None:
    """Draw linear weights and embeddings of ``module`` from a normal distribution of spread ``scale``; biases are 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=scale)
        if isinstance(part, nn.Linear):
            nn.init.zeros_(part.bias)


def released_model(kind: type[Model], checkpoint: str, feature_dim: int, known: str) -> Model:
    """transformers' model ``kind`` with released weights; ``known`` is what its config calls the length of features."""
    try:
        model = kind.from_pretrained(checkpoint)
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the weights {checkpoint} of {kind.__name__} can't be loaded ({reason}).") from None
    check_features(checkpoint, getattr(model.config, known), feature_dim)
    return model


def words_of(settings: BertSettings, released: bool) -> Tokenizer | None:
    """The tokenizer of ``released`` weights, None where there are none; as COVR released, it cuts before the [SEP]."""
    if not released:
        return None
    found = released_tokenizer(settings.words)
    if settings.as_released:
        found.enable_truncation(settings.longest)
    return found


def released_tokenizer(name: str) -> Tokenizer:
    """The tokenizer ``name``, a name or folder as transformers takes them; it neither pads nor cuts."""
    try:
        found = AutoTokenizer.from_pretrained(name).backend_tokenizer
    except (OSError, ValueError) as error:
        raise InputError(f"the tokenizer {name} can't be loaded ({str(error).splitlines()[0]}).") from None
    found.no_padding()
    found.no_truncation()
    return found


def check_features(checkpoint: str, known: int, feature_dim: int) -> None:
    """InputError where released weights take features of another length than ours."""
    if known != feature_dim:
        raise InputError(f"{checkpoint} takes features of length {known}, not {feature_dim}: use its detector's.")


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
