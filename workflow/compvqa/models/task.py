"""What a net is made for: the words, answers and features that it has to do with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from tokenizers import Tokenizer


@dataclass(frozen=True)
class Task:
    """What ``build`` of a model is told (:mod:`compvqa.models`)."""

    tokenizer: Tokenizer
    answers: list[str]  # the classes, in their order
    dimension: int | None = None  # the length of a region's features; None where the model sees no images
    most_regions: int | None = None  # of an image; None likewise
    survey: dict[str, Any] = field(default_factory=dict)  # what the module's own survey told of the train questions

    @property
    def words(self) -> int:
        """The number of tokens that the tokenizer knows."""
        return self.tokenizer.get_vocab_size()


class Asked(Protocol):
    """Questions, one after the other (:class:`compvqa.training.data.Questions`)."""

    texts: list[str]
    answers: list[str]
    programs: list[str]  # as JSON; empty for a model that reads none


class Steps(Protocol):
    """How long, how fast and in what steps is trained (:class:`compvqa.training.settings.OptimisationSettings`)."""

    learning_rate: float
    weight_decay: float
    beta2: float

    def part(self, share: float, rate: float = 1.0) -> Self:
        """The same for a phase of that share of the steps, with the learning rate times ``rate``."""


class Work(Protocol):
    """What a model's own ``train`` gets (:class:`compvqa.training.job.Job`, which says what each is)."""

    net: Any
    model_settings: Any
    task: Task
    learnt: Asked
    held_out: Asked
    out: Path
    settings: Any
    seed: int
    collate: Callable[[Sequence[Any]], dict[str, Any]]

    def examples(self, questions: Any) -> Any:
        """The questions as the net reads them."""

    def fit(self, net: Any, learnt: Any, held_out: Any, **how: Any) -> dict[str, float]:
        """Train a net."""

    def gather(self, *phases: str) -> None:
        """Make one run's files of its phases'."""
