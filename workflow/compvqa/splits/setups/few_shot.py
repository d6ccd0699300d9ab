"""Train keeps M questions with what is held out; dev and test are scored on those that have it (COVR, section 4.1)."""

from pydantic import Field, NonNegativeInt

from compvqa.splits.holding import HoldsOut
from compvqa.splits.setups import (
    ALL,
    ASKED,
    CHOOSE,
    CURVE,
    FEW,
    FIT,
    IMAGE,
    NO,
    TEST,
    TEXT,
    Apart,
    Part,
    Setup,
    SplitSettings,
    Variant,
)


class KeepsFew(HoldsOut):
    """A few-shot split's file."""

    m: NonNegativeInt = Field(250, description="M: the questions with what is held out that train keeps")

    def few(self, settings: SplitSettings) -> int:
        return round(self.m * settings.m_scale)


SETUP = Setup(
    definition=KeepsFew,
    parts=(
        Part("train", FIT, "train", "what a model learns from: train with M questions of what is held out", FEW),
        Part(
            "train_size",
            FIT,
            "train",
            "as many questions, drawn from all of train, to compare with a model that has seen what is held out",
            as_many_as="train",
        ),
        Part("dev_iid", CHOOSE, "dev", "to keep weights by: dev without what is held out", NO),
        # No run keeps weights by it, but people choose between models by it, as Figure 13 its M.
        Part("dev_comp", CHOOSE, "dev", "to choose models by: dev with what is held out", ALL),
        Part("test_comp", TEST, "test", "to test them on: test with what is held out", ALL),
    ),
    variants={
        "comp": Variant(("train",), ("dev_iid",)),  # VB_M
        "size": Variant(("train_size",), ("dev_iid",)),  # VB_iid-size
        "shown": Variant((), (), asked=ASKED, left_out=("train",)),  # each shot has what is held out
        "m": Variant(("train",), ("dev_iid",), asked=CURVE),  # another M: m125
    },
    predicted=("dev_comp", "test_comp"),
    apart=(Apart(IMAGE, "train", "dev"), Apart(IMAGE, "train", "test"), Apart(TEXT, "dev", "test")),
)
