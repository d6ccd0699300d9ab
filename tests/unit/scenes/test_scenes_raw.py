"""Names as they are written everywhere, and what is no name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.scenes.raw import Report, clean_name, unique_names


@pytest.mark.parametrize("written", ["mug", "Mug", " MUG\t", "mug\n", "\u00a0mug"])
def test_a_name_is_one_however_it_is_written(written):
    assert clean_name(written) == ("mug", "")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        *((value, "without a name") for value in (None, "", " \t")),
        *((value, "strange name") for value in ("On(", "\u0130" * 31, "--")),  # in lower case twice as long
        (5, "name is not a text"),
    ],
)
def test_what_is_no_name_is_told(value, why):
    assert clean_name(value) == (None, why)


@given(st.text(max_size=70))
def test_a_clean_name_stays_as_it_is(text):
    name, wrong = clean_name(text)
    assert (name is None) == bool(wrong)
    assert name is None or clean_name(name) == (name, "")


def test_attributes_that_become_one_are_one_and_the_rest_is_counted_or_rejected():
    report = Report()
    assert unique_names(["Red", "red ", "big", " "], report, "7", "object 1") == ["red", "big"]
    assert report.counts["attributes dropped: repeated"] == 1
    assert [(row["record"], row["reason"]) for row in report.rejects] == [
        ("attribute ' ' of object 1", "attribute: without a name")
    ]
