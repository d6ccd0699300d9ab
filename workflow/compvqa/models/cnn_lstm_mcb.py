"""CLEVR's CNN+LSTM+MCB (Johnson et al., 2017, section 4.1): question and picture multiplied, in a compact form.

Multimodal compact bilinear pooling (Fukui et al., 2016) classifies the outer product of two vectors, through its count
sketch: the convolution of their two sketches, by the Fourier transform. The question is the last states of two LSTMs,
one over the other; there is no attention.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import nn

from compvqa.models.loss import scored
from compvqa.models.lstm import last_of, optimizer
from compvqa.models.single_image import Looking, SingleImageSettings
from compvqa.models.task import Task

READS = ("pooled",)
TINY = 1e-8  # keeps the root's slope finite where a number is 0

__all__ = ["READS", "ModelSettings", "build", "optimizer"]


class ModelSettings(SingleImageSettings):
    """The sizes of the LSTMs and of the sketch; ``classifier`` counts no layer where it is empty, as in the paper."""

    classifier: tuple[int, ...] = Field((), description="no hidden layer: the sketch itself is classified")
    layers: int = Field(2, ge=1, description="LSTMs, one over the other, whose last states are read together")
    sketch_size: int = Field(1024, ge=1, description="length of the sketch (paper: 16,000)")
    dropout: float = Field(0.1, ge=0, lt=1, description="of the sketch")


class CountSketch(nn.Module):
    """A vector's numbers, each with a sign and at a place of its own drawn at random, added up where places meet."""

    place: torch.Tensor
    sign: torch.Tensor

    def __init__(self, size: int, sketch_size: int):
        super().__init__()
        self.sketch_size = sketch_size
        self.register_buffer("place", torch.randint(sketch_size, (size,)))
        self.register_buffer("sign", torch.randint(2, (size,)).float() * 2 - 1)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """The sketches [B, sketch_size] of ``vectors`` [B, size]."""
        return vectors.new_zeros(len(vectors), self.sketch_size).index_add(1, self.place, vectors * self.sign)


def compact_product(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The circular convolution of two sketches [B, size]: the sketch of their vectors' outer product, whose places add
    up and whose signs are multiplied."""
    size = one.shape[1]
    return torch.fft.irfft(torch.fft.rfft(one) * torch.fft.rfft(other), n=size)


class CnnLstmMcb(nn.Module):
    """LSTMs over the question, the sketched product of their states and a picture, and a linear classifier."""

    def __init__(self, settings: ModelSettings, words: int, dimension: int, answers: int):
        super().__init__()
        self.looking = Looking(settings)
        hidden = settings.hidden_size
        self.words = nn.Embedding(words, settings.word_size)
        sizes = [settings.word_size, *[hidden] * (settings.layers - 1)]
        self.lstms = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True) for size in sizes)
        self.of_question = CountSketch(settings.layers * hidden, settings.sketch_size)
        self.of_picture = CountSketch(dimension, settings.sketch_size)
        self.dropout = nn.Dropout(settings.dropout)
        self.classifier = nn.Linear(settings.sketch_size, answers)

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
        question = self._read(input_ids, attention_mask)
        with torch.autocast(picture.device.type, enabled=False):  # the transform knows no bfloat16
            product = compact_product(self.of_question(question.float()), self.of_picture(picture))
            rooted = product.sign() * (product.abs() + TINY).sqrt()
            sketch = nn.functional.normalize(rooted, dim=1)
        return scored(self.classifier(self.dropout(sketch)), labels)

    def _read(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The last states of all LSTMs [B, layers x H]."""
        states, found = self.words(tokens), []
        for lstm in self.lstms:
            states, _ = lstm(states)
            found.append(last_of(states, mask))
        return torch.cat(found, dim=1)


def build(settings: ModelSettings, task: Task) -> CnnLstmMcb:
    """A net with random weights and random sketches, which are kept with them."""
    return CnnLstmMcb(settings, task.words, task.dimension or 0, len(task.answers))
