"""What a net is made for: the words, answers and features that it has to do with."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenizers import Tokenizer


@dataclass(frozen=True)
class Task:
    """What ``build`` of a model is told (:mod:`compvqa.models`)."""

    tokenizer: Tokenizer
    answers: list[str]  # the classes, in their order
    dimension: int | None = None  # the length of a region's features; None where the model reads no regions
    most_regions: int | None = None  # of an image; None likewise
    survey: dict = field(default_factory=dict)  # what the module's own survey told of the train questions

    @property
    def words(self) -> int:
        """The number of tokens that the tokenizer knows."""
        return self.tokenizer.get_vocab_size()
