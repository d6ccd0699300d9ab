"""Settings of training, apart from the code that trains: reading a configuration must not load torch."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from compvqa.settings import Settings

Precision = Literal["auto", "float32", "bfloat16"]


class OptimisationSettings(Settings):
    """How long, how fast and in what steps a model is trained: AdamW with linear warm-up and linear decay."""

    epochs: float = Field(8, gt=0, description="passes over the training examples (paper: 8)")
    most_steps: int = Field(0, ge=0, description="end after so many steps, however many passes; 0: no such end")
    batch_size: int = Field(32, ge=1, description="examples a step")
    learning_rate: float = Field(1e-3, gt=0, description="peak")
    pretrained_rate: float = Field(
        1.0,
        gt=0,
        description="share of the learning rate for pretrained layers; below 1, new layers do not undo what they know",
    )
    warmup: float = Field(0.1, ge=0, lt=1, description="share of the steps before the peak")
    decay: float = Field(0.9, ge=0, le=1, description="share of the steps, at the end, over which it falls to zero")
    weight_decay: float = Field(0.01, ge=0, description="of AdamW")
    undecayed: tuple[str, ...] = Field(
        (), description="ends of the names of weights that do not decay, such as bias and LayerNorm.weight"
    )
    beta2: float = Field(0.999, gt=0, lt=1, description="of AdamW")
    epsilon: float = Field(1e-8, gt=0, description="of AdamW")
    clip: float = Field(1.0, ge=0, description="largest norm of a gradient; 0: any")
    clip_each: float = Field(0.0, ge=0, description="largest size of each number of a gradient; 0: any")
    order: Literal["drawn", "kept", "pictures"] = Field(
        "drawn",
        description="of the training examples: drawn for each pass; kept in all: by question id, as good as drawn; "
        "pictures: these are drawn for each pass, and their questions lie side by side, so that a model that knows "
        "picture_of (cnn_lstm_sa, clevr.module_net) reads a picture once for all of them",
    )
    evaluations: int = Field(8, ge=1, description="times that the held-out examples are looked at, evenly spread")
    patience: int = Field(3, ge=0, description="stop after so many looks without a better accuracy; 0: never")
    keep: Literal["best", "last"] = Field(
        "best",
        description="weights to keep: best on held-out examples, or the last, as where a setup holds out none",
    )
    precision: Precision = Field("auto", description="auto: bfloat16 where a GPU is")
    deterministic: bool = Field(
        True,
        description="on a GPU, deterministic algorithms alone: equal runs give equal bytes; false: faster, equal runs "
        "differ in the last bits; on a processor runs are equal either way",
    )
    workers: int = Field(0, ge=0, description="processes that load data")
    threads: int = Field(1, ge=1, description="of torch on the processor; other numbers give other bytes")

    def part(self, share: float, rate: float = 1.0) -> Self:
        """These settings for a phase of that ``share`` of the steps, with the learning rate times ``rate``."""
        steps = max(1, round(share * self.most_steps)) if self.most_steps else 0
        changed = {"epochs": share * self.epochs, "most_steps": steps, "learning_rate": rate * self.learning_rate}
        return self.model_copy(update=changed)


class PredictionSettings(Settings):
    """How questions are put to a trained model."""

    batch_size: int = Field(128, ge=1, description="questions that are answered at once")
    precision: Precision = Field("auto", description="auto: bfloat16 where a GPU is")
    workers: int = Field(0, ge=0, description="processes that load data")
    threads: int = Field(1, ge=1, description="of torch on the processor")
