"""Sides of scenes as parts of the dataset."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from compvqa.clevr.parts import PartsSettings, part_of


def test_val_is_dev_and_other_sides_are_parts_of_their_names():
    parts = PartsSettings().parts
    assert [part_of(parts, 1, side, "a") for side in ("train", "val", "test", "valB")] == [
        *("train", "dev", "test", "valB")
    ]


@given(st.floats(0.05, 0.95), st.integers(0, 9))
def test_scenes_are_dealt_by_their_shares_and_always_to_the_same_part(share, seed):
    parts = {"train": {"train": share, "dev": 1 - share}}
    dealt = [part_of(parts, seed, "train", f"s:{number}") for number in range(2000)]
    assert dealt == [part_of(parts, seed, "train", f"s:{number}") for number in range(2000)]
    assert abs(Counter(dealt)["train"] / 2000 - share) < 5 * (share * (1 - share) / 2000) ** 0.5


def test_shares_are_one_together():
    with pytest.raises(ValidationError, match="the shares of train are 0.9 together, not 1"):
        PartsSettings(parts={"train": {"train": 0.5, "dev": 0.4}})
