"""Train has no question and no scene with a pair of values; tests ask for it, or for others (CLEVR-HOPE's test in the
scenes of any source)."""

from pydantic import Field

from compvqa.splits.drawn_pair import DrawnPair
from compvqa.splits.setups import ALL, CHOOSE, FIT, IMAGE, NO, TEST, TEXT, Apart, Definition, Part, Setup, Variant


class HeldOutPair(Definition):
    """The file of a pair that is drawn."""

    drawn: DrawnPair = Field(description="how the pair is drawn from the data")

    def held_out(self) -> DrawnPair:
        return self.drawn

    def told(self) -> str:
        return f"pair {self.drawn.draw}"


SETUP = Setup(
    definition=HeldOutPair,
    parts=(
        Part("train", FIT, "train", "what a model learns from: train without the pair", NO),
        Part("dev_iid", CHOOSE, "dev", "to keep weights by: dev without the pair", NO),
        Part("test_iid", TEST, "test", "to test them on: test without the pair", NO),
        Part(
            "test_matched",
            TEST,
            "test",
            "test without the pair, of which one object is called and is like others of its kinds",
            NO,
            alike=True,
        ),
        Part("test_ood", TEST, "test", "test that asks for the pair", ALL, like=("test_iid", "test_matched")),
    ),
    variants={"comp": Variant(("train",), ("dev_iid",))},
    predicted=("test_iid", "test_matched", "test_ood"),
    apart=(Apart(IMAGE, "train", "dev"), Apart(IMAGE, "train", "test"), Apart(TEXT, "dev", "test")),
)
