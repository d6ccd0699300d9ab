"""The detector stand-in and the overlap of boxes, against slow and obvious versions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa.features.boxes import intersection_over_union, match
from compvqa.features.detector import detect
from compvqa.features.settings import DetectorSettings

SIZE = (100.0, 80.0)
BOX = st.tuples(st.integers(0, 60), st.integers(0, 50), st.integers(5, 40), st.integers(5, 30))
BOXES = st.lists(BOX, min_size=1, max_size=8).map(lambda rows: np.array(rows, np.float32))


@settings(max_examples=40, deadline=None)
@given(left=BOXES, right=BOXES)
def test_overlap_counts_shared_pixels(left, right):
    def pixels(box):
        x, y, w, h = (int(n) for n in box)
        return {(i, j) for i in range(x, x + w) for j in range(y, y + h)}

    found = intersection_over_union(left, right)
    assert found.shape == (len(left), len(right))
    for n, a in enumerate(left):
        for m, b in enumerate(right):
            expected = len(pixels(a) & pixels(b)) / len(pixels(a) | pixels(b))
            assert abs(found[n, m] - expected) < 1e-5


def test_the_largest_boxes_are_kept_up_to_the_number_that_the_settings_say():
    boxes = np.array([[0, 0, side, side] for side in range(5, 75)], np.float32)
    usual, more = (detect("s:1", boxes, SIZE, DetectorSettings(**most), 1) for most in ({}, {"most_regions": 50}))
    assert (len(usual), len(more)) == (36, 50) and np.array_equal(more[:36], usual)


@settings(max_examples=40, deadline=None)
@given(boxes=BOXES, seed=st.integers(0, 99))
def test_detected_boxes_lie_in_the_image_and_do_not_depend_on_what_was_detected_before(boxes, seed):
    found = detect("s:1", boxes, SIZE, DetectorSettings(), seed)
    detect("s:2", boxes, SIZE, DetectorSettings(), seed + 1)
    assert np.array_equal(found, detect("s:1", boxes, SIZE, DetectorSettings(), seed))
    assert 1 <= len(found) <= 36
    assert (found[:, :2] >= 0).all() and (found[:, 2:] > 0).all()
    assert (found[:, 0] + found[:, 2] <= SIZE[0] + 1e-3).all()
    assert (found[:, 1] + found[:, 3] <= SIZE[1] + 1e-3).all()


def test_each_seed_and_each_image_has_its_own_detections():
    boxes = np.array([[1, 2, 30, 40], [50, 10, 20, 20]], np.float32)
    found = [detect(image, boxes, SIZE, DetectorSettings(), seed) for image in ("s:1", "s:2") for seed in (0, 1)]
    assert len({boxes.tobytes() for boxes in found}) == 4


def test_a_perfect_detector_finds_the_true_boxes():
    boxes = np.array([[1, 2, 30, 40], [50, 10, 20, 20]], np.float32)
    perfect = DetectorSettings(jitter=0, missed=0, background=0, partial=0)
    assert np.array_equal(detect("s:1", boxes, SIZE, perfect, 0), boxes)


@settings(max_examples=40, deadline=None)
@given(boxes=BOXES, objects=BOXES)
def test_a_region_is_of_the_object_that_it_overlaps_most(boxes, objects):
    named = [({"object_id": number}, tuple(box)) for number, box in enumerate(objects.tolist())]
    overlaps = intersection_over_union(boxes, objects)
    for row, found in zip(overlaps, match(boxes, named), strict=True):
        if found is None:
            assert row.max() < 0.5
        else:
            assert row[found["object_id"]] == row.max() >= 0.5


def test_no_region_is_of_anything_where_nothing_is_annotated():
    assert match(np.zeros((3, 4), np.float32), []) == [None] * 3
