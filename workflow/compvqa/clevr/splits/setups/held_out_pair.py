"""Train has no scene and no question with a pair of attribute values; tests have it, or not, and are complex or minimal
(CLEVR-HOPE, section 3).

The dataset of such a split is a chain of its own, made for its pair. What train learns from comes in three parts, each
the next piece of one list, so that the smaller sizes are its beginnings. Nothing is chosen by: a model's settings come
from elsewhere, and the last weights are tested.
"""

from typing import Any

from pydantic import Field, model_validator

from compvqa.scenes.pairs import Occurrence, Pair
from compvqa.splits.setups import ALL, ASKED, FIT, IMAGE, NO, TEST, Apart, Definition, Part, Setup, Variant


class HeldOutPair(Definition):
    """The file of a pair: three lines, its name, its setup and the pair."""

    pair: Pair = Field(description="two values of two types, such as cyan and cylinder")
    occurrence: Occurrence = Field(
        "released",
        description="what a question with the pair is: one description has both values (released), also where a "
        "description of what a union gives goes on with those on its sides (strict)",
    )

    @model_validator(mode="before")
    @classmethod
    def _chained(cls, data: Any) -> Any:
        """The chain is the pair's own, unless it is named."""
        return {"chain": f"pairs/{data['name']}", **data} if isinstance(data, dict) and "name" in data else data

    def held_out(self) -> str:
        return f"MENTIONS{'/JOINED' * (self.occurrence == 'strict')}-{'+'.join(self.pair)}"

    def told(self) -> str:
        return " ".join(self.pair)

    def held_pair(self) -> Pair:
        return self.pair

    def unnamed(self) -> frozenset[str]:
        return frozenset(self.pair)


TRAIN = ("train_small", "train_medium", "train_large")
PARTS = (
    Part("train_small", FIT, "train_small", "what a model learns from at the smallest size", NO),
    Part("train_medium", FIT, "train_medium", "what it learns from besides at the medium size", NO),
    Part("train_large", FIT, "train_large", "what it learns from besides at the largest size", NO),
    Part("complex_iid", TEST, "complex_iid", "questions of all families without the pair, on scenes without it", NO),
    Part(
        "complex_ood",
        TEST,
        "complex_ood",
        "questions of all families with the pair, on scenes with it",
        ALL,
        like=("complex_iid", "complex_matched"),
    ),
    Part(
        "complex_matched",
        TEST,
        "complex_matched",
        "as complex_ood, but with pairs of the same types that train has, on the scenes of complex_iid",
        NO,
    ),
    Part("minimal_iid", TEST, "minimal_iid", "whether one thing is of another pair of the same types", NO),
    Part("minimal_ood", TEST, "minimal_ood", "whether one thing is of the pair", ALL, like=("minimal_iid",)),
)


def held_out_pair(parts: tuple[Part, ...], definition: type[Definition]) -> Setup:
    """The setup with these parts: no test has a picture of train's, and complex questions with the pair and without it
    are of different pictures. Minimal ones share theirs by design."""
    tests = tuple(part.name for part in parts if part.role == TEST)
    return Setup(
        definition=definition,
        parts=parts,
        variants={
            "large": Variant(TRAIN, ()),
            "medium": Variant(TRAIN[:2], ()),
            "small": Variant(TRAIN[:1], ()),
            "text": Variant(TRAIN, (), model={"images": "zeroed"}, asked=ASKED),
        },
        predicted=tests,
        apart=(
            *(Apart(IMAGE, train, test) for train in TRAIN for test in tests),
            *(Apart(IMAGE, "complex_ood", other) for other in ("complex_iid", "complex_matched")),
        ),
    )


SETUP = held_out_pair(PARTS, HeldOutPair)
