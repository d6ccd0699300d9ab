"""Panels of accuracies by facet: which rows they have, what a change a step is, and which runs they need."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.paper.needs import Answers, Plan, cells, lacking
from compvqa.paper.panels import Panel, panels, places, trend
from compvqa.paper.reference import Reference, load
from compvqa.paper.scores import Score, of_any_size
from fixtures.paper_tables import PAPERS

SIZE = {"title": "Size", "facet": "size", "number_after": "query"}
KIND = {"title": "Kind", "facet": "kind", "values": {"a b": "B", "c": "C"}, "parts": {"test": "", "test_b": "in B"}}


def page(*shown: dict, **options) -> Reference:
    """A page of panels."""
    shows = {"LSTM": {"model": "lstm", "variant": "iid"}, "Mode": {"baseline": "mode"}}
    told = {"title": "T", "citation": "c", "kind": "table", "make": "panels", "inputs": ["scores"]}
    told |= {"columns": [*shows], "shows": shows, "options": options | {"panels": shown}}
    return Reference.model_validate(told)


def test_a_place_is_called_by_its_panel_value_and_part():
    told = page(SIZE, KIND)
    size, kind = panels(told)
    assert places(kind, told) == ["Kind: B", "Kind: B, in B", "Kind: C", "Kind: C, in B"]
    assert places(size, told) == ["Size: change a step"] and size.place("7") == "Size: 7"
    assert Panel(title="", values={"": "All"}).place("") == "All"


def test_a_wrong_panel_is_one_clear_sentence():
    with pytest.raises(InputError, match="T: options.panels, titel: Extra inputs"):
        panels(page(SIZE | {"titel": "Size"}))


ACCURACIES = st.lists(
    st.tuples(st.integers(0, 30), st.floats(0, 100), st.integers(1, 500), st.floats(0, 9)),
    min_size=2, max_size=8, unique_by=lambda row: row[0],
)  # fmt: skip


@given(ACCURACIES)
def test_a_change_a_step_is_the_slope_of_the_best_line_by_questions(rows):
    """An independent oracle: numpy's weighted fit, whose covariance is that of known deviations."""
    found = [(x, Score(y, None, 1, (y - half, y + half), 0, n)) for x, y, n, half in rows]
    slope, (low, high) = trend(found)
    x, y, n, half = np.array(rows).T
    assert slope == pytest.approx(np.polyfit(x, y, 1, w=np.sqrt(n))[0], abs=1e-6)
    # each accuracy moved by its half width moves the slope by its own share
    moved = [np.polyfit(x, y + half * (np.arange(len(x)) == i), 1, w=np.sqrt(n))[0] - slope for i in range(len(x))]
    assert (high - low) / 2 == pytest.approx(np.linalg.norm(moved), abs=1e-6) and low <= slope <= high


def test_one_number_has_no_slope():
    assert trend([(3, Score(50, None, 1, (40, 60), 0, 9))]) is None and trend([]) is None


def test_a_model_is_known_by_its_name_and_a_size():
    assert of_any_size("lstm", ["lstm-program-tiny", "lstm-tiny", "lstm-small"]) == "lstm-small"
    assert of_any_size("lstm", ["lstm-tiny", "lstm"]) == "lstm"
    assert of_any_size("lstm", ["cnn-lstm-tiny", "lstm-program"]) == "lstm"


PLAN = Plan(
    runs=frozenset({("mode", "iid", "iid"), ("lstm-tiny", "iid", "iid")}),
    trained=("lstm-tiny",),
    splits={"iid": "iid"},
    setups={},
    sizes=(),
    paraphrased=False,
    pages={},
    facets=("size", "kind"),
)
NO_NET = replace(PLAN, runs=frozenset({("mode", "iid", "iid")}), trained=())


def test_a_cell_needs_its_column_s_run_and_above_another_that_one_s_too():
    lstm, mode = Answers("lstm-tiny", "iid", "iid"), Answers("mode", "iid", "iid")
    assert cells(page(SIZE), PLAN) == {
        ("Size: change a step", "LSTM"): {lstm},
        ("Size: change a step", "Mode"): {mode},
    }
    assert cells(page(SIZE, above="LSTM"), PLAN) == {("Size: change a step", "Mode"): {lstm, mode}}


@pytest.mark.parametrize(
    ("told", "plan", "words"),
    [
        (page(SIZE), NO_NET, ""),
        (page(SIZE, above="LSTM"), PLAN, ""),
        (page(SIZE, above="LSTM"), NO_NET, "of LSTM, Mode it needs LSTM and one: name them in models.trained"),
        (page(SIZE), replace(NO_NET, runs=frozenset()), "of LSTM, Mode it needs one: name them in models.trained"),
        (page(SIZE), replace(PLAN, facets=()), "it tells accuracy by size: name that in scores.facets"),
        (page(KIND | {"split": "cogent"}), PLAN, "it shows the split cogent: name that in splits.names"),
    ],
)  # fmt: skip
def test_a_page_of_panels_says_what_it_lacks(told, plan, words):
    found = lacking(told, plan)
    assert found.startswith(words) and bool(found) == bool(words)


def test_a_finding_of_several_numbers_needs_one_of_them():
    pages = {name: load(PAPERS / f"clevr/{name}.yaml") for name in ("figure4-table", "figure4-above", "findings")}
    facets = ("type",)
    told = replace(NO_NET, runs=frozenset({("qtype", "iid", "iid")}), pages=pages, facets=facets)
    assert lacking(pages["findings"], told) == ""
    assert "no model is trained for it" in lacking(pages["findings"], replace(told, runs=frozenset()))
