"""Accuracy by part and facet, on small made-up runs."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.errors import InputError
from compvqa.evaluation.answers import Run
from compvqa.evaluation.scores import SCORES, ScoreSettings, over_seeds, score
from compvqa.splits.seen_before import SEEN_BEFORE
from fixtures.scored import ANSWERS, PARTS, PROPERTIES, TEMPLATES, Scored, as_columns


@pytest.fixture
def world(tmp_path) -> Scored:
    return Scored(tmp_path)


def test_accuracy_by_part_and_template(world):
    world.predict("vb.iid.iid.1", ANSWERS | {"q1": "true", "q3": "pink"})
    assert world.accuracies("template") == {
        ("iid", "dev", ""): (2, 0.5),
        ("iid", "dev", "VERIFYATTR"): (2, 0.5),
        ("iid", "test", ""): (3, 2 / 3),
        ("iid", "test", "COUNT"): (1, 1),
        ("iid", "test", "QUERYATTR"): (1, 0),
        ("iid", "test", "VERIFYATTR"): (1, 1),
        ("some", "dev_comp", ""): (1, 1),
        ("some", "dev_comp", "VERIFYATTR"): (1, 1),
        ("some", "test_comp", ""): (2, 1),
        ("some", "test_comp", "COUNT"): (1, 1),
        ("some", "test_comp", "VERIFYATTR"): (1, 1),
    }


def test_accuracy_by_property(world):
    world.predict("vb.iid.iid.1", ANSWERS | {"q1": "true", "q3": "pink"})
    assert world.accuracies("property") == {
        ("iid", "dev", ""): (2, 0.5),
        ("iid", "dev", "HAS-ATTR"): (2, 0.5),
        ("iid", "test", ""): (3, 2 / 3),
        ("iid", "test", "ANS-ATTR"): (1, 0),
        ("iid", "test", "ANS-NUM"): (1, 1),
        ("iid", "test", "HAS-ATTR"): (1, 1),
        ("iid", "test", "HAS-COUNT"): (1, 1),
        ("some", "dev_comp", ""): (1, 1),
        ("some", "dev_comp", "HAS-ATTR"): (1, 1),
        ("some", "test_comp", ""): (2, 1),
        ("some", "test_comp", "ANS-NUM"): (1, 1),
        ("some", "test_comp", "HAS-ATTR"): (1, 1),
        ("some", "test_comp", "HAS-COUNT"): (1, 1),
    }


RIGHT = st.lists(st.tuples(*[st.booleans()] * len(TEMPLATES)), min_size=1, max_size=3)


@given(RIGHT, RIGHT)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_scores_are_what_a_loop_over_questions_counts(world, trained_on_all, trained_on_some):
    """Whatever the runs answer right: n and accuracy of each part, template and property."""
    world.predictions, right = [], {}
    runs = [(f"vb.iid.iid.{seed}", tuple(TEMPLATES), said) for seed, said in enumerate(trained_on_all)]
    runs += [(f"vb.some.comp.{seed}", ("q0", "q2", "q4"), said) for seed, said in enumerate(trained_on_some)]
    for run, asked, said in runs:
        right[run] = {q: good for q, good in zip(TEMPLATES, said, strict=True) if q in asked}
        world.predict(run, {q: ANSWERS[q] if good else "no answer" for q, good in right[run].items()})
    expected = defaultdict(list)
    for run, answers in right.items():
        for split in ("iid", "some") if ".iid." in run else ("some",):
            for part, asked in PARTS[split].items():
                for q in set(asked) & set(answers):
                    expected[run, split, part, "", ""].append(answers[q])
                    expected[run, split, part, TEMPLATES[q], ""].append(answers[q])
                    for name in PROPERTIES[TEMPLATES[q]]:
                        expected[run, split, part, "", name].append(answers[q])
    found = {
        tuple(r[c] for c in ("run", "split", "part", "template", "property")): r
        for r in map(as_columns, world.scores())
    }
    assert {key: (row["n"], row["accuracy"]) for key, row in found.items()} == {
        key: (len(answers), pytest.approx(np.mean(answers))) for key, answers in expected.items()
    }
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in found.values())


def test_questions_about_the_same_images_are_drawn_together(world):
    """q0 and q1 are about the same two images: one is right, one wrong, so that one draw of images is all there is."""
    world.predict("vb.iid.iid.1", ANSWERS | {"q1": "true"})
    rows = {(row["split"], row["part"]): row for row in world.scores(resample="images") if row["facet"] == "all"}
    assert {key: (row["n"], row["right"]) for key, row in rows.items()} == {
        (r["split"], r["part"]): (r["n"], r["right"]) for r in world.scores() if r["facet"] == "all"
    }
    assert (rows["iid", "dev"]["low"], rows["iid", "dev"]["high"]) == pytest.approx((0.0125, 0.9875))
    plain = next(row for row in world.scores() if (row["part"], row["facet"]) == ("dev", "all"))
    assert (plain["low"], plain["high"]) == (0, 1)


def test_a_run_trained_on_a_split_is_scored_on_that_split_alone(world):
    world.predict("vb.some.comp.7", ANSWERS)
    rows = world.scores()
    assert {row["split"] for row in rows} == {"some"}
    assert {(row["model"], row["variant"], row["seed"]) for row in rows} == {("vb", "comp", 7)}


def test_a_part_without_predictions_is_left_out(world):
    world.predict("vb.iid.iid.1", {"q0": "true", "q1": "true"})
    rows = world.scores()
    assert {(row["split"], row["part"]) for row in rows} == {("iid", "dev"), ("some", "dev_comp")}
    assert world.score()["dropped: run has no prediction of the part"] == 2


def test_a_part_with_some_predictions_is_refused(world):
    world.predict("vb.iid.iid.1", {"q0": "true", "q1": "true", "q2": "2"})
    with pytest.raises(InputError, match="answers only 1 of the 3 generated questions in part test of split iid"):
        world.scores()


def test_paraphrases_are_scored_beside_generated_texts_over_the_questions_that_have_one(world):
    world.paraphrase("q0", "q3", "q4")
    world.predict("vb.iid.iid.1", ANSWERS, {"q0": "true", "q3": "pink", "q4": "true"})
    rows = [row for row in world.scores() if row["facet"] == "all"]
    assert {(r["split"], r["part"], r["text"]): (r["n"], r["right"] / r["n"]) for r in rows} == {
        ("iid", "dev", "generated"): (2, 1),
        ("iid", "dev", "paraphrased"): (1, 1),
        ("iid", "test", "generated"): (3, 1),
        ("iid", "test", "paraphrased"): (2, 0.5),
        ("some", "dev_comp", "generated"): (1, 1),
        ("some", "dev_comp", "paraphrased"): (1, 1),
        ("some", "test_comp", "generated"): (2, 1),
        ("some", "test_comp", "paraphrased"): (1, 1),
    }


def test_some_paraphrases_of_a_part_are_refused_and_none_are_counted(world):
    world.paraphrase("q3", "q4")
    world.predict("vb.iid.iid.1", ANSWERS)
    assert world.score()["dropped: run has no prediction of the part"] == 2
    world.predict("vb.iid.iid.2", ANSWERS, {"q3": "red"})
    with pytest.raises(InputError, match="answers only 1 of the 2 paraphrased questions in part test of split iid"):
        world.score()


@pytest.mark.parametrize("answer", ["Red", " red", "RED "])
def test_case_and_blanks_do_not_matter(world, answer):
    world.predict("vb.iid.iid.1", ANSWERS | {"q3": answer})
    assert {row["right"] / row["n"] for row in world.scores()} == {1}


def test_two_answers_of_a_run_to_a_question_are_refused(world):
    world.predict("vb.iid.iid.1", ANSWERS)
    world.predictions = world.predictions * 2
    with pytest.raises(InputError, match="answers question q0 twice"):
        world.scores()


@pytest.mark.parametrize("name", ["vb", "vb.iid.iid", "vb.iid.iid.x", "vb..iid.1", "a.b.c.1.2"])
def test_a_name_that_is_no_runs_is_refused(name):
    with pytest.raises(InputError, match="is no name of a run"):
        Run.parse(name)


def test_mean_and_deviation_over_seeds():
    assert over_seeds([0.5]) == (0.5, None)
    assert over_seeds([0.4, 0.6]) == (pytest.approx(0.5), pytest.approx(0.2 / 2**0.5))


def test_a_score_tells_what_the_pretraining_asked_of_what_its_own_split_holds_out(world):
    told = {
        ("vb", "some", "comp"): 70,
        ("vb", "some", "m"): 8,
        ("vb", "other", "comp"): 6,
        ("lx", "some", "comp"): None,
    }
    rows = [dict(zip(SEEN_BEFORE.key, key, strict=True)) | {"property": "x", "asked": n} for key, n in told.items()]
    tables.write(world.root / "seen.parquet", SEEN_BEFORE, rows)
    asked = {"vb.some.comp.1": 70, "vb.some.m25.1": 8, "vb.some.size.1": None, "vb.iid.iid.1": None}
    asked |= {"vb.iid.comp.1": None, "lx.some.comp.1": None, "maj.iid.iid.1": None}
    for run in asked:
        world.predict(run, ANSWERS)
    seen = [world.root / "seen.parquet"]
    score(world.predictions, world.dataset, world.splits, world.out, world.contrasts, ScoreSettings(), seen=seen)
    found = tables.read(world.out, SCORES).to_pylist()
    assert {(row["run"], row["asked_before"]) for row in found} == set(asked.items())
    assert {row["asked_before"] for row in world.scores()} == {None}
