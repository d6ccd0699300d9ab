"""The sets of questions that are made for a held-out pair, and what each has to do with the pair (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from compvqa.clevr.generate import GenerateSettings
from compvqa.clevr.language import GROUPS
from compvqa.clevr.words import Words
from compvqa.scenes.pairs import Among, Pair, Vocabulary, combinations, unseen, within
from compvqa.settings import Settings

TRAIN, MINIMAL = "train", "minimal"


class Taken(Settings):
    """What a pair takes of a pool."""

    sides: tuple[str, ...] = Field(min_length=1, description="the sides of the scenes that the pool is, in their order")
    scenes: PositiveInt = Field(
        description="scenes that a pair takes, the same number of each number of objects, as near as can be"
    )


class HopeSettings(Settings):
    """How many scenes and questions a pair's sets have; the defaults are the paper's."""

    questions: GenerateSettings = Field(
        GenerateSettings(per_scene=9), description="how questions are made; a test with the pair has one a scene"
    )
    pools: dict[str, Taken] = Field(
        {
            "train": Taken(sides=("train",), scenes=63_000),
            "iid": Taken(sides=("iid",), scenes=13_500),
            "ood": Taken(sides=("ood",), scenes=15_000),
            "commoniid": Taken(sides=("commoniid",), scenes=1_700),
            "commonood": Taken(sides=("commonood",), scenes=15_000),
        },
        description="the pools that pairs walk; those of the common tests only where a pair's vocabulary is cut",
    )
    sizes: tuple[PositiveInt, PositiveInt, PositiveInt] = Field(
        (25_000, 200_000, 560_000),
        description="questions of the small, the medium and the large train set: each the beginning of the next",
    )
    most: dict[str, PositiveInt] = Field(
        {"complex_iid": 120_000, "common_iid": 15_000},
        description="by a test the most questions that it has, the first ones that were made; others have all",
    )
    variants: PositiveInt = Field(
        40,
        description="variants of the minimal tests, of which a pair uses a whole multiple of its distractors' number",
    )
    minimal: str = Field("minimal", description="the side of the scenes of single objects")

    @model_validator(mode="after")
    def _rising(self) -> HopeSettings:
        if missing := {"train", "iid", "ood"} - self.pools.keys():
            raise ValueError(f"pools has no {min(missing)}: say what a pair takes of it")
        if list(self.sizes) != sorted(self.sizes):
            raise ValueError(f"sizes {self.sizes} don't rise: give the small one first")
        if self.questions.balance == "fair" or self.questions.mode == "compat":
            raise ValueError("a pair's questions are made keyed, and balanced in blocks")
        return self


class PairSettings(Settings):
    """A pair, the part of the vocabulary that it is held out in, and how much is made for it."""

    pair: Pair
    among: Among | None = None
    common: Among | None = None
    hope: HopeSettings = HopeSettings()


@dataclass(frozen=True)
class QuestionSet:
    """A set of questions: the pool whose scenes they are on, and what they have of the pair.

    ``has``: none: not the pair; pair: the pair in a description of each; seen: another pair of its types there.
    """

    pool: str
    has: Literal["none", "pair", "seen"]
    common: bool = False  # whether its vocabulary is the common one


SETS = {
    TRAIN: QuestionSet("train", "none"),
    "complex_iid": QuestionSet("iid", "none"),
    "complex_ood": QuestionSet("ood", "pair"),
    "complex_matched": QuestionSet("iid", "seen"),
    "common_iid": QuestionSet("commoniid", "none", common=True),
    "common_ood": QuestionSet("commonood", "pair", common=True),
}
OWN = tuple(name for name, found in SETS.items() if not found.common)


def sets_of(settings: PairSettings) -> list[str]:
    """The sets that are made for a pair, besides the minimal ones."""
    return [name for name, found in SETS.items() if settings.common is not None or not found.common]


def vocabulary_of(words: Words) -> Vocabulary:
    """The attributes that words have, by their groups."""
    return {group: words.values[group] for group in GROUPS}


def among_of(settings: PairSettings, name: str) -> Among | None:
    """The part of the vocabulary that a set is made in."""
    return settings.common if SETS[name].common else settings.among


def asking(settings: PairSettings, name: str, words: Words) -> GenerateSettings:
    """How the questions of a set are made: what they forbid and require."""
    found, vocabulary, among = SETS[name], vocabulary_of(words), among_of(settings, name)
    absent = unseen(settings.pair, vocabulary, among)
    others = tuple(item for item in combinations(settings.pair, vocabulary, among) if item != settings.pair)
    changed: dict[str, object] = {
        "values": within(settings.pair, vocabulary, among) if among else {},
        "forbidden": absent if found.has == "pair" else (settings.pair, *absent),
        "required": {"none": (), "pair": (settings.pair,), "seen": others}[found.has],
    }
    if found.has != "none":
        changed["per_scene"] = 1
    return settings.hope.questions.model_copy(update=changed)
