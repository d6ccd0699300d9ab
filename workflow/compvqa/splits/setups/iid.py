"""Nothing is held out: the dataset's own parts."""

from compvqa.splits.setups import (
    CHOOSE,
    EASY,
    FIT,
    IMAGE,
    TEST,
    TEXT,
    Apart,
    Definition,
    Part,
    Setup,
    Variant,
)

SETUP = Setup(
    definition=Definition,
    parts=(
        Part("train", FIT, "train", "what a model learns from"),
        Part("dev", CHOOSE, "dev", "to choose models by"),
        Part("test", TEST, "test", "to test them on"),
    ),
    variants={
        "iid": Variant(("train",), ("dev",)),
        "text": Variant(("train",), ("dev",), model={"images": "zeroed"}),  # VBText
        "easy": Variant(("train",), ("dev",), chain="easy", asked=EASY),  # VBEasyDistractors
    },
    predicted=("dev", "test"),
    apart=(Apart(IMAGE, "train", "dev"), Apart(IMAGE, "train", "test"), Apart(TEXT, "dev", "test")),
)
