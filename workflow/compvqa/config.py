"""The whole configuration: the stages' own settings, composed, and the files that it names.

The config says what to run; templates, splits, models, tables and figures are each one file in a folder
of ``config/``, found by name.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import Field, model_validator

from compvqa.balance import BalanceSettings
from compvqa.errors import InputError
from compvqa.evaluation.analyses.validity import ValiditySettings
from compvqa.evaluation.scores import ScoreSettings
from compvqa.features.settings import FeatureSettings
from compvqa.filters.images import PresenceSettings
from compvqa.filters.labels import LabelSettings
from compvqa.filters.word_settings import WordFilterSettings
from compvqa.filters.words import OverlapSettings
from compvqa.graphs.backend import CandidateSettings
from compvqa.graphs.enumerate import SubgraphSettings
from compvqa.graphs.related import RelatedSettings
from compvqa.paper.explorer.questions import ExplorerSettings
from compvqa.questions.covr.generate import QuestionsSettings
from compvqa.run import load_yaml, validate
from compvqa.scenes.ingest import SourceSettings
from compvqa.scenes.sprites import SpritesSettings
from compvqa.settings import Settings
from compvqa.splits.splitters import SplitSettings

ONTOLOGY = ("gqa_objects.txt", "gqa_attributes.txt", "gqa_relations.txt")


class LexiconSource(Settings):
    """Where the vocabulary's knowledge comes from: one of the two."""

    file: Path | None = Field(None, description="a lexicon (JSON), as the sprites world writes one")
    gqa: Path | None = Field(None, description="folder of GQA's ontology files")

    @model_validator(mode="after")
    def _one(self) -> LexiconSource:
        if (self.file is None) == (self.gqa is None):
            raise ValueError("give either file or gqa")
        return self

    def option(self) -> str:
        """The option of the command line that names it."""
        return f"--file {self.file}" if self.file else f"--gqa {self.gqa}"

    def files(self) -> list[str]:
        """The files to read."""
        return [str(self.file)] if self.file else [str(self.gqa / name) for name in ONTOLOGY]


class SplitsSection(SplitSettings):
    """Which splits are made, and what they share."""

    names: tuple[str, ...] = Field(("iid",), description="files of config/splits, without .yaml")


class ModelsSection(Settings):
    """Which models answer the questions, and what they are trained on."""

    baselines: tuple[str, ...] = Field(("maj", "majtempl"), description="models that see no image")
    trained: tuple[str, ...] = Field((), description="files of config/models, without .yaml")
    seeds: tuple[int, ...] = Field((1, 2), description="a run of each model for each of these")
    splits: tuple[str, ...] = Field((), description="splits that models are trained on, besides iid")
    split_seeds: tuple[int, ...] = Field((), description="seeds of the runs on these splits; empty: as seeds")
    pretraining_seed: int = Field(1, description="all runs of a model start from one pretraining, with this seed")
    gpus: int = Field(0, ge=0, le=1, description="GPUs that a training job asks for")
    cpus: int = Field(1, ge=1, description="cores that a training job asks for")


class PaperSection(Settings):
    """What is made for the reader."""

    title: str = Field("COVR, rebuilt", description="of the page with all tables and figures")
    show: tuple[str, ...] = Field((), description="files of config/paper, without .yaml, in the page's order")


class Config(Settings):
    """All of a run's settings."""

    testbed: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="names the folder of the results")
    seed: int = Field(1, description="of every random choice")
    shards: int = Field(2, ge=1, le=1000, description="pieces of the work that grows with the data")
    sources: tuple[SourceSettings, ...] = Field(min_length=1, description="the preferred source of an image first")
    lexicon: LexiconSource
    images: dict[str, Path] = Field(default_factory=dict, description="folder of pictures by image space")
    truth: Path | None = Field(None, description="the world's truth, where it is known (sprites)")
    world: Path = Field(Path("resources/sprites"), description="folder in which the sprites world is made")
    sprites: SpritesSettings = SpritesSettings()
    subgraphs: SubgraphSettings = SubgraphSettings()
    overlap: OverlapSettings = OverlapSettings()
    word_labels: LabelSettings = LabelSettings()
    word_filter: WordFilterSettings = WordFilterSettings()
    candidates: CandidateSettings = CandidateSettings()
    presence: PresenceSettings = PresenceSettings()
    related: RelatedSettings = RelatedSettings()
    questions: QuestionsSettings = QuestionsSettings()
    balance: BalanceSettings = BalanceSettings()
    splits: SplitsSection = SplitsSection()
    features: FeatureSettings = FeatureSettings()
    models: ModelsSection = ModelsSection()
    scores: ScoreSettings = ScoreSettings()
    validity: ValiditySettings = ValiditySettings()
    samples: ExplorerSettings = ExplorerSettings()
    paper: PaperSection = PaperSection()

    @model_validator(mode="after")
    def _whole(self) -> Config:
        names = [source.name for source in self.sources]
        if len(set(names)) < len(names):
            raise ValueError("two sources have one name")
        unknown = sorted(set(self.models.splits) - set(self.splits.names))
        if unknown:
            raise ValueError(f"models.splits names {unknown[0]}, which is not in splits.names")
        if self.word_filter.encoder.hints and not self.word_labels.files:
            raise ValueError(
                "word_filter.encoder.hints needs word_labels.files: the lexicon would be told its own labels"
            )
        if self.models.trained and not (self.features.released.sources or (self.images and self.truth)):
            raise ValueError("models.trained needs features.released, or images and truth; leave it empty without")
        return self

    def source(self, name: str) -> SourceSettings:
        """The source called ``name``."""
        return next(source for source in self.sources if source.name == name)

    def section(self, name: str) -> str:
        """A section as the JSON that its stage gets."""
        return as_json(self.model_dump(mode="json")[name])


class Definitions:
    """The files of a folder of ``config/``, by name, as data."""

    def __init__(self, folder: Path):
        self.folder = folder

    def load(self, name: str) -> dict:
        """The content of ``<name>.yaml``; :class:`InputError` names the files there are."""
        path = self.folder / f"{name}.yaml"
        if not path.is_file():
            known = ", ".join(sorted(p.stem for p in self.folder.glob("*.yaml")))
            raise InputError(f"config/{self.folder.name} has no {name}.yaml: correct the name (there are {known}).")
        return load_yaml(path)

    def digest(self, *names: str) -> str:
        """A hash of the content of the named files, or of all; comments and formatting do not count."""
        chosen = names or sorted(p.stem for p in self.folder.glob("*.yaml"))
        data = as_json({name: self.load(name) for name in chosen})
        return hashlib.blake2b(data.encode(), digest_size=12).hexdigest()


def load_config(data: dict) -> Config:
    """The configuration in ``data``, checked; the first thing wrong with it is an :class:`InputError`."""
    config = validate(Config, data)
    return config.model_copy(update={"sources": tuple(s for s in config.sources if s.enabled)})


def read_config(path: Path) -> Config:
    """The configuration in a YAML file."""
    return load_config(load_yaml(path))


def as_json(data: object) -> str:
    """``data`` as JSON with sorted keys."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False)


def schema() -> str:
    """The JSON schema of the configuration."""
    return json.dumps(Config.model_json_schema(), indent=1, ensure_ascii=False) + "\n"
