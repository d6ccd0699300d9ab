"""The examples of pretraining."""

import numpy as np
import pytest

from compvqa.graphs.subgraph import Edge, make
from compvqa.seeds import generator
from compvqa.training.data import MASK
from compvqa.training.match import right
from compvqa.training.matches import Match, mask


def test_one_name_is_masked():
    subgraph = make("man", "old", (Edge("on", make("horse", "white")),))
    found = {mask(subgraph, generator(0, number))[1] for number in range(60)}
    assert found == {"man", "old", "on", "horse", "white"}
    masked, name = mask(subgraph, generator(0, 1))
    assert masked.json().count(MASK) == 1 and name not in masked.json().replace(MASK, "")


def test_a_count_is_right_if_it_tells_presence():
    scores = np.eye(3)[[0, 2, 1, 0]]
    assert right(scores, np.array([0, 1, 0, 2]), 3).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("label", "named", "expected"),
    [
        (1, ("b",), [0, 1, 0, 0]),
        (2, ("a", "b"), [1, 1, 0, 0]),
        (1, ("lost",), [-1, -1, -1, -1]),  # in the image, but no region shows it
        (0, (), [0, 0, 0, 0]),
        ("red", (), [-1, -1, -1, -1]),  # a masked name says nothing of the regions
    ],
)
def test_a_text_is_about_the_regions_that_show_its_roots(label, named, expected):
    found = Match("object", "a dog", ("s:1",), label, named)
    assert found.about(["a", "b", None, "c"]) == expected
