"""What people open in a spreadsheet holds no formula."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.sheets import as_text, meant

cells = st.text() | st.text("'=+-@\t\r1e. a", max_size=6) | st.floats().map(str)


@given(cells)
def test_what_is_written_means_what_was_given(cell):
    assert meant(as_text(cell)) == cell


@given(cells)
def test_no_cell_begins_like_a_formula_but_numbers(cell):
    written = as_text(cell)
    if written[:1] and written[0] in "=+-@\t\r":
        float(written)


@pytest.mark.parametrize("cell", ['=cmd|" /C calc"!A0', "+1+1", "-dash", "@SUM(1)", "\t=1", "-1\r"])
def test_a_formula_gets_an_apostrophe(cell):
    assert as_text(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-0.3", "+7", "-1e-05", "a=b", "", "'quoted'", "–"])
def test_numbers_and_other_texts_are_let_be(cell):
    assert as_text(cell) == cell == meant(cell)
