"""The table of the paper's conclusions: which of them our numbers bear out."""

import csv
import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.paper import tables
from compvqa.paper.reference import load
from compvqa.paper.tables.findings import MISSING, VERDICTS, Claim, Number, verdict
from fixtures.paper_tables import FOLDER, rows_of

MADE = ("table6", "table7", "table8", "table12", "table16", "table17")
FINDINGS = load(FOLDER / "findings.yaml")


@pytest.fixture
def made(world, tmp_path):
    """The world's inputs, with the tables that the findings read."""
    for name in MADE:
        tables.make(FOLDER / f"{name}.yaml", world.inputs, tmp_path / name)
    return world.inputs | {f"{name}.csv": [tmp_path / f"{name}.csv"] for name in MADE}


def test_every_claim_is_true_of_the_papers_own_numbers(made, tmp_path):
    rows = rows_of("findings", made, tmp_path)
    assert len(rows) == len(FINDINGS.facts)
    for name, fact in FINDINGS.facts.items():
        claim = Claim.model_validate(FINDINGS.options["claims"][name])
        if claim.share:
            assert rows[fact.text]["By the paper's numbers"] == "fits"
            continue
        if claim.of[0] == "figure13-table":  # curves without a printed number
            assert rows[fact.text]["First (paper)"] == rows[fact.text]["By the paper's numbers"] == ""
            continue
        first = float(rows[fact.text]["First (paper)"])
        second = float(rows[fact.text]["Second (paper)"]) if claim.less else 0
        assert claim.at_least <= first - second <= claim.at_most, fact.text


def test_numbers_and_intervals_are_those_of_the_tables(made, tmp_path):
    row = rows_of("findings", made, tmp_path)["Images are needed, VBiid above VBText"]
    with (tmp_path / "table6.csv").open(newline="", encoding="utf-8") as file:
        table6 = {line["Model"]: line for line in csv.DictReader(file)}
    assert (row["First"], row["Second"]) == (table6["VBiid"]["Test"], table6["VBText"]["Test"])
    for place, model in (("First", "VBiid"), ("Second", "VBText")):
        assert all(row[f"{place} {what}"] == table6[model][f"Test {what}"] for what in ("low", "high", "n"))
    apart = float(table6["VBiid"]["Test low"]) > float(table6["VBText"]["Test high"])
    assert apart and row["Here"] == "holds"


def test_what_was_not_trained_or_not_shown_is_not_measured(made, tmp_path):
    rows = rows_of("findings", made, tmp_path)
    assert rows["The lexical split is high"]["Here"] == MISSING
    page, tex = ((tmp_path / f"findings{ending}").read_text() for ending in (".html", ".tex"))
    assert "The lexical split is high" not in page + tex and "are in the CSV file alone" in page
    assert all(f">{html.escape(claim)}<" in page for claim, row in rows.items() if row["Here"] != MISSING)
    alone = rows_of("findings", {}, tmp_path)
    assert {row["Here"] for row in alone.values()} == {MISSING} and alone.keys() == rows.keys()
    page = (tmp_path / "findings.html").read_text()
    assert f"Of {len(rows)} claims, holds: 0" in page and "The lexical split is high" in page


def scores(path, of):
    """A table of generalization scores, a row each with its interval."""
    lines = ["Split,Gen. Score,Gen. Score low,Gen. Score high,Gen. Score (paper)"]
    lines += [f"{name},{value},{low},{high},{paper}" for name, (value, low, high, paper) in of.items()]
    path.write_text("\n".join([*lines, ""]))
    return [path]


@pytest.mark.parametrize(
    ("first", "second", "here", "ours"),
    [  # of 21 setups, how many are low or high for sure, or nobody knows
        ({"low": 6}, {"low": 4, "high": 1}, "does not hold", "10 of 11"),
        ({"low": 6}, {"high": 5}, "holds", "6 of 11"),
        ({"low": 4, "high": 7}, {"low": 5, "high": 5}, "holds", "9 of 21"),
        ({"low": 4, "open": 7}, {"low": 5, "high": 5}, "points that way", "9 of 21"),
        ({"high": 11}, {"high": 9, "low": 1}, "does not hold", "1 of 21"),
        ({"high": 6, "open": 5}, {"high": 9, "low": 1}, "does not hold", "1 of 21"),
        ({"high": 6, "open": 5}, {"high": 7, "low": 3}, "points the other way", "3 of 21"),
        ({"low": 3}, {"high": 1}, MISSING, ""),
    ],
)
def test_how_many_setups_are_low_is_told_by_those_whose_intervals_decide(tmp_path, first, second, here, ours):
    kinds = {"low": (0.2, 0.1, 0.3, 0.5), "high": (0.9, 0.8, 1.0, 0.9), "open": (0.75, 0.6, 0.9, 0.9)}
    inputs = {}
    for table, names, of in (("table7", "few-shot", first), ("table8", "zero-shot", second)):
        drawn = [kinds[kind] for kind, n in of.items() for _ in range(n)]
        made = dict(zip(FINDINGS.options[names], drawn, strict=False))
        inputs[f"{table}.csv"] = scores(tmp_path / f"{table}.csv", made)
    row = rows_of("findings", inputs, tmp_path)["A third to two thirds of the setups are low"]
    assert (row["Here"], row["First"]) == (here, ours)


def test_two_models_are_compared_split_by_split_over_both_tables(tmp_path):
    inputs = {}
    found = {"table7": 0.5, "table8": 0.5, "table16": 0.52, "table17": 0.8}
    for (table, high), names in zip(found.items(), ("few-shot", "zero-shot") * 2, strict=True):
        of = {name: (high, high - 0.01, high + 0.01, high) for name in FINDINGS.options[names]}
        inputs[f"{table}.csv"] = scores(tmp_path / f"{table}.csv", of)
    alike = "On at least half of the splits the score of ViLBERT is within 0.1 of VisualBERT's"
    row = rows_of("findings", inputs, tmp_path)[alike]
    assert (row["First"], row["Here"]) == ("11 of 21", "holds")


def test_a_score_that_is_undefined_is_not_measured(made, tmp_path):
    """A cell that says why there is no number, such as "no gap", is none."""
    with (tmp_path / "table7.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    with (tmp_path / "table7.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, lines[0].keys())
        table.writeheader()
        table.writerows(line | {"Gen. Score": "no gap"} for line in lines)
    rows = rows_of("findings", made, tmp_path)
    assert {row["Here"] for claim, row in rows.items() if claim.startswith("HAS-")} == {MISSING}
    assert any(row["Here"] != MISSING for row in rows.values())


def test_of_two_numbers_that_are_the_same_neither_is_above():
    claim = Claim.model_validate(FINDINGS.options["claims"]["all"])
    assert verdict(claim, Number(0.0, 0.0, 0.0), Number(0.0, 0.0, 0.0)) == VERDICTS[3]


@pytest.mark.parametrize(("value", "firm", "points"), [(2.0, 0, 1), (-2.0, 3, 2)])
def test_numbers_of_few_decide_nothing(value, firm, points):
    claim, zero = Claim(of=("t", "r", "c"), at_least=0.1), Number(0.0, 0.0, 0.0)
    for n, expected in ((4, points), (5, firm), (None, firm)):
        assert verdict(claim, Number(value, value - 1, value + 1, n=n), zero, least=5) == VERDICTS[expected]


@given(st.floats(-9, 9), st.floats(0, 5), st.floats(0, 5), st.floats(-9, 9), st.floats(0, 9))
def test_a_verdict_is_firm_where_every_value_of_the_interval_gives_the_same(value, below, above, least, width):
    claim = Claim(of=("t", "r", "c"), at_least=least, at_most=least + width)
    ends = (value - below, value + above)
    grid = [value, *ends, *(least + part * width for part in (0, 0.5, 1))]
    fits = {claim.at_least <= x <= claim.at_most for x in grid if ends[0] <= x <= ends[1]}
    firm = {(True,): VERDICTS[0], (False,): VERDICTS[3]}.get(tuple(fits))
    assert claim.verdict(value, *ends) == (firm or VERDICTS[1 if least <= value <= least + width else 2])


def test_a_claim_that_is_missing_or_wrong_is_one_clear_sentence(tmp_path):
    path = tmp_path / "own.yaml"
    text = "title: Own\ncitation: c\nkind: table\nmake: findings\ninputs: []\nfacts: {a: {text: t, quote: q}}\n"
    for options in ("{}", "{claims: {b: {of: [t, r, c]}}}", "{claims: {a: {of: [t, r]}}}"):
        path.write_text(f"{text}options: {options}\n")
        with pytest.raises(InputError, match="Own: options.claims has no right claim 'a'"):
            tables.make(path, {}, tmp_path / "own")
