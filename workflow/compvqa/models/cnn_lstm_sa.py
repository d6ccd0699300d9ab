"""CLEVR's CNN+LSTM+SA (Johnson et al., 2017, section 4.1): stacked attention over the cells of a picture.

Stacked attention (Yang et al., 2016) looks at a grid of vectors, those of a frozen network, in rounds: the question's
state asks, each cell is weighed by how well it answers, and the weighted mean of the cells is added to the state, which
asks again. The last state is classified into the answers seen in training.
"""

from __future__ import annotations

from typing import cast

import torch
from pydantic import Field
from torch import nn

from compvqa.features.store import GEOMETRY
from compvqa.models.loss import scored
from compvqa.models.lstm import Reader, classifier, optimizer
from compvqa.models.single_image import Looking, SingleImageSettings
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

    def forward(self, told: torch.Tensor, state: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The shares [..., K] of cells, by what each ``told`` [..., K, hidden] (``of_cell``) and the states [..., H];
        ``mask`` [..., K] tells (1) the real ones."""
        asked = told + self.of_state(state)[..., None, :]
        if asked.device.type == "cpu":  # where tanh is slow: it is 2 sigmoid(2x) - 1, and the 1 changes no softmax
            scores = nn.functional.linear(asked.mul_(2).sigmoid_(), 2 * self.weight.weight)
        else:
            scores = self.weight(torch.tanh(asked))
        return scores.squeeze(-1).masked_fill(mask == 0, float("-inf")).softmax(dim=-1)


class CnnLstmSa(nn.Module):
    """A reader of questions, rounds of attention over a picture's cells, and a classifier of the last state."""

    def __init__(self, settings: ModelSettings, words: int, dimension: int, answers: int):
        super().__init__()
        self.looking, self.places = Looking(settings), settings.places
        size = settings.hidden_size
        self.reader = Reader(words, settings.word_size, size, settings.layers, settings.dropout)
        self.cells = nn.Linear(dimension + GEOMETRY * settings.places, size)
        hidden, rounds = settings.attention_size, settings.rounds
        self.rounds = nn.ModuleList(Attention(size, hidden) for _ in range(rounds))
        # Two linear layers in a row are one, whose weights are a product: which way has fewer products of numbers in a
        # step, where nothing learns from the gradient of features?
        self.at_once = 2 * rounds * hidden * dimension < 2 * dimension * size + 3 * rounds * size * hidden
        self.classifier = classifier(size, settings.classifier, answers, settings.dropout)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        picture_of: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """Scores ``logits`` [B, answers] of the questions ``input_ids`` [B, L] about a picture each, of the cells
        ``features`` [B, K, D] at the places ``geometry`` [B, K, 5]; and ``loss`` where ``labels`` are given. Where
        ``picture_of`` [B] tells each question's picture, there may be fewer pictures than questions."""
        picture = self.looking(features, question_of, len(input_ids))
        if self.places:
            picture = torch.cat([picture, geometry], dim=2)
        at = _standing(picture_of, len(input_ids), input_ids.device)
        read = self.reader(input_ids, attention_mask)
        state = read.new_zeros(len(picture), int(at[1].max()) + 1, read.shape[1]).index_put(at, read)
        for attention, told in zip(self.rounds, self._told(picture), strict=True):
            shares = attention(told[:, None], state, region_mask[:, None]).to(picture.dtype)
            state = state + self.cells(shares @ picture)  # the mean of cells is the cell of the mean
        return scored(self.classifier(state[at]), labels)

    def _told(self, picture: torch.Tensor) -> list[torch.Tensor]:
        """What the cells of a ``picture`` [B, K, D] tell each round [B, K, hidden]."""
        layers = [cast(Attention, part).of_cell for part in self.rounds]
        if not self.at_once:
            cells = self.cells(picture)
            return [layer(cells) for layer in layers]
        first = self.cells
        both = [(layer.weight @ first.weight, layer.weight @ first.bias + layer.bias) for layer in layers]
        return [nn.functional.linear(picture, *each) for each in both]


def _standing(picture_of: torch.Tensor | None, n: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Where each of ``n`` questions stands: the picture that it is about, and its place among the questions about that
    one; without ``picture_of`` each has a picture of its own."""
    numbers = torch.arange(n, device=device)
    if picture_of is None:
        return numbers, torch.zeros_like(numbers)
    order = torch.argsort(picture_of, stable=True)
    first = torch.searchsorted(picture_of[order], picture_of)
    return picture_of, torch.empty_like(numbers).index_put((order,), numbers) - first


def build(settings: ModelSettings, task: Task) -> CnnLstmSa:
    """A net with random weights."""
    return CnnLstmSa(settings, task.words, task.dimension or 0, len(task.answers))
