"""The section ``models`` of the config: which models answer the questions, and what they are trained on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from pydantic import Field, NonNegativeInt

from compvqa.settings import Settings


class CurveSettings(Settings):
    """The effect of M (Figure 13): each model on each of these splits, with each of these M."""

    splits: tuple[str, ...] = Field((), description="few-shot splits of splits.names")
    models: tuple[str, ...] = Field((), description="the models of models.trained that it is of; empty: all")
    sizes: tuple[NonNegativeInt, ...] = Field(
        (0, 50, 125, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 33_000),
        description="M: how many train questions with the property are kept; all where there are fewer",
    )


class ModelsSettings(Settings):
    """Which models answer the questions, and what they are trained on."""

    baselines: tuple[str, ...] = Field(
        ("maj", "majtempl"),
        description="models without training: modules of compvqa/models, such as maj, majtempl, qtype, executor",
    )
    trained: tuple[str, ...] = Field((), description="files of config/models, without .yaml")
    asked: tuple[str, ...] = Field(
        (),
        description="vision-language models that are asked: files of config/models with a key inspect, without .yaml",
    )
    seeds: tuple[int, ...] = Field((1, 2), description="a run of each model for each of these")
    splits: tuple[str, ...] = Field((), description="splits that models are trained on, besides iid")
    splits_of: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="for a model, which of these splits it is trained on; others: all of them"
    )
    split_seeds: tuple[int, ...] = Field((), description="seeds of the runs on these splits; empty: as seeds")
    seeds_of: dict[str, tuple[int, ...]] = Field(
        default_factory=dict, description="for a split, the seeds of the runs on it, where these are others"
    )
    variants: tuple[str, ...] = Field(
        (),
        description="variants of these runs, of those that a setup trains on every split, such as comp and size, or "
        "small, medium and large; empty: all",
    )
    variants_of: dict[str, tuple[str, ...]] | None = Field(
        None, description="for a split, the variants of its runs where these are not those of variants; null: for none"
    )
    easy: bool = Field(
        False,
        description="train each model on questions with random images for distractors as well (VBEasyDistractors)",
    )
    curve: CurveSettings = CurveSettings()
    seen_before: Literal["mark", "refuse"] = Field(
        "mark",
        description="what becomes of a run whose pretraining asked questions with what its split holds out: mark: its "
        "scores are marked wherever they are shown; refuse: it is not trained, and the run of the workflow stops",
    )
    pretrained: bool = Field(
        True,
        description="whether small models with a backbone first learn to match images and subgraphs, as an engine may "
        "have them do; not where a split holds out what that would show",
    )
    pretraining_seed: int = Field(1, description="all runs of a model start from one pretraining, with this seed")
    gpus: int = Field(
        0,
        ge=0,
        description="GPUs that the training of a model on questions asks for and is shared by, each with its part of "
        "every batch; all other jobs of models ask for one, or for none where this is 0",
    )
    cpus: int = Field(1, ge=1, description="cores that a training job asks for")

    def variants_on(self, split: str) -> tuple[str, ...]:
        """The variants that are named for a split's runs; none: all."""
        return (self.variants_of or {}).get(split, self.variants)

    def check(self, splits: Collection[str]) -> None:
        """Refuse (ValueError) a key that names what another lacks, or that does nothing; ``splits`` are those made."""
        _known("splits", self.splits, splits, "splits.names")
        _known("curve.splits", self.curve.splits, splits, "splits.names")
        for named in self.splits_of.values():
            _known("splits_of", named, self.splits, "models.splits")
        _known("splits_of", self.splits_of, self.trained, "models.trained")
        _known("seeds_of", self.seeds_of, self.splits, "models.splits")
        _known("variants_of", self.variants_of or (), self.splits, "models.splits")
        idle = {
            "easy": self.easy,
            "splits": bool(self.splits) and not self.asked,
            "curve.splits": bool(self.curve.splits),
        }
        if not self.trained and any(idle.values()):
            key = next(key for key, value in idle.items() if value)
            raise ValueError(f"models.{key} does nothing without models.trained: name a model there, or leave it out")
        _known("curve.models", self.curve.models, self.trained, "models.trained")


def _known(key: str, named: Iterable[str], there: Collection[str], where: str) -> None:
    if unknown := sorted(set(named) - set(there)):
        raise ValueError(f"models.{key} names {unknown[0]}, which is not in {where}")
