"""CLEVR's CNN+LSTM+SA (Johnson et al., 2017, section 4.1): stacked attention over the cells of a picture.

Stacked attention (Yang et al., 2016) looks at a grid of vectors, those of a frozen network, in rounds: the question's
state asks, each cell is weighed by how well it answers, and the weighted mean of the cells is added to the state, which
asks again. The last state is classified into the answers seen in training.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import nn

from compvqa.features.store import GEOMETRY
from compvqa.models.loss import scored
from compvqa.models.lstm import Reader, classifier, optimizer
from compvqa.models.single_image import SingleImageSettings, seen
from compvqa.models.task import Task

READS = ("regions",)

__all__ = ["READS", "ModelSettings", "build", "optimizer"]


class ModelSettings(SingleImageSettings):
    """The sizes of the LSTM, of the attention, and of what classifies its last state."""

    classifier: tuple[int, ...] = Field(
        (), description="widths of the classifier's hidden layers (clevr-iep: 0 or 1024)"
    )
    attention_size: int = Field(256, ge=1, description="width of the attention's hidden layer (clevr-iep: 512)")
    rounds: int = Field(2, ge=1, description="rounds of attention (paper: 2)")
    places: bool = Field(
        False, description="cells tell where they are, besides what is seen in them (not in the paper)"
    )


class Attention(nn.Module):
    """One round: how much of each cell is taken, by a question's state."""

    def __init__(self, size: int, hidden: int):
        super().__init__()
        self.of_cell = nn.Linear(size, hidden)
        self.of_state = nn.Linear(size, hidden, bias=False)
        self.weight = nn.Linear(hidden, 1, bias=False)  # a bias would change no softmax

    def forward(self, cells: torch.Tensor, state: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The states [B, H] with what they take of ``cells`` [B, K, H]; ``mask`` [B, K] tells (1) the real ones."""
        told = torch.tanh(self.of_cell(cells) + self.of_state(state)[:, None])
        scores = self.weight(told).squeeze(2).masked_fill(mask == 0, float("-inf"))
        taken = scores.softmax(dim=1).to(cells.dtype)[:, None] @ cells
        return state + taken[:, 0]


class CnnLstmSa(nn.Module):
    """A reader of questions, rounds of attention over a picture's cells, and a classifier of the last state."""

    def __init__(self, settings: ModelSettings, words: int, dimension: int, answers: int):
        super().__init__()
        self.images, self.places = settings.images, settings.places
        size = settings.hidden_size
        self.reader = Reader(words, settings.word_size, size, settings.layers, settings.dropout)
        self.cells = nn.Linear(dimension + GEOMETRY * settings.places, size)
        self.rounds = nn.ModuleList(Attention(size, settings.attention_size) for _ in range(settings.rounds))
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
        """Scores ``logits`` [B, answers] of the questions ``input_ids`` [B, L] about a picture each, of the cells
        ``features`` [B, K, D] at the places ``geometry`` [B, K, 5]; and ``loss`` where ``labels`` are given."""
        picture = seen(self.images, features, question_of, len(input_ids))
        if self.places:
            picture = torch.cat([picture, geometry], dim=2)
        cells, state = self.cells(picture), self.reader(input_ids, attention_mask)
        for attention in self.rounds:
            state = attention(cells, state, region_mask)
        return scored(self.classifier(state), labels)


def build(settings: ModelSettings, task: Task) -> CnnLstmSa:
    """A net with random weights."""
    return CnnLstmSa(settings, task.words, task.dimension or 0, len(task.answers))
