"""CLEVR's CNN+LSTM (Johnson et al., 2017, section 4.1): a question's last state and a pooled picture, classified.

The picture is seen by a frozen network; its pooled vector and the last state of an LSTM over the question are put
together, and a perceptron classifies them into the answers seen in training.
"""

from __future__ import annotations

import torch
from torch import nn

from compvqa.models.loss import scored
from compvqa.models.lstm import Reader, classifier, optimizer
from compvqa.models.single_image import Looking, SingleImageSettings
from compvqa.models.task import Task

READS = ("pooled",)

__all__ = ["READS", "ModelSettings", "build", "optimizer"]


class ModelSettings(SingleImageSettings):
    """The sizes of the LSTM and of the perceptron."""


class CnnLstm(nn.Module):
    """A reader of questions, and a classifier of its last state and of a picture."""

    def __init__(self, settings: ModelSettings, words: int, dimension: int, answers: int):
        super().__init__()
        self.looking = Looking(settings)
        self.reader = Reader(words, settings.word_size, settings.hidden_size, settings.layers, settings.dropout)
        size = settings.hidden_size + dimension
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
        """Scores ``logits`` [B, answers] of the questions ``input_ids`` [B, L] about a picture each, whose pooled
        vector is its only row in ``features`` [B, 1, D]; and ``loss`` where ``labels`` are given."""
        picture = self.looking(features, question_of, len(input_ids))[:, 0]
        return scored(self.classifier(torch.cat([self.reader(input_ids, attention_mask), picture], dim=1)), labels)


def build(settings: ModelSettings, task: Task) -> CnnLstm:
    """A net with random weights."""
    return CnnLstm(settings, task.words, task.dimension or 0, len(task.answers))
