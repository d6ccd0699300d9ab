"""Which runs the numbers of a page need, and that a page without any is told why."""

from dataclasses import replace
from pathlib import Path

import pytest

from compvqa.paper.needs import Answers, Plan, cells, filled, lacking
from compvqa.paper.reference import load

PAPERS = Path(__file__).resolve().parents[3] / "config/paper"
NAMES = ("table6", "table7", "table8", "table12")
IID = [("visualbert-covr", "iid", variant) for variant in ("iid", "text")]
BASELINES = [("maj", "iid", "iid"), ("majtempl", "iid", "iid")]
PLAN = Plan(
    runs=frozenset([*IID, *BASELINES]),
    trained=("visualbert-covr",),
    splits={"has-num-3": "HAS-NUM-3", "program-1": "Program Split", "program-2": "Program Split"},
    setups={"has-num-3": "few-shot", "program-1": "zero-shot", "program-2": "zero-shot"},
    sizes=(0, 50),
    paraphrased=False,
    pages={name: load(PAPERS / f"covr/{name}.yaml") for name in NAMES},
)
NONE = replace(PLAN, runs=frozenset(BASELINES), trained=())


def page(name):
    return load(PAPERS / (f"{name}.yaml" if "/" in name else f"covr/{name}.yaml"))


def trained(*runs, **changes):
    return replace(PLAN, runs=PLAN.runs | set(runs), **changes)


def test_a_cell_needs_the_run_that_its_column_names():
    needed = cells(page("table7"), PLAN)
    of = {column: needed["HAS-NUM-3", column] for column in ("VBText", "VB250", "VBiid-size", "VBiid")}
    assert of == {
        "VBText": {Answers("visualbert-covr", "iid", "text")},
        "VB250": {Answers("visualbert-covr", "has-num-3", "comp")},
        "VBiid-size": {Answers("visualbert-covr", "has-num-3", "size")},
        "VBiid": {Answers("visualbert-covr", "iid", "iid")},
    }
    assert needed["HAS-NUM-3", "Gen. Score"] == of["VBText"] | of["VB250"] | of["VBiid-size"]
    assert needed["ANS-NUM", "VBiid"] == frozenset()  # no such split is made
    assert ("HAS-NUM-3", "Filtered") not in needed


def test_a_page_of_an_engine_s_own_needs_runs_too():
    needed = cells(page("accuracy-properties"), PLAN)
    assert {column for _, column in needed} == {"MAJTEMPL", "VBText", "VBiid"} and all(needed.values())


def test_a_row_of_several_draws_needs_a_run_on_each():
    one, both = (trained(*(("visualbert-covr", f"program-{n}", "comp") for n in draws)) for draws in ((1,), (1, 2)))
    assert not filled(page("table8"), one)["Program Split", "VB0"]
    assert filled(page("table8"), both)["Program Split", "VB0"]
    assert filled(page("table8"), one)["Program Split", "VBiid"]


def test_of_table_6_baselines_alone_have_numbers_and_paraphrases_their_own_columns():
    numbers = filled(page("table6"), NONE)
    assert {row for (row, _), has in numbers.items() if has} == {"MAJ", "MAJTEMPL"}
    assert not numbers["MAJ", "Test (paraphrased)"]
    both = filled(page("table6"), replace(PLAN, paraphrased=True))
    assert {row for (row, column), has in both.items() if has and column == "Test (paraphrased)"} == {
        *("MAJ", "MAJTEMPL", "VBText", "VBiid")
    }


def test_the_curve_has_a_number_for_each_m():
    plan = trained(("visualbert-covr", "has-quant", "m50"), splits={"has-quant": "HAS-QUANT"})
    assert filled(page("figure13"), plan) == {
        ("ANS-NUM", "M = 0"): False,
        ("ANS-NUM", "M = 50"): False,
        ("HAS-QUANT", "M = 0"): False,
        ("HAS-QUANT", "M = 50"): True,
    }


def test_a_gain_needs_both_ends_of_all_its_steps():
    runs = [("visualbert-covr", "has-quant", f"m{m}") for m in (0, 50, 125, 2500)]
    plan = replace(trained(*runs, splits={"has-quant": "HAS-QUANT"}), sizes=(0, 50, 125, 2500))
    gains = {column: has for (row, column), has in filled(page("figure13-table"), plan).items() if row == "HAS-QUANT"}
    assert gains["From 0 to 50"] and gains["From 125 to 2,500"] and gains["M = 2,500"]
    assert not gains["Beyond 2,500"] and not gains["Before and after"]  # nothing was trained beyond


def test_a_split_of_ones_own_is_a_row_of_the_tables_of_its_setup():
    plan = replace(PLAN, splits={"mine": "MINE"}, setups={"mine": "few-shot"})
    assert lacking(page("table7"), plan) == ""
    assert "no model is trained on a split of it" in lacking(page("table8"), plan)
    assert "no paraphrases" in lacking(page("table14"), plan)


def test_a_claim_needs_both_its_numbers_and_the_tables_that_they_stand_in():
    claims = filled(page("findings"), PLAN)
    assert claims["images are needed", "Here"] and claims["attributes are hardest", "Here"]
    assert not claims["distractors matter", "Here"] and not claims["all", "Here"]
    without = filled(page("findings"), replace(PLAN, pages={"table6": PLAN.pages["table6"]}))
    assert without["images are needed", "Here"] and not without["attributes are hardest", "Here"]


def test_of_a_page_s_other_tables_those_of_its_paper_are_meant():
    shown = {f"covr/{name}": page for name, page in PLAN.pages.items()} | {"other/table6": page("table3")}
    assert replace(PLAN, pages=shown).within("covr") == PLAN
    assert list(replace(PLAN, pages=shown).within("other").pages) == ["table6"]


@pytest.mark.parametrize(
    ("name", "plan", "words"),
    [
        ("table7", NONE, "no model is trained for it: name one in models.trained"),
        ("table12", NONE, "no model is trained for it"),
        ("accuracy", NONE, "no model is trained for it"),
        ("table16", PLAN, "name one whose name starts with vilbert in models.trained"),
        ("covr-submission/table7", PLAN, "name one whose name starts with lxmert"),
        ("table13", PLAN, "the questions have no paraphrases: name a file of them as paraphrases"),
        ("table14", PLAN, "the questions have no paraphrases"),
        (
            "table7",
            replace(PLAN, splits={}, setups={}),
            "no model is trained on a split of it: name its splits in splits.names",
        ),
        (
            "findings",
            replace(PLAN, pages={}),
            "no table that it compares is shown with a number of ours: show table6, table7",
        ),
        ("figure13", PLAN, "no model is trained with several M on ANS-NUM or HAS-QUANT: name such a split"),
    ],
)
def test_a_page_without_a_number_of_ours_is_told_why(name, plan, words):
    assert words in lacking(page(name), plan)


@pytest.mark.parametrize(
    "name", ["table6", "table7", "table8", "table12", "accuracy", "accuracy-properties", "findings"]
)
def test_one_number_is_enough(name):
    assert lacking(page(name), PLAN) == ""


@pytest.mark.parametrize("name", ["table3", "figure4", "splits", "training", "words"])
def test_other_pages_have_no_numbers_of_runs(name):
    assert cells(page(name), NONE) == {} and lacking(page(name), NONE) == ""


def test_table_6_with_baselines_alone_is_no_page_without_numbers():
    assert lacking(page("table6"), NONE) == "" and lacking(page("accuracy-properties"), NONE) == ""
