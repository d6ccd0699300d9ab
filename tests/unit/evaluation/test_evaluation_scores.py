"""Accuracy and generalization scores, on the paper's numbers and on small made-up runs."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.balance import DATASET
from compvqa.errors import InputError
from compvqa.evaluation.answers import Run
from compvqa.evaluation.scores import (
    GENERALIZATION,
    SCORES,
    ScoreSettings,
    bootstrap,
    generalization_score,
    over_seeds,
    score,
)
from compvqa.models.baseline import GENERATED, PARAPHRASED, PREDICTIONS
from compvqa.questions.tables import PARAPHRASES
from compvqa.splits.splitters import SPLITS

ANSWERS = {"q0": "true", "q1": "false", "q2": "2", "q3": "red", "q4": "true", "q5": "blue"}
TEMPLATES = {"q0": "VERIFYATTR", "q1": "VERIFYATTR", "q2": "COUNT", "q3": "QUERYATTR", "q4": "VERIFYATTR"}
PARTS = {"iid": {"train": ["q5"], "dev": ["q0", "q1"], "test": ["q2", "q3", "q4"]}}
PARTS["some"] = {"train": ["q5"], "dev_comp": ["q0"], "test_comp": ["q2", "q4"]}


@pytest.fixture
def world(tmp_path):
    """A data set with two splits, and a function that writes a run's predictions."""

    class World:
        dataset = tmp_path / "dataset.parquet"
        splits = (tmp_path / "iid.parquet", tmp_path / "some.parquet")
        out = tmp_path / "out.parquet"
        generalization = tmp_path / "generalization.parquet"
        paraphrases = None
        predictions = []

        def predict(self, run, answers, paraphrased=()):
            path = tmp_path / f"{run}.parquet"
            said = [(GENERATED, *pair) for pair in answers.items()]
            said += [(PARAPHRASED, *pair) for pair in dict(paraphrased).items()]
            rows = [{"run": run, "text": text, "question_id": q, "answer": a, "p": 1.0} for text, q, a in said]
            tables.write(path, PREDICTIONS, rows)
            self.predictions = [*self.predictions, path]

        def paraphrase(self, *question_ids):
            self.paraphrases = tmp_path / "paraphrases.parquet"
            rows = [{"question_id": question_id, "text": "in other words"} for question_id in question_ids]
            tables.write(self.paraphrases, PARAPHRASES, rows)

        def score(self):
            files = (self.predictions, self.dataset, self.splits, self.out, self.generalization)
            return score(*files, paraphrases=self.paraphrases)

        def scores(self):
            self.score()
            return tables.read(self.out, SCORES).to_pylist()

    rows = []
    for question_id, answer in ANSWERS.items():
        row = dict.fromkeys(("testbed", "split", "text", "annotator_text", "start_scene", "tree", "program"), "")
        row |= dict.fromkeys(("seed", "subgraph_key", "size", "depth"), 0) | {"scene_ids": [], "part": ""}
        template = TEMPLATES.get(question_id, "QUERYATTR")
        rows.append(row | {"question_id": question_id, "answer": answer, "template": template})
    tables.write(World.dataset, DATASET, rows)
    for path, (name, parts) in zip(World.splits, PARTS.items(), strict=True):
        named = [{"split_name": name, "part": part, "question_id": q} for part, ids in parts.items() for q in ids]
        tables.write(path, SPLITS, named)
    return World()


def test_accuracy_by_part_and_template(world):
    world.predict("vb.iid.iid.1", ANSWERS | {"q1": "true", "q3": "pink"})
    rows = {(r["split"], r["part"], r["template"]): (r["n"], r["accuracy"]) for r in world.scores()}
    assert rows == {
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
    rows = [row for row in world.scores() if not row["template"]]
    assert {(r["split"], r["part"], r["text"]): (r["n"], r["accuracy"]) for r in rows} == {
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
    assert {row["accuracy"] for row in world.scores()} == {1}


def test_two_answers_of_a_run_to_a_question_are_refused(world):
    world.predict("vb.iid.iid.1", ANSWERS)
    world.predictions = world.predictions * 2
    with pytest.raises(InputError, match="answers question q0 twice"):
        world.scores()


@pytest.mark.parametrize("name", ["vb", "vb.iid.iid", "vb.iid.iid.x", "vb..iid.1", "a.b.c.1.2"])
def test_a_name_that_is_no_runs_is_refused(name):
    with pytest.raises(InputError, match="is no name of a run"):
        Run.parse(name)


def test_the_generalization_score_of_runs(world):
    good, bad = {"q2": "2", "q4": "true"}, {"q2": "0", "q4": "false"}
    world.predict("vb.iid.text.1", ANSWERS | bad)
    world.predict("vb.some.comp.1", {"q0": "true"} | good)
    world.predict("vb.some.comp.2", {"q0": "true"} | bad)
    world.predict("vb.some.size.1", {"q0": "true"} | good)
    world.score()
    rows = {row["part"]: row for row in tables.read(world.generalization, GENERALIZATION).to_pylist()}
    test, dev = rows["test_comp"], rows["dev_comp"]
    assert (test["text_only"], test["comp"], test["size"], test["score"]) == (0, 0.5, 1, 0.5)
    assert (test["n"], test["seeds"]) == (2, 2)
    assert test["low"] <= 0.5 <= test["high"]
    assert dev["text_only"] == dev["size"] == 1 and dev["score"] is None and dev["low"] is None


def test_the_papers_generalization_scores(shared):
    """Tables 7 and 8 on the arXiv page: split, filtered, VBText, VB, Gen. Score, VBiid-size, VBiid."""
    text = (shared / "papers" / "covr-arxiv-html.txt").read_text(encoding="utf-8")
    pattern = r"^(?:Has|Ans|TPL)-.* [\d.]+k ([\d.]+) ([\d.]+) (?:\[\S+\])?([\d.]+) ([\d.]+) [\d.]+$"
    rows = [tuple(map(float, found)) for found in re.findall(pattern, text.split("Table 9")[0], re.MULTILINE)]
    assert len(rows) >= 19
    for vb_text, vb, printed, size in rows[:19]:
        assert generalization_score(vb_text, vb, size) == pytest.approx(printed, abs=0.011)


@pytest.mark.parametrize(("text", "comp", "size"), [(0.5, 0.9, 0.5), (0.6, 0.9, 0.5)])
def test_without_a_gap_the_score_is_undefined(text, comp, size):
    assert generalization_score(text, comp, size) is None


def test_mean_and_deviation_over_seeds():
    assert over_seeds([0.5]) == (0.5, None)
    assert over_seeds([0.4, 0.6]) == (pytest.approx(0.5), pytest.approx(0.2 / 2**0.5))


@given(st.lists(st.booleans(), min_size=1, max_size=200), st.integers(0, 9))
def test_intervals_hold_the_mean_and_are_keyed(correct, key):
    low, high = bootstrap(correct, ScoreSettings(resamples=500), 0, "run", key)
    assert 0 <= low <= np.mean(correct) <= high <= 1
    assert (low, high) == bootstrap(correct[::-1], ScoreSettings(resamples=500), 0, "run", key)


def test_intervals_are_as_wide_as_theory_says():
    correct = np.arange(1000) < 700
    low, high = bootstrap(correct, ScoreSettings(resamples=20_000), 0)
    half = 1.96 * (0.7 * 0.3 / 1000) ** 0.5
    assert (low, high) == (pytest.approx(0.7 - half, abs=0.002), pytest.approx(0.7 + half, abs=0.002))
