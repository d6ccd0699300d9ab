"""Train and choose in condition A, test in A and in B, where cubes have the colors of cylinders (CLEVR, 4.7)."""

from compvqa.splits.setups import CHOOSE, FIT, IMAGE, TEST, Apart, Definition, Part, Setup, Variant

SIDES = ("dev", "test", "valB", "testB")
SETUP = Setup(
    definition=Definition,
    parts=(
        Part("train_a", FIT, "train", "what a model learns from, in condition A"),
        Part("val_a", CHOOSE, "dev", "to choose models by, in condition A"),
        Part("test_a", TEST, "test", "to test them on in condition A"),
        Part("val_b", TEST, "valB", "to look at condition B before the test"),
        Part("test_b", TEST, "testB", "to test them on in condition B"),
    ),
    variants={"a": Variant(("train_a",), ("val_a",))},
    predicted=("val_a", "test_a", "val_b", "test_b"),
    apart=tuple(Apart(IMAGE, "train", side) for side in SIDES),
)
