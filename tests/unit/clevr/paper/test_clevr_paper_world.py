"""The picture of a world: where its directions point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.clevr.paper.world import ground_to_pixels
from compvqa.scenes.graph import Space

numbers = st.floats(-3, 3).map(lambda number: round(number, 2))


def space_of(places, right, down):
    """A space in which a step along each axis of the ground goes so many pixels ``right`` and ``down``."""
    centres = {key: (160 + x * right[0] + y * right[1], 120 + x * down[0] + y * down[1]) for key, (x, y) in places}
    return Space({key: (x, y, 0.35) for key, (x, y) in places}, centres, {"right": (1, 0, 0)})


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6))
def test_a_step_on_the_ground_is_told_from_three_objects_that_are_in_no_row(points):
    right, down = (31.0, -17.0), (9.0, 12.0)
    found = ground_to_pixels(space_of([*enumerate(points)], right, down))
    x, y = np.array(points).T
    areas = [
        abs((x[i] - x[0]) * (y[j] - y[0]) - (x[j] - x[0]) * (y[i] - y[0])) for i in range(len(x)) for j in range(i)
    ]
    if max(areas, default=0) > 0.1:
        assert found == pytest.approx(np.array([right, down]).T, abs=1e-3)
    elif max(areas, default=0) == 0:
        assert found is None


def test_no_object_tells_of_no_direction():
    assert ground_to_pixels(Space({}, {}, {"right": (1, 0, 0)})) is None
