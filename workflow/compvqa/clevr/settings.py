"""The section ``dataset`` of CLEVR: made of templates on scenes (clevr), or as it was released (clevr_released)."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, field_validator

from compvqa.clevr.generate import GenerateSettings
from compvqa.clevr.hope.sets import HopeSettings
from compvqa.clevr.parts import PartsSettings
from compvqa.config import Config, Dataset
from compvqa.scenes.ingest import has_places
from compvqa.scenes.worlds.clevr_pools import ClevrPools


class _Families(Dataset):
    """What all have: templates, by which families are known, and words."""

    language: ClassVar[str] = "clevr"

    templates: Path | None = Field(
        None,
        description="folder of templates (*.json) in the original's format; null: templates/clevr beside the config, "
        "and those of the project, file by file",
    )
    words: Path | None = Field(
        None, description="the words for attributes and relations, with synonyms (JSON); null: config/words/clevr.json"
    )

    def check(self, config: Config) -> None:
        """Refuse what has no scenes with places, and what other engines make."""
        if not any(has_places(source.reader) for source in config.sources):
            raise ValueError("CLEVR's questions need scenes whose source tells places: give sources with reader clevr")
        if config.models.easy:
            raise ValueError("models.easy needs distractors, which CLEVR's questions have not: leave it out")


class _Clevr(_Families, PartsSettings):
    """One dataset, whose parts are dealt by the scenes' sides."""


class Clevr(_Clevr):
    """CLEVR's questions, made of templates on scenes."""

    kind: Literal["clevr"]
    questions: GenerateSettings = GenerateSettings()

    def check(self, config: Config) -> None:
        """The mode compat draws from one stream, in one shard."""
        super().check(config)
        if self.questions.mode == "compat" and config.shards > 1:
            raise ValueError("dataset.questions.mode compat draws all from one stream: write `shards: 1`")


class ClevrReleased(_Clevr):
    """CLEVR's question files, as released, or of its generator."""

    kind: Literal["clevr_released"]
    files: dict[str, Path] = Field(min_length=1, description="the question file of each side (train, val, …)")
    parts: dict[str, dict[str, float]] = Field(
        {"train": {"train": 0.95, "dev": 0.05}, "val": {"test": 1}},
        description="for a side the parts of the dataset that its scenes are dealt to, with their shares, by stable "
        "rank: since the test's answers were never released, models are tested on val and chosen by a share of train",
    )

    @field_validator("files")
    @classmethod
    def _named(cls, files: dict[str, Path]) -> dict[str, Path]:
        if wrong := [side for side in files if not side.isalnum()]:
            raise ValueError(f"{wrong[0]!r} names no side: use letters and digits, as in train or valB")
        return files

    def raw(self) -> dict[str, list[Path]]:
        """The question files."""
        return {"questions": list(self.files.values())}


class ClevrHope(_Families, HopeSettings):
    """CLEVR's questions for held-out pairs, which the splits name: for each a dataset of its own (CLEVR-HOPE)."""

    kind: Literal["clevr_hope"]
    shards: PositiveInt = Field(2, description="pieces in which the questions of a pair are made")

    def check(self, config: Config) -> None:
        """A world's pools have what pairs take of them."""
        super().check(config)
        world = config.world and config.world.settings
        if isinstance(world, ClevrPools):
            for name, taken in self.pools.items():
                drawn = sum(world.pools[side].scenes for side in taken.sides if side in world.pools)
                if drawn < taken.scenes and set(taken.sides) <= world.pools.keys():
                    raise ValueError(
                        f"dataset.pools.{name} takes {taken.scenes} scenes, of {drawn} that world.settings.pools draws"
                    )
            if self.variants > world.variants:
                raise ValueError(f"dataset.variants is {self.variants}, of {world.variants} that the world draws")


class ClevrPrelim(_Clevr):
    """Questions that name one attribute value each, about pictures of one and of five objects (CLEVR-PRELIM)."""

    kind: Literal["clevr_prelim"]
    parts: dict[str, dict[str, float]] = Field(
        {"minimal": {"test": 1}, "counted": {"test": 1}},
        description="for a side the parts of the dataset that its scenes are dealt to, with their shares, by stable "
        "rank: all is test, since nothing is learnt from it",
    )


DATASETS = (Clevr, ClevrHope, ClevrPrelim, ClevrReleased)
