"""The section ``dataset`` of COVR: made from scene graphs (kind covr), or as it was released (covr_released)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, field_validator

from compvqa.config import Config, Dataset
from compvqa.covr.filters.images.examples import ExampleSettings
from compvqa.covr.filters.images.labels import ImageLabelSettings
from compvqa.covr.filters.images.presence import ScoringSettings
from compvqa.covr.filters.images.thresholds import ThresholdSettings
from compvqa.covr.filters.words.labels import LabelSettings
from compvqa.covr.filters.words.overlap import OverlapSettings
from compvqa.covr.filters.words.settings import WordFilterSettings
from compvqa.covr.judging.distractors import NO_FILTERS
from compvqa.covr.judging.filters import IntervalSettings
from compvqa.covr.judging.validity import ValiditySettings
from compvqa.covr.questions.balance import BalanceSettings
from compvqa.covr.questions.generate import QuestionsSettings
from compvqa.covr.released.reader import ReleasedQuestions
from compvqa.covr.risk.settings import RiskSettings
from compvqa.covr.subgraphs.enumerate import SubgraphSettings
from compvqa.covr.subgraphs.related import RelatedSettings
from compvqa.covr.subgraphs.search import CandidateSettings, Neo4jSettings
from compvqa.scenes.lexicon import KINDS
from compvqa.settings import Settings, as_json
from compvqa.stages import modules_of


class PresenceSection(ScoringSettings):
    """The image filter: its model, what it learns from, how it is asked, and its thresholds."""

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


class Covr(Dataset):
    """COVR's questions, made from the scene graphs of the sources."""

    language: ClassVar[str] = "covr"

    kind: Literal["covr"]
    subgraphs: SubgraphSettings = SubgraphSettings()
    overlap: OverlapSettings = OverlapSettings()
    word_labels: LabelSettings = LabelSettings()
    word_filter: WordFilterSettings = WordFilterSettings()
    candidates: CandidateSettings = CandidateSettings()
    neo4j: Neo4jSettings = Neo4jSettings()
    presence: PresenceSection = PresenceSection()
    related: RelatedSettings = RelatedSettings()
    questions: QuestionsSettings = QuestionsSettings()
    risk: RiskSettings = RiskSettings()
    balance: BalanceSettings = BalanceSettings()
    validity: ValiditySettings = ValiditySettings()
    judged: JudgedSection = JudgedSection()

    def check(self, config: Config) -> None:
        """Refuse methods that are not there, and sections that need what the config does not give."""
        if config.has_grids():
            raise ValueError("COVR's models are pretrained on regions, not on grids: leave features.pictures out")
        if not (config.sources and config.lexicon):
            raise ValueError(
                "give sources and a lexicon, or the files of released questions (dataset.kind covr_released)"
            )
        modules_of("overlap", method=[self.overlap.method, *map(self.overlap.of, KINDS)])
        if "released" in map(self.overlap.of, KINDS) and not self.overlap.released:
            raise ValueError("dataset.overlap.method released needs overlap.released: COVR's adversarial_groups.yaml")
        modules_of("presence", method=self.presence.method, models=[])
        modules_of("candidates", backend=self.candidates.backend)
        if self.word_filter.encoder.hints and not self.word_labels.files:
            raise ValueError(
                "dataset.word_filter.encoder.hints needs word_labels.files: the lexicon would be told its own labels"
            )
        if self.presence.method == "learned" and not config.has_features():
            raise ValueError(
                "dataset.presence.method learned needs region features: features.released, or images, truth and aside"
            )
        if self.presence.calibrated and not (self.presence.annotated or config.aside):
            raise ValueError("dataset.presence.calibrated needs presence.annotated, or aside, to set thresholds by")
        if self.balance.target_risk is not None and not (self.presence.method == "learned" and config.aside):
            raise ValueError(
                "dataset.balance.target_risk needs risks of questions, which only a learned image filter with images "
                "apart tells: set dataset.presence.method to learned and give aside, or set target_risk to null"
            )
        if self.judged.arms and not config.truth:
            raise ValueError("dataset.judged.arms needs the truth of the scenes; leave it empty where there is none")

    def given(self) -> list[Path]:
        """People's labels of pairs of names, and what COVR's authors released of theirs."""
        return [*self.word_labels.files, *([self.overlap.released] if self.overlap.released else [])]

    def search(self) -> str:
        """The settings of the search for candidates as JSON: how to come to a server, where the backend asks one."""
        server = {"neo4j": self.neo4j.model_dump(mode="json", exclude={"load"})}
        return self.section("candidates", **(server if self.candidates.backend == "neo4j" else {}))


class CovrReleased(Dataset, ReleasedQuestions):
    """COVR's released questions: they are the dataset, and nothing is made before it."""

    language: ClassVar[str] = "covr"
    paraphrased: ClassVar[bool] = True
    formerly: ClassVar[str | None] = "released"

    kind: Literal["covr_released"]

    def check(self, config: Config) -> None:
        """Refuse what needs scene graphs, which released questions have not."""
        if config.sources or config.lexicon or config.truth:
            raise ValueError("released questions have no scene graphs: give no sources, lexicon or truth")
        if config.paraphrases:
            raise ValueError("released questions have their paraphrases with them: leave paraphrases out")
        if config.models.easy:
            raise ValueError("models.easy needs questions that are made here, not released ones: leave it out")

    def raw(self) -> dict[str, list[Path]]:
        """The released files."""
        return {"released": list(self.parts.values())}

    def files(self) -> str:
        """The released files as the JSON that their stage gets."""
        return as_json(self.model_dump(mode="json", exclude={"kind"}))


DATASETS = (Covr, CovrReleased)
