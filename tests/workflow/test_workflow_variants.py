"""What a model is trained on besides all of train: random images for distractors, and other numbers M."""

import json
import re

import pyarrow.parquet as pq
import pytest

from compvqa.covr.properties import Question, predicate

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once

EASY, FEW, NONE = (f"visualbert-tiny.{rest}.1" for rest in ("iid.easy", "has-quant-all.m3", "has-quant-all.m0"))


@pytest.fixture
def varied(edited):
    path = edited.folder / edited.config
    text = path.read_text()
    assert text.count("  splits: [has-quant-all]\n") == 1
    more = "  easy: true\n  curve: {splits: [has-quant-all], sizes: [0, 3]}\n"
    path.write_text(text.replace("  splits: [has-quant-all]\n", "  splits: [has-quant-all]\n" + more))
    return edited


def test_easy_distractors_and_the_curve_of_m_train_on_what_their_names_say(varied):
    results = varied.folder / "results/tiny"
    assert varied.plan() == {
        *(
            "questions",
            "gather_questions",
            "risk",
            "balance",
            "split_of_m",
            "train",
            "predict",
        ),  # of the new runs alone
        *("scores", "table", "figure", "index", "contents", "manifest"),
    }
    varied.run(*(f"results/tiny/runs/{run}/predictions.parquet" for run in (EASY, FEW, NONE)))

    def learnt(run):
        return json.loads((results / f"runs/{run}/model.safetensors.prov.json").read_text())["counts"]["in"]

    dataset = pq.read_table(results / "dataset/questions.parquet")
    train = [row for row in dataset.to_pylist() if row["part"] == "train"]
    has = predicate("HAS-QUANT-ALL")
    without = [row for row in train if not has(Question(*(row[c] for c in ("template", "answer", "program", "tree"))))]
    assert learnt(NONE) == len(without) < len(train)
    assert learnt(FEW) == len(without) + 3
    easy = pq.read_table(results / "easy/dataset/questions.parquet")
    assert learnt(EASY) == sum(part == "train" for part in easy["part"].to_pylist())
    assert set(easy["text"].to_pylist()) != set(dataset["text"].to_pylist())

    def answered(run):
        return set(pq.read_table(results / f"runs/{run}/predictions.parquet")["question_id"].to_pylist())

    asked = {row["question_id"] for row in dataset.to_pylist() if row["part"] in ("dev", "test")}
    assert answered(EASY) == asked  # the ordinary questions, not the easy ones
    assert answered(FEW) == answered(NONE) == answered("visualbert-tiny.has-quant-all.comp.1") < asked


def test_a_pretraining_that_asked_what_a_split_holds_out_is_refused_before_a_run_on_it_is_trained(edited):
    path = edited.folder / edited.config
    text = path.read_text()
    assert text.count("  splits: [has-quant-all]\n") == 1
    more = "  splits: [has-quant-all, ans-num]\n  seen_before: refuse\nsplits:\n"
    more += "  names: [iid, has-quant-all, tpl-verifyattr, ans-num]\n"
    path.write_text(text.replace("  splits: [has-quant-all]\n", more))
    run = "results/tiny/runs/visualbert-tiny.ans-num.comp.1/predictions.parquet"
    assert edited.plan(run) == {"split", "seen_before", "train", "predict"}
    done = edited.run(run, check=False)
    said = "split ans-num holds out ANS-NUM, and [0-9,]+ examples of the pretraining of visualbert-tiny have it: change"
    assert done.returncode and re.search(said, done.stdout)
    assert not (edited.folder / run).parent.exists()
