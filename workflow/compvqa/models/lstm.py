"""The question-only LSTM of CLEVR (Johnson et al., 2017, section 4.1): what can be answered without looking.

Words are embedded, a recurrent network reads them, and a perceptron classifies its last state into the answers seen in
training. It reads no regions.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import nn

from compvqa.models.loss import scored
from compvqa.models.task import Steps, Task
from compvqa.settings import Settings

GROUPS = 3  # of texts by length, on a processor: each is read as far as its longest goes


class ModelSettings(Settings):
    """The sizes of the LSTM and of what classifies its last state."""

    word_size: int = Field(64, ge=1, description="length of a word's embedding (clevr-iep: 300)")
    hidden_size: int = Field(128, ge=1, description="width of the LSTM (paper: 512 or 1024; clevr-iep: 256)")
    layers: int = Field(2, ge=1, description="layers of the LSTM (paper: 1 or 2)")
    classifier: tuple[int, ...] = Field(
        (256,), description="widths of the classifier's hidden layers (paper: 1 or 2 of 1024 to 8192)"
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="before each layer of the classifier, and between LSTM layers")
    longest: int = Field(64, ge=1, description="most tokens of a text")


class Reader(nn.Module):
    """Embedded tokens and an LSTM over them."""

    def __init__(self, tokens: int, word_size: int, hidden_size: int, layers: int, dropout: float):
        super().__init__()
        self.words = nn.Embedding(tokens, word_size)
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(word_size, hidden_size, layers, batch_first=True, dropout=between)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The last layer's state [B, H] after the last real token of each row; ``mask`` [B, L] tells (1) which tokens
        [B, L] are real: those before the padding, at least one."""
        if tokens.device.type != "cpu":
            return self._last(tokens, mask)
        order = torch.argsort(mask.sum(dim=1), stable=True)
        parts = [self._last(*(rows[chosen] for rows in (tokens, mask))) for chosen in order.chunk(GROUPS)]
        return torch.cat(parts)[torch.argsort(order)]

    def _last(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The same, without the tokens that are padding in all rows where time is saved by it."""
        longest = int(mask.sum(dim=1).max()) if tokens.device.type == "cpu" else tokens.shape[1]
        states, _ = self.lstm(self.words(tokens[:, :longest]))  # what comes after a token changes nothing before it
        return last_of(states, mask)


def last_of(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The states [B, H] of the last real tokens, of those [B, L, H] of all; ``mask`` [B, L] as in :class:`Reader`."""
    last = (mask.sum(dim=1) - 1)[:, None, None].expand(-1, 1, states.shape[2])
    return states.gather(1, last)[:, 0]


def classifier(size: int, hidden: tuple[int, ...], classes: int, dropout: float) -> nn.Sequential:
    """A perceptron with ReLU after each of the ``hidden`` layers, and dropout before each layer."""
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [nn.Dropout(dropout), nn.Linear(size, width), nn.ReLU()]
        size = width
    return nn.Sequential(*layers, nn.Dropout(dropout), nn.Linear(size, classes))


class Lstm(nn.Module):
    """A reader of questions and a classifier of its last state."""

    def __init__(self, settings: ModelSettings, words: int, answers: int):
        super().__init__()
        self.reader = Reader(words, settings.word_size, settings.hidden_size, settings.layers, settings.dropout)
        self.classifier = classifier(settings.hidden_size, settings.classifier, answers, settings.dropout)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        """Scores ``logits`` [B, answers] of the questions ``input_ids`` [B, L], and ``loss`` where labels are given."""
        return scored(self.classifier(self.reader(input_ids, attention_mask)), labels)


def optimizer(net: nn.Module, settings: Steps) -> torch.optim.Adam:
    """Adam, as the paper: what decays weights is part of the gradient, not beside it."""
    learnt = [value for value in net.parameters() if value.requires_grad]
    betas = (0.9, settings.beta2)
    return torch.optim.Adam(learnt, settings.learning_rate, betas, weight_decay=settings.weight_decay, fused=True)


def build(settings: ModelSettings, task: Task) -> Lstm:
    """An LSTM with random weights."""
    return Lstm(settings, task.words, len(task.answers))
