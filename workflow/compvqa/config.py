"""The whole configuration: the stages' own settings, composed, and the files that it names.

The config says what to run; templates, splits, models, tables and figures are each one file in a folder
of ``config/``, found by name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from compvqa.covr.filters.images.examples import ExampleSettings
from compvqa.covr.filters.images.labels import ImageLabelSettings
from compvqa.covr.filters.images.presence import ScoringSettings
from compvqa.covr.filters.images.thresholds import ThresholdSettings
from compvqa.covr.filters.names.labels import LabelSettings
from compvqa.covr.filters.names.overlap import OverlapSettings
from compvqa.covr.filters.names.settings import WordFilterSettings
from compvqa.covr.judging.distractors import NO_FILTERS
from compvqa.covr.judging.filters import IntervalSettings
from compvqa.covr.judging.validity import ValiditySettings
from compvqa.covr.questions.balance import BalanceSettings
from compvqa.covr.questions.generate import QuestionsSettings
from compvqa.covr.released.reader import ReleasedQuestions
from compvqa.covr.subgraphs.enumerate import SubgraphSettings
from compvqa.covr.subgraphs.related import RelatedSettings
from compvqa.covr.subgraphs.search import CandidateSettings, Neo4jSettings
from compvqa.errors import InputError
from compvqa.evaluation.scores import ScoreSettings
from compvqa.features.settings import FeatureSettings
from compvqa.files import read_yaml
from compvqa.paper.explorer.questions import ExplorerSettings
from compvqa.publish.settings import PublishSettings
from compvqa.run import validate
from compvqa.scenes.ingest import SourceSettings
from compvqa.scenes.worlds.sprites import SpritesSettings
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
        return f"--file={self.file}" if self.file else f"--gqa={self.gqa}"

    def files(self) -> list[str]:
        """The files to read."""
        return [str(self.file)] if self.file else [str(self.gqa / name) for name in ONTOLOGY]


class PresenceSection(ScoringSettings):
    """The image-subgraph classifier: its model, what it learns from, how it is asked, and its thresholds."""

    model: str = Field("lxmert-tiny", description="file of config/models, without .yaml, that the folds are trained by")
    examples: ExampleSettings = Field(ExampleSettings(), description="what the folds learn from")
    calibrated: bool = Field(
        False, description="set the thresholds by annotated images; false: related.tau_object and so on"
    )
    annotated: Path | None = Field(
        None,
        description="annotated images of the test-bed (CSV, JSON lines, Parquet); without, aside/calibration labelled",
    )
    labels: ImageLabelSettings = Field(ImageLabelSettings(), description="how many of these are labelled")
    calibration: ThresholdSettings = Field(ThresholdSettings(), description="how thresholds are set")


class SplitsSection(SplitSettings):
    """Which splits are made, and what they share."""

    names: tuple[str, ...] = Field(("iid",), description="files of config/splits, without .yaml")


class CurveSection(Settings):
    """The effect of M (Figure 13): each model on each of these splits, with each of these M."""

    splits: tuple[str, ...] = Field((), description="few-shot splits of splits.names")
    models: tuple[str, ...] = Field((), description="the models of models.trained that it is of; empty: all")
    sizes: tuple[NonNegativeInt, ...] = Field(
        (0, 50, 125, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 33_000),
        description="M: how many train questions with the property are kept; all where there are fewer",
    )


class ModelsSection(Settings):
    """Which models answer the questions, and what they are trained on."""

    baselines: tuple[str, ...] = Field(("maj", "majtempl"), description="models that see no image")
    trained: tuple[str, ...] = Field((), description="files of config/models, without .yaml")
    seeds: tuple[int, ...] = Field((1, 2), description="a run of each model for each of these")
    splits: tuple[str, ...] = Field((), description="splits that models are trained on, besides iid")
    split_seeds: tuple[int, ...] = Field((), description="seeds of the runs on these splits; empty: as seeds")
    easy: bool = Field(
        False,
        description="train each model on questions with random images for distractors as well (VBEasyDistractors)",
    )
    curve: CurveSection = CurveSection()
    pretraining_seed: int = Field(1, description="all runs of a model start from one pretraining, with this seed")
    gpus: int = Field(
        0,
        ge=0,
        description="GPUs that the training of a model on questions asks for and is shared by, each with its part of "
        "every batch; all other jobs of models ask for one, or for none where this is 0",
    )
    cpus: int = Field(1, ge=1, description="cores that a training job asks for")


class JudgedSection(Settings):
    """How the filters are judged in a world whose truth is known: by the main chain, and by others beside it."""

    arms: tuple[str, ...] = Field(
        (),
        description="chains from overlap to questions, made with other filters to compare with, as <overlap.method>-"
        "<presence.method>; none-none must be there, or be the main chain; empty: nothing is judged",
    )
    seed_share: float = Field(
        1, gt=0, le=1, description="share of its seeds about which such a chain asks questions, drawn by stable rank"
    )
    per_template: PositiveInt = Field(1000, description="questions of each chain and template that are judged")
    per_kind: PositiveInt = Field(4000, description="distractors of each kind of differing node that are judged")
    intervals: IntervalSettings = IntervalSettings()

    @field_validator("arms")
    @classmethod
    def _named(cls, arms: tuple[str, ...]) -> tuple[str, ...]:
        for arm in arms:
            if not re.fullmatch(r"[a-z][a-z0-9_]*-[a-z][a-z0-9_]*", arm):
                raise ValueError(f"{arm} is not of the form <overlap.method>-<presence.method>")
        if arms and NO_FILTERS not in arms:
            raise ValueError(f"{NO_FILTERS} must be one of them: distractors are drawn from what no filter left out")
        return arms


class PaperSection(Settings):
    """What is made for the reader."""

    title: str = Field("COVR, rebuilt", description="of the page with all tables and figures")
    show: tuple[str, ...] = Field(
        (), description="files of config/paper, without .yaml, as <paper>/<page>, in the order of each paper's page"
    )


# Snakemake writes it into a line of the shell as it is.
Image = Annotated[str, Field(pattern=r"^[A-Za-z0-9./][A-Za-z0-9._/:@+-]*$")]


class ContainersSection(Settings):
    """The images that jobs run in under ``--sdm apptainer``: files, or addresses such as oras://…"""

    cpu: Image = Field("containers/cpu.sif", description="of all rules that ask for no GPU")
    gpu: Image = Field(
        "containers/gpu.sif", description="of features, training and learned filters, if models.gpus is not 0"
    )
    neo4j: Image = Field("containers/neo4j.sif", description="of the search for candidates, if its backend is neo4j")


class Config(Settings):
    """All of a run's settings."""

    testbed: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="names the folder of the results")
    seed: int = Field(1, description="of every random choice")
    shards: int = Field(2, ge=1, le=1000, description="pieces of the work that grows with the data")
    sources: tuple[SourceSettings, ...] = Field((), description="the preferred source of an image first")
    lexicon: LexiconSource | None = Field(None, description="what is known of the sources' vocabulary")
    released: ReleasedQuestions | None = Field(
        None, description="COVR's released questions: they are the dataset, and nothing is made before it"
    )
    images: dict[str, Path] = Field(default_factory=dict, description="folder of pictures by image space")
    truth: Path | None = Field(None, description="the world's truth, where it is known (sprites)")
    paraphrases: Path | None = Field(
        None, description="people's paraphrases of questions: CSV, JSON lines or Parquet with question_id and text"
    )
    aside: Path | None = Field(
        None,
        description="folder with encoder/ and calibration/: scenes outside the test-bed (sprites)",
    )
    world: Path = Field(Path("resources/sprites"), description="folder in which the sprites world is made")
    sprites: SpritesSettings = SpritesSettings()
    subgraphs: SubgraphSettings = SubgraphSettings()
    overlap: OverlapSettings = OverlapSettings()
    word_labels: LabelSettings = LabelSettings()
    word_filter: WordFilterSettings = WordFilterSettings()
    candidates: CandidateSettings = CandidateSettings()
    neo4j: Neo4jSettings = Neo4jSettings()
    presence: PresenceSection = PresenceSection()
    related: RelatedSettings = RelatedSettings()
    questions: QuestionsSettings = QuestionsSettings()
    balance: BalanceSettings = BalanceSettings()
    splits: SplitsSection = SplitsSection()
    features: FeatureSettings = FeatureSettings()
    models: ModelsSection = ModelsSection()
    scores: ScoreSettings = ScoreSettings()
    validity: ValiditySettings = ValiditySettings()
    judged: JudgedSection = JudgedSection()
    samples: ExplorerSettings = ExplorerSettings()
    paper: PaperSection = PaperSection()
    containers: ContainersSection = ContainersSection()
    publish: PublishSettings = PublishSettings()

    @field_validator("world")
    @classmethod
    def _no_pattern(cls, world: Path) -> Path:
        if re.search("[{}<>]|^-", str(world)):
            raise ValueError("a folder that the workflow itself fills has none of {}<> in its name, and no - first")
        return world

    @field_validator("images")
    @classmethod
    def _spaces(cls, images: dict[str, Path]) -> dict[str, Path]:
        if wrong := [space for space in images if not space or "=" in space]:
            raise ValueError(f"{wrong[0]!r} is no image space: it is empty, or has a = in it")
        return images

    @model_validator(mode="after")
    def _whole(self) -> Config:
        self._check_origin()
        for where, named in (("models.splits", self.models.splits), ("models.curve.splits", self.models.curve.splits)):
            unknown = sorted(set(named) - set(self.splits.names))
            if unknown:
                raise ValueError(f"{where} names {unknown[0]}, which is not in splits.names")
        idle = {"easy": self.models.easy, "splits": self.models.splits, "curve.splits": self.models.curve.splits}
        if not self.models.trained and any(idle.values()):
            named = next(key for key, value in idle.items() if value)
            raise ValueError(f"models.{named} does nothing without models.trained: name a model there, or leave it out")
        if unknown := sorted(set(self.models.curve.models) - set(self.models.trained)):
            raise ValueError(f"models.curve.models names {unknown[0]}, which is not in models.trained")
        if self.word_filter.encoder.hints and not self.word_labels.files:
            raise ValueError(
                "word_filter.encoder.hints needs word_labels.files: the lexicon would be told its own labels"
            )
        self.features.released.check_spaces(
            source.image_space or source.name for source in self.sources if source.enabled
        )
        if self.presence.method == "learned" and not self._has_features():
            raise ValueError(
                "presence.method learned needs region features: features.released, or images, truth and aside"
            )
        if self.presence.calibrated and not (self.presence.annotated or self.aside):
            raise ValueError("presence.calibrated needs presence.annotated, or aside, to set thresholds by")
        if self.judged.arms and not self.truth:
            raise ValueError("judged.arms needs the truth of the scenes; leave it empty where there is none")
        return self

    def _check_origin(self) -> None:
        """Questions are either made of sources or were released."""
        names = [source.name for source in self.sources]
        if len(set(names)) < len(names):
            raise ValueError("two sources have one name")
        if self.released is None and not (names and self.lexicon):
            raise ValueError("give sources and a lexicon, or the files of released questions")
        if self.released and (names or self.lexicon or self.truth or self.presence.method != "none"):
            raise ValueError("released questions have no scene graphs: give no sources, lexicon, truth or presence")
        if self.released and self.neo4j.load:
            raise ValueError("neo4j.load needs scene graphs, which released questions have not: leave it out")
        if self.released and self.paraphrases:
            raise ValueError("released questions have their paraphrases with them: leave paraphrases out")
        if self.released and self.models.easy:
            raise ValueError("models.easy needs questions that are made here, not released ones: leave it out")

    def _has_features(self) -> bool:
        """Whether images have region features."""
        if self.features.released.sources:
            return True
        return bool(self.images and self.truth and self.aside and not self.released)

    def check_trained(self, reads: Mapping[str, Iterable[str]]) -> None:
        """:class:`InputError` where a model of ``models.trained`` reads regions and none are made; ``reads`` tells what
        each model reads (:mod:`compvqa.models`)."""
        seeing = [model for model, kinds in reads.items() if "regions" in kinds]
        if seeing and not self._has_features():
            where = "features.released" if self.released else "features.released, or images, truth and aside"
            raise InputError(f"models.trained names {seeing[0]}, which needs region features: give {where}.")

    @property
    def language(self) -> str:
        """The language of the questions' programs."""
        return "covr"

    def source(self, name: str) -> SourceSettings:
        """The source called ``name``."""
        return next(source for source in self.sources if source.name == name)

    def search(self) -> str:
        """The settings of the search for candidates as JSON: how to come to a server, where the backend asks one."""
        server = {"neo4j": self.neo4j.model_dump(mode="json", exclude={"load"})}
        return self.section("candidates", **(server if self.candidates.backend == "neo4j" else {}))

    def section(self, name: str, **changed: object) -> str:
        """A section, some of it changed, as the JSON that its stage gets."""
        return as_json({**self.model_dump(mode="json")[name], **changed})


class Definitions:
    """The files of a folder of ``config/``, by name, as data; each is read once.

    ``nested``: they lie in folders inside it, and their names are ``<folder>/<file>``.
    """

    def __init__(self, folder: Path, nested: bool = False):
        self.folder = folder
        self._parts = 2 if nested else 1
        self._read: dict[str, dict] = {}

    def names(self) -> list[str]:
        """The names of all of them, sorted."""
        found = self.folder.glob("/".join(["*"] * self._parts) + ".yaml")
        return sorted(path.relative_to(self.folder).with_suffix("").as_posix() for path in found)

    def load(self, name: str) -> dict:
        """The content of ``<name>.yaml``; :class:`InputError` names the files there are."""
        if name not in self._read:
            self._read[name] = self._content(name)
        return deepcopy(self._read[name])

    def _content(self, name: str) -> dict:
        where = f"config/{self.folder.name}"
        if not re.fullmatch("[a-z0-9][a-z0-9_-]*" + "(/[a-z0-9][a-z0-9_-]*)?" * (self._parts - 1), name):
            raise InputError(f"{name!r} names no file of {where}: names have a-z, 0-9, _ and - alone.")
        if name in self.names():
            return read_yaml(self.folder / f"{name}.yaml")
        if places := " or ".join(self._places(name)):
            raise InputError(f"{where} has no {name}.yaml: its files lie in folders, so write {places}.")
        known = ", ".join(self.names())
        raise InputError(f"{where} has no {name}.yaml: correct the name (there are {known}).")

    def _places(self, name: str) -> list[str]:
        """The names of nested files that a name without a folder may mean: table6, or <something>-table6."""
        stems = {known: known.rpartition("/")[2] for known in self.names() if "/" in known}
        same = [known for known, stem in stems.items() if name == stem]
        return same or [known for known, stem in stems.items() if name.endswith(f"-{stem}")]

    def digest(self, *names: str) -> str:
        """A hash of the content of the named files, or of all; comments and formatting do not count."""
        data = as_json({name: self.load(name) for name in names or self.names()})
        return hashlib.blake2b(data.encode(), digest_size=12).hexdigest()


def load_config(data: dict) -> Config:
    """The configuration in ``data``, checked; the first thing wrong with it is an :class:`InputError`."""
    config = validate(Config, data)
    return config.model_copy(update={"sources": tuple(s for s in config.sources if s.enabled)})


def read_config(path: Path) -> Config:
    """The configuration in a YAML file."""
    return load_config(read_yaml(path))


def as_json(data: object) -> str:
    """``data`` as JSON with sorted keys."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False)


def schema() -> str:
    """The JSON schema of the configuration."""
    return json.dumps(Config.model_json_schema(), indent=1, ensure_ascii=False) + "\n"
