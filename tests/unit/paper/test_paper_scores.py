"""The scores of runs as the paper's columns."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.evaluation.contrasts import CONTRASTS
from compvqa.evaluation.scores import SCORES
from compvqa.paper.reference import Reference, Shown
from compvqa.paper.scores import Doubt, Results, beside, contrast_doubt, differences
from compvqa.tables import write

REFERENCE = Reference(title="x", citation="y", kind="table", make="z", inputs=())


def run(name: str, accuracy: float, **changed) -> dict:
    """A row of the scores of the run ``name``; its interval is 0.1 to either side."""
    model, split, variant, seed = name.split(".")
    row = {"run": name, "model": model, "split": split, "variant": variant, "seed": int(seed), "part": "test"}
    row |= {"text": "generated", "facet": "all", "value": "", "n": 1000, "right": round(1000 * accuracy)}
    return row | {"low": accuracy - 0.1, "high": accuracy + 0.1} | changed


def results(tmp_path, rows: list[dict], **options: str) -> Results:
    pq.write_table(pa.Table.from_pylist(rows, schema=SCORES.fields), tmp_path / "scores.parquet")
    return Results.load(tmp_path / "scores.parquet", options)


@pytest.mark.parametrize(
    ("options", "trained", "found"),
    [
        ({"prefer": "visualbert"}, ["lxmert", "visualbert-tiny"], "visualbert-tiny"),
        ({"prefer": "visualbert"}, ["lxmert"], "lxmert"),
        ({"prefer": "visualbert"}, [], "visualbert"),
        ({}, ["visualbert", "lxmert"], "lxmert"),
        ({"model": "vilbert"}, ["vilbert-tiny", "visualbert"], "vilbert-tiny"),
        ({"model": "vilbert"}, ["vilbert", "vilbert-tiny"], "vilbert"),
        ({"model": "vilbert"}, ["visualbert"], "vilbert"),
        ({"model": "lxmert"}, [], "lxmert"),
    ],
)
def test_a_model_is_named_by_how_its_name_starts(tmp_path, options, trained, found):
    rows = [run(f"{name}.iid.{variant}.1", 0.5) for name in trained for variant in ("iid", "text")]
    rows.append(run("a-baseline.iid.iid.1", 0.2))
    assert results(tmp_path, rows, **options).model == found


def test_what_a_label_shows_is_a_variant_of_the_page_s_model_or_a_baseline(tmp_path):
    accuracies = {variant: 0.1 * (n + 1) for n, variant in enumerate(("text", "comp", "size", "iid", "easy"))}
    rows = [run(f"visualbert.iid.{variant}.1", a) for variant, a in accuracies.items()]
    found = results(tmp_path, [*rows, run("maj.iid.iid.1", 0.7)], prefer="visualbert")
    for variant, accuracy in accuracies.items():
        assert found.score(Shown(variant=variant), "iid", "test").mean == pytest.approx(100 * accuracy)
    assert found.score(Shown(baseline="maj"), "iid", "test").mean == pytest.approx(70)
    assert found.score(Shown(), "iid", "test") is found.score(Shown(baseline="lstm"), "iid", "test") is None


def test_a_cell_joins_what_its_column_and_its_row_show():
    shows = {"Test": {"part": "test", "text": "paraphrased"}, "A": {"variant": "iid"}}
    page = Reference(**REFERENCE.model_dump(exclude={"shows", "columns"}), columns=("Test",), shows=shows)
    assert page.shown("Test", "A") == Shown(part="test", text="paraphrased", variant="iid")
    assert page.shown("Test", "nowhere") == Shown(part="test", text="paraphrased")


@given(st.lists(st.floats(0.2, 0.8), min_size=1, max_size=5))
def test_the_interval_of_several_runs_holds_each_of_theirs(tmp_path_factory, accuracies):
    rows = [run(f"visualbert.iid.iid.{seed}", accuracy) for seed, accuracy in enumerate(accuracies)]
    low, high = (
        results(tmp_path_factory.mktemp("scores"), rows, model="visualbert")
        .score(Shown(variant="iid"), "iid", "test")
        .interval
    )
    assert (low, high) == pytest.approx((100 * min(accuracies) - 10, 100 * max(accuracies) + 10))


def test_without_a_model_or_paraphrases_it_is_told_why(tmp_path):
    rows = [run("visualbert.iid.iid.1", 0.5)]
    assert results(tmp_path, rows, model="visualbert").missing() == ("", "")
    assert results(tmp_path, rows, model="visualbert").missing("paraphrased")[0] == "not paraphrased"
    assert results(tmp_path, rows, model="vilbert").missing()[0] == "not trained"
    assert "No model called vilbert" in results(tmp_path, rows, model="vilbert").missing("paraphrased")[1]
    rows.append(run("visualbert.iid.iid.1", 0.5, text="paraphrased"))
    assert results(tmp_path, rows, model="visualbert").missing("paraphrased") == ("", "")


def test_accuracy_by_m_is_of_the_runs_with_an_m(tmp_path):
    rows = [run(f"visualbert.has-quant.m{m}.{seed}", (m + seed) / 1000) for m in (50, 0, 250) for seed in (1, 2)]
    rows += [run("visualbert.has-quant.comp.1", 0.9), run("visualbert.ans-num.m0.1", 0.9)]
    rows += [run("vilbert.has-quant.m0.1", 0.9), run("visualbert.has-quant.m0.1", 0.9, facet="template", value="COUNT")]
    rows += [
        run("visualbert.has-quant.m0.1", 0.9, part="dev"),
        run("visualbert.has-quant.m0.1", 0.9, facet="property", value="V"),
    ]
    curve = results(tmp_path, rows, model="visualbert").by_m("HAS-QUANT", "test")
    assert list(curve) == [0, 50, 250]
    assert [score.mean for score in curve.values()] == pytest.approx([0.15, 5.15, 25.15])
    assert [score.interval[0] for score in curve.values()] == pytest.approx([-9.9, -4.9, 15.1])
    assert [score.interval[1] for score in curve.values()] == pytest.approx([10.2, 15.2, 35.2])


def test_the_widest_interval_of_generalization_scores_is_taken(tmp_path):
    named = {"model": "visualbert", "part": "test_comp", "text": "generated", "n": 9, "seeds": 1}
    named |= {"contrast": "generalization", "accuracies": "{}", "score": 0.5, "undefined": 0.0, "below": 1.0}
    named |= {"other": "", "facet": "all", "value": ""}
    rows = [named | {"split": f"program-{n}", "low": n / 10, "high": n / 5, "n": 10 - n} for n in (1, 2, 3)]
    rows += [named | {"split": "program-4", "score": None, "low": None, "high": None, "undefined": 0.6, "below": 0.3}]
    rows += [named | {"split": "program-1", "text": "paraphrased", "low": 0.0, "high": 9.0}]
    rows += [named | {"contrast": "other", "split": "program-1", "low": 0.0, "high": 9.0}]
    path, name = tmp_path / "contrasts.parquet", "generalization"
    write(path, CONTRASTS, rows)
    draws = ["program_1", "program-2", "program-4"]
    found = contrast_doubt(path, name, "visualbert", draws, "test_comp")
    assert found == Doubt(pytest.approx((0.1, 0.4)), 8, 0.6, 0.3)
    assert contrast_doubt(path, name, "visualbert", ["program-4"], "test_comp").interval is None
    assert contrast_doubt(path, name, "vilbert", ["program-1"], "test_comp") is None


def test_a_difference_is_read_from_either_of_its_two_models(tmp_path):
    named = {"contrast": "difference", "split": "iid", "part": "test", "text": "generated", "seeds": 1, "n": 9}
    named |= {"accuracies": "{}", "score": 0.1, "low": -0.1, "high": 0.2, "undefined": 0.0, "below": 0.0}
    rows = [
        named | {"model": "lstm", "other": other, "facet": facet, "value": value}
        for other in ("qtype", "san")
        for facet, value in (("all", ""), ("type", "count"))
    ]
    write(tmp_path / "contrasts.parquet", CONTRASTS, rows)
    for models, expected in ((("lstm", "san"), (10, -10, 20)), (("san", "lstm"), (-10, -20, 10))):
        found = differences(tmp_path / "contrasts.parquet", *models, "test", "generated", "iid")
        assert {key: (s.mean, *s.interval) for key, s in found.items()} == {
            ("all", ""): pytest.approx(expected),
            ("type", "count"): pytest.approx(expected),
        }
    assert differences(tmp_path / "contrasts.parquet", "san", "qtype", "test", "generated", "iid") == {}


def test_what_stands_apart_is_not_compared(tmp_path):
    score = results(tmp_path, [run("visualbert.iid.iid.1", 0.5)], model="visualbert").score(
        Shown(variant="iid"), "iid", "test"
    )
    assert beside(score, 45.0, REFERENCE).agrees is None  # from 40 to 60: too wide to agree with it
    assert beside(score, 61.0, REFERENCE).agrees is False
    apart = beside(score, 61.0, REFERENCE.model_copy(update={"apart": "an earlier dataset"}))
    assert (apart.agrees, apart.look, apart.doubt) == (None, "", ("[40.0, 60.0]", "n 1,000"))
    assert beside(None, 45.0, REFERENCE).ours == "–"


def test_a_score_tells_what_was_asked_before_of_any_of_its_runs(tmp_path):
    rows = [run(f"vb.some.comp.{seed}", 0.6, asked_before=asked) for seed, asked in ((1, None), (2, 0), (3, 70))]
    rows += [
        run("vb.some.size.1", 0.8),
        run("vb.iid.text.1", 0.4, split="some"),
        run("vb.some.m5.1", 0.5, asked_before=9),
    ]
    rows += [run("vb.other.comp.1", 0.6, asked_before=0)]
    found = results(tmp_path, rows, model="vb")
    comp, size = (found.score(Shown(variant=variant), "some", "test") for variant in ("comp", "size"))
    assert (comp.asked, size.asked, found.score(Shown(variant="comp"), "other", "test").asked) == (70, 0, 0)
    assert beside(comp, 50.0, REFERENCE).sign == "‡" and beside(size, 50.0, REFERENCE).sign == ""
    assert found.contrast("generalization", "some", "test")[1] == 70  # made of the three
    assert found.contrast("generalization", "other", "test")[1] == 0
    assert [score.asked for score in found.by_m("some", "test").values()] == [9]
