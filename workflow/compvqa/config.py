"""The whole configuration: the stages' own settings, composed.

The config says what to run. ``dataset`` is a union by its ``kind``: each engine brings the sections of its own stages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, get_args

from pydantic import Field, SerializeAsAny, create_model, field_validator, model_validator

from compvqa.errors import InputError
from compvqa.evaluation.scores import ScoreSettings
from compvqa.features.settings import FeatureSettings
from compvqa.files import read_yaml
from compvqa.models.settings import ModelsSettings
from compvqa.paper.explorer.questions import ExplorerSettings
from compvqa.plugins import engine_part, engines, find, names
from compvqa.publish.settings import PublishSettings
from compvqa.run import validate
from compvqa.scenes.ingest import SourceSettings
from compvqa.settings import Settings
from compvqa.splits.setups import SplitSettings

WORLDS = "compvqa.scenes.worlds"
ONTOLOGY = ("gqa_objects.txt", "gqa_attributes.txt", "gqa_relations.txt")
WORDNET = ("data.noun", "index.noun")


class LexiconSource(Settings):
    """Where the vocabulary's knowledge comes from: a file or GQA's ontology, and WordNet besides."""

    file: Path | None = Field(None, description="a lexicon (JSON), as the sprites world writes one")
    gqa: Path | None = Field(None, description="folder of GQA's ontology files")
    wordnet: Path | None = Field(
        None, description="folder of WordNet's data.noun and index.noun: parts, near-synonyms and kinds of nouns"
    )

    @model_validator(mode="after")
    def _one(self) -> LexiconSource:
        if (self.file is None) == (self.gqa is None):
            raise ValueError("give either file or gqa")
        return self

    def options(self) -> list[str]:
        """The options of the command line that name it."""
        return [f"--{name}={path}" for name in ("file", "gqa", "wordnet") if (path := getattr(self, name))]

    def files(self) -> list[str]:
        """The files to read."""
        own = [str(self.file)] if self.gqa is None else [str(self.gqa / name) for name in ONTOLOGY]
        return own if self.wordnet is None else [*own, *(str(self.wordnet / name) for name in WORDNET)]


class SplitsSection(SplitSettings):
    """Which splits are made, and what they share."""

    names: tuple[str, ...] = Field(("iid",), description="files of config/splits, without .yaml")


class PaperSection(Settings):
    """What is made for the reader."""

    title: str = Field("COVR, rebuilt", description="of the page with all tables and figures")
    apart: str = Field(
        "",
        description="why the papers' numbers are of other data than yours, if so: tables say it, and colour no number",
    )
    note: str = Field("", description="a sentence about your data that stands below all tables of scores")
    show: tuple[str, ...] = Field(
        (), description="files of config/paper, without .yaml, as <paper>/<page>, in the order of each paper's page"
    )
    beside: dict[str, Path] = Field(
        {},
        description="other test-beds that pages of several worlds show, by what they call them: folders of results; "
        "what is not there yet is left out",
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


class Dataset(Settings):
    """The section ``dataset``: which engine makes the dataset, and the settings of the engine's own stages.

    An engine has one such class for each ``kind`` that it makes (``DATASETS`` of its ``settings.py``), and rules of
    that name (``rules/engines``).
    """

    language: ClassVar[str]  # of the programs
    paraphrased: ClassVar[bool] = False  # whether the engine gives people's paraphrases with the dataset
    formerly: ClassVar[str | None] = None  # the section that the config once had for it

    kind: str

    def check(self, config: Config) -> None:
        """Refuse (ValueError) what does not fit the rest of the config."""

    def raw(self) -> dict[str, list[Path]]:
        """The raw files that the engine reads itself, by where they come from."""
        return {}

    def given(self) -> list[Path]:
        """Other files of the user's that its stages read."""
        return []


class World(Settings):
    """The section ``world``: scenes that the workflow makes itself; sources name its files."""

    kind: str = Field(description="module of compvqa.scenes.worlds that makes them: sprites")
    folder: Path = Field(description="folder in which they are made; resources/<kind> if it is left out")
    settings: SerializeAsAny[Settings] = Field(description="the world's own settings")

    @model_validator(mode="before")
    @classmethod
    def _of_its_kind(cls, data: object) -> object:
        if not isinstance(data, dict) or "kind" not in data:
            raise InputError("config key world names what makes the scenes: write `world: {kind: sprites, …}`.")
        module: WorldModule = find(WORLDS, str(data["kind"]), "SETTINGS", "world")
        settings = validate(module.SETTINGS, data.get("settings", {}), "world.settings")
        return {"folder": f"resources/{data['kind']}", **data, "settings": settings}

    @field_validator("folder")
    @classmethod
    def _no_pattern(cls, folder: Path) -> Path:
        if re.search("[{}<>]|^-", str(folder)):
            raise ValueError("a folder that the workflow itself fills has none of {}<> in its name, and no - first")
        return folder


class WorldModule(Protocol):
    """A module of a world that a config can name."""

    @property
    def SETTINGS(self) -> type[Settings]: ...


def worlds() -> dict[str, WorldModule]:
    """The worlds that a config can name, by name."""
    found: dict[str, WorldModule] = {name: import_module(f"{WORLDS}.{name}") for name in names(WORLDS)}
    return {name: module for name, module in found.items() if hasattr(module, "SETTINGS")}


def kinds() -> dict[str, type[Dataset]]:
    """The kinds of dataset that engines make, by name."""
    found = [kind for engine in engines() for kind in engine_part(engine, "settings").DATASETS]
    return {get_args(kind.model_fields["kind"].annotation)[0]: kind for kind in found}


class Config(Settings):
    """All of a run's settings."""

    testbed: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="names the folder of the results")
    seed: int = Field(1, description="of every random choice")
    shards: int = Field(2, ge=1, le=1000, description="pieces of the work that grows with the data")
    world: World | None = Field(None, description="scenes that the workflow makes itself")
    sources: tuple[SourceSettings, ...] = Field((), description="the preferred source of an image first")
    lexicon: LexiconSource | None = Field(None, description="what is known of the sources' vocabulary")
    images: dict[str, Path] = Field(default_factory=dict, description="folder of pictures by image space")
    truth: Path | None = Field(None, description="the world's truth, where it is known (sprites)")
    aside: Path | None = Field(
        None,
        description="folder with encoder/ and calibration/: scenes outside the test-bed (sprites)",
    )
    dataset: SerializeAsAny[Dataset] = Field(description="which engine makes the dataset, and how")
    paraphrases: Path | None = Field(
        None, description="people's paraphrases of questions: CSV, JSON lines or Parquet with question_id and text"
    )
    splits: SplitsSection = SplitsSection()
    features: FeatureSettings = FeatureSettings()
    models: ModelsSettings = ModelsSettings()
    scores: ScoreSettings = ScoreSettings()
    samples: ExplorerSettings = ExplorerSettings()
    paper: PaperSection = PaperSection()
    containers: ContainersSection = ContainersSection()
    publish: PublishSettings = PublishSettings()

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, data: object) -> object:
        """Refuse a key of the time before ``dataset`` and ``world``, with its new place."""
        for key in sorted(map(str, set(data) - set(cls.model_fields))) if isinstance(data, dict) else []:
            for name, kind in kinds().items():
                if key == kind.formerly:
                    raise InputError(
                        f"config key {key} has moved: write its keys under `dataset:`, with `kind: {name}`."
                    )
                if key in kind.model_fields:
                    raise InputError(f"config key {key} has moved: write it under `dataset:`, with `kind: {name}`.")
            if key in worlds():
                raise InputError(f"config key {key} has moved: write `world: {{kind: {key}, settings: …}}`.")
        return data

    @field_validator("dataset", mode="before")
    @classmethod
    def _of_its_kind(cls, data: object) -> object:
        if isinstance(data, Dataset):
            return data
        kind = data.get("kind") if isinstance(data, dict) else None
        if kind not in (known := kinds()):
            raise InputError(
                f"config key dataset.kind says {kind!r}, which nothing makes: name one of {', '.join(sorted(known))}."
            )
        return validate(known[kind], data, "dataset")

    @field_validator("images")
    @classmethod
    def _spaces(cls, images: dict[str, Path]) -> dict[str, Path]:
        if wrong := [space for space in images if not space or "=" in space]:
            raise ValueError(f"{wrong[0]!r} is no image space: it is empty, or has a = in it")
        return images

    @model_validator(mode="after")
    def _whole(self) -> Config:
        names = [source.name for source in self.sources]
        if len(set(names)) < len(names):
            raise ValueError("two sources have one name")
        self.dataset.check(self)
        self.models.check(self.splits.names)
        self._check_features()
        self.publish.check_pictures(self.images)
        return self

    def _check_features(self) -> None:
        """Refuse (ValueError) features of pictures that are not named, or of two kinds at once."""
        asked = {
            "pictures": self.has_grids(),
            "crops": self.has_crops(),
            "released": bool(self.features.released.sources),
        }
        kinds = [kind for kind, there in asked.items() if there]
        if kinds and kinds[0] != "released" and not (self.sources and self.images):
            raise ValueError(f"features.{kinds[0]} needs the pictures themselves: give sources, and images")
        if len(kinds) > 1:
            raise ValueError(f"features.{kinds[0]} and features.{kinds[1]} exclude each other: leave one out")
        self.features.released.check_spaces(
            source.image_space or source.name for source in self.sources if source.enabled
        )

    def has_features(self) -> bool:
        """Whether images have region features."""
        drawn = bool(self.sources and self.images and self.truth and self.aside)
        return drawn or self.has_grids() or self.has_crops() or bool(self.features.released.sources)

    def has_grids(self) -> bool:
        """Whether there are grids of whole pictures, and pooled vectors, in the place of regions."""
        return bool(self.features.pictures.backbone)

    def has_crops(self) -> bool:
        """Whether regions are described without labels, from their pixels alone."""
        return bool(self.features.crops.describe)

    def check_models(self, reads: Mapping[str, Iterable[str]]) -> None:
        """:class:`InputError` where a model reads regions, pooled vectors or scene graphs, and there are none;
        ``reads`` tells what each reads (:mod:`compvqa.models`)."""
        seeing = [model for model, kinds in reads.items() if "regions" in kinds]
        if seeing and not self.has_features():
            where = "features.released, features.pictures or features.crops, or images, truth and aside"
            where = where if self.sources else "features.released"
            raise InputError(f"models.trained names {seeing[0]}, which needs region features: give {where}.")
        whole = [model for model, kinds in reads.items() if "pooled" in kinds]
        if whole and not self.has_grids():
            raise InputError(f"models.trained names {whole[0]}, which needs pooled vectors: give features.pictures.")
        looking = [model for model, kinds in reads.items() if "scenes" in kinds]
        if looking and not self.sources:
            raise InputError(f"models.baselines names {looking[0]}, which looks at scene graphs: give sources of them.")

    def source(self, name: str) -> SourceSettings:
        """The source called ``name``."""
        return next(source for source in self.sources if source.name == name)

    def raw(self) -> dict[str, list[Path]]:
        """The raw files of the sources and of the engine, by where they come from."""
        return {source.name: list(source.files.values()) for source in self.sources} | self.dataset.raw()


def load_config(data: dict[str, Any]) -> Config:
    """The configuration in ``data``, checked; the first thing wrong with it is an :class:`InputError`."""
    config = validate(Config, data)
    return config.model_copy(update={"sources": tuple(s for s in config.sources if s.enabled)})


def read_config(path: Path) -> Config:
    """The configuration in a YAML file."""
    return load_config(read_yaml(path))


def whole() -> type[Config]:
    """:class:`Config` with all kinds of dataset and of world as unions: what its schema is made from."""
    drawn = [world.SETTINGS for world in worlds().values()]
    world = create_model("World", __base__=World, settings=(reduce(or_, drawn), World.model_fields["settings"]))
    described = Field(discriminator="kind", description=Config.model_fields["dataset"].description)
    return create_model(
        "Config",
        __base__=Config,
        world=(world | None, Config.model_fields["world"]),
        dataset=(reduce(or_, kinds().values()), described),
    )


def schema() -> str:
    """The JSON schema of the configuration."""
    return json.dumps(whole().model_json_schema(), indent=1, ensure_ascii=False) + "\n"
