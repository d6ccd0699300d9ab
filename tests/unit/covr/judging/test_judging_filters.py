"""The measures of filters: shares as counted by hand, and intervals over scenes."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from compvqa import tables
from compvqa.covr.judging.distractors import DISTRACTORS, KINDS
from compvqa.covr.judging.filters import FILTERS, FilterSettings, filters_of, judge
from compvqa.covr.judging.validity import VALIDITY

ARMS = ("none-none", "toy-none", "toy-toy")
CAUSES = ("", "overlapping names", "wrong", "missing")
DROPPED = {"none-none": ("",), "toy-none": ("", "words"), "toy-toy": ("", "words", "images")}


@st.composite
def judged_distractors(draw):
    """Rows of the table of judged distractors: the same ones in three chains."""
    rows = []
    for number in range(draw(st.integers(1, 12))):
        row = {"seed": number, "key": "0_name", "scene_id": f"s{draw(st.integers(0, 3))}", "score": None}
        row |= {"kind": draw(st.sampled_from(KINDS)), "cause": draw(st.sampled_from(CAUSES))}
        row |= {"tau": 0.5, "tau_paper": 0.5}
        rows += [row | {"arm": arm, "dropped": draw(st.sampled_from(DROPPED[arm]))} for arm in ARMS]
    return rows


def question(number, template, scene, cause):
    row = {"question_id": f"{number:03}", "template": template, "part": "train", "start_scene": scene}
    return row | {"valid": not cause, "cause": cause, "truth_answer": ""}


QUESTIONS = [
    *(question(n, "COUNT", f"s{n % 3}", "missing" if n < 5 else "") for n in range(10)),
    *(question(10 + n, "QUERYATTR", f"s{n}", "wrong" if n < 1 else "") for n in range(2)),
]


def measured(folder, drawn, questions=(), seed=0, **options):
    tables.write(folder / "distractors.parquet", DISTRACTORS, drawn)
    tables.write(folder / "questions.parquet", VALIDITY, questions)
    settings = FilterSettings(arms=("toy-toy",), **options)
    judge([folder / "questions.parquet"], folder / "distractors.parquet", folder / "out.parquet", settings, seed)
    rows = tables.read(folder / "out.parquet", FILTERS).to_pylist()
    return {(row["of"], row["arm"], row["group"], row["measure"]): row for row in rows}


def share(counted, among):
    """How much of ``among`` is counted (None where there is nothing), and how many there are."""
    return (Fraction(sum(row in counted for row in among), len(among)) if among else None), len(among)


def by_hand(among, filters):
    """The measures of filters, by counting."""
    false, good = ([row for row in among if (row["cause"] != "") == wanted] for wanted in (True, False))
    dropped, kept = ([row for row in among if (row["dropped"] in filters) == wanted] for wanted in (True, False))
    missing, wrong = ([row for row in among if row["cause"] == cause] for cause in ("missing", "wrong"))
    return {
        "false": share(false, among),
        "false: wrong": share(wrong, among),
        "dropped": share(dropped, among),
        "precision": share(false, dropped),
        "recall": share(dropped, false),
        "recall: missing": share(dropped, missing),
        "kept lacks": share(good, kept),
        "good lost": share(dropped, good),
    }


@settings(max_examples=30, deadline=None)
@given(judged_distractors(), st.sampled_from(["", *KINDS]))
def test_shares_are_what_counting_gives(tmp_path_factory, drawn, kind):
    found = measured(tmp_path_factory.mktemp("filters"), drawn, resamples=20)
    for arm in ARMS:
        rows = [row for row in drawn if row["arm"] == arm and kind in ("", row["kind"])]
        left = [row for row in rows if row["dropped"] != "words"]
        judged = {"both": (rows, ("words", "images")), "words": (rows, ("words",)), "images": (left, ("images",))}
        assert {of for of, name, *_ in found if name == arm and of != "questions"} == {"both", *filters_of(arm)}
        for of in ("both", *filters_of(arm)):
            for measure, (value, n) in by_hand(*judged[of]).items():
                row = found.get((of, arm, kind, measure), {"value": None, "n": 0})
                assert row["n"] == n
                assert row["value"] == (None if value is None else pytest.approx(float(value)))
                assert n == 0 or 0 <= row["low"] <= row["high"] <= 1


def test_all_templates_weigh_the_same(tmp_path):
    found = measured(tmp_path, [], QUESTIONS)
    values = {key[2:]: row["value"] for key, row in found.items() if key[0] == "questions"}
    assert values["COUNT", "invalid"] == values["COUNT", "invalid: missing"] == 0.5
    assert values["QUERYATTR", "invalid"] == values["QUERYATTR", "invalid: wrong"] == 0.5
    assert values["", "invalid"] == 0.5 and values["", "invalid: missing"] == values["", "invalid: wrong"] == 0.25
    assert found["questions", "toy-toy", "", "invalid"]["n"] == 12


def test_intervals_resample_scenes_and_not_what_is_in_them(tmp_path):
    one_scene = [question(n, "COUNT", "s", "missing" if n < 30 else "") for n in range(100)]
    row = measured(tmp_path, [], one_scene)["questions", "toy-toy", "COUNT", "invalid"]
    assert row["value"] == 0.3 and row["low"] < 0.01 and row["high"] > 0.97
    # two scenes of 50, one all valid: a resample has neither, one or both of them
    two_scenes = [question(n, "COUNT", f"s{n % 2}", "missing" if n % 2 else "") for n in range(100)]
    row = measured(tmp_path, [], two_scenes)["questions", "toy-toy", "COUNT", "invalid"]
    assert (row["low"], row["value"], row["high"]) == (0, 0.5, 1)


def test_the_interval_of_independent_questions_is_that_of_a_share(tmp_path):
    rows = [question(n, "COUNT", f"s{n:03}", "missing" if n < 100 else "") for n in range(400)]
    row = measured(tmp_path, [], rows, resamples=4000)["questions", "toy-toy", "COUNT", "invalid"]
    half = 1.96 * (0.25 * 0.75 / 400) ** 0.5
    assert (row["low"], row["high"]) == pytest.approx((0.25 - half, 0.25 + half), abs=0.01)


def test_a_share_of_nothing_or_all_has_the_interval_that_so_many_scenes_give(tmp_path):
    rows = [question(n, "COUNT", f"s{n % 30}", "") for n in range(90)]
    row = measured(tmp_path, [], rows)["questions", "toy-toy", "COUNT", "invalid"]
    exact = binomtest(0, 30).proportion_ci(method="exact")
    assert (row["low"], row["value"], row["high"]) == (0, 0, pytest.approx(exact.high))


def test_nothing_judged_gives_empty_measures(tmp_path):
    found = measured(tmp_path, [])
    assert {row["n"] for row in found.values()} == {0} and {row["value"] for row in found.values()} == {None}
