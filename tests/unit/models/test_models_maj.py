"""The baselines that look at no image."""

import sys
from collections import Counter
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.errors import InputError
from compvqa.models import baseline, executor, maj, majtempl, qtype
from compvqa.programs.rows import Row, to_json
from compvqa.questions.tables import PARAPHRASES
from compvqa.scenes.graph import Object, SceneGraph
from compvqa.splits.splitters import SPLITS

COUNT = to_json([Row("Find", ("cat",)), Row("Count", (), (0,))])
EXISTS = to_json([Row("Find", ("cat",)), Row("Exists", (), (0,))])
CHOOSE = to_json([Row("Find", ("cat",)), Row("Unique", (), (0,)), Row("ChooseAttribute", ("red", "blue"), (1,))])


def questions(*rows: tuple[str, str, str]) -> pa.Table:
    """Questions of (template, program, answer)."""
    named = [dict(zip(("template", "program", "answer"), row, strict=True)) for row in rows]
    return pa.Table.from_pylist([{"question_id": f"{n:04d}", **row} for n, row in enumerate(named)])


TRAIN = questions(
    *[("VERIFYCOUNT", COUNT, "true")] * 4, *[("COUNT", COUNT, "2")] * 3, *[("COUNT", COUNT, "1")] * 2
)  # fmt: skip


def test_maj_gives_the_most_frequent_answer_everywhere():
    test = questions(("COUNT", COUNT, "2"), ("CHOOSEATTR", CHOOSE, "red"))
    assert maj.predict(TRAIN, test, 0) == (["true", "true"], [4 / 9, 4 / 9])


def test_of_equal_answers_the_first_by_alphabet():
    assert maj.majority(["red", "blue", "red", "blue"]) == ("blue", 0.5)


def test_majtempl_knows_the_template():
    test = questions(("COUNT", COUNT, "?"), ("VERIFYCOUNT", COUNT, "?"), ("QUERYOBJECT", COUNT, "?"))
    answers, p = majtempl.predict(TRAIN, test, 0)
    assert answers == ["2", "true", "true"]  # none of QUERYOBJECT in train: the majority of all
    assert p == [3 / 5, 1, 4 / 9]


def test_majtempl_picks_one_of_two():
    test = questions(*[("CHOOSEATTR", CHOOSE, "red")] * 400)
    answers, p = majtempl.predict(TRAIN, test, 0)
    assert set(Counter(answers)) == {"red", "blue"} and 150 < Counter(answers)["red"] < 250
    assert set(p) == {0.5}
    backwards, _ = majtempl.predict(TRAIN, test.take(list(range(399, -1, -1))), 0)
    assert backwards == answers[::-1]
    assert majtempl.predict(TRAIN, test, 1)[0] != answers


@given(
    st.lists(st.tuples(st.sampled_from([COUNT, CHOOSE, EXISTS]), st.sampled_from("abc")), min_size=1, max_size=20),
    st.lists(st.sampled_from([COUNT, CHOOSE, EXISTS, None]), max_size=5),
)
def test_qtype_gives_the_most_frequent_answer_of_questions_that_end_in_the_same_function(learnt, asked):
    train = questions(*(("", program, answer) for program, answer in learnt))
    answers, p = qtype.predict(train, questions(*(("", program, "?") for program in asked), ("", COUNT, "?")), 0)
    for program, answer, share in zip([*asked, COUNT], answers, p, strict=True):
        same = [told for other, told in learnt if other == program] or [told for _, told in learnt]
        assert share == same.count(answer) / len(same) == max(map(same.count, same)) / len(same)


@given(st.lists(st.sampled_from(["cat", "dog"]), max_size=4))
def test_the_executor_gives_what_programs_give_in_their_scenes(names):
    """In either language; what has no answer, or no program, is answered by nothing that a question has."""
    objects = {str(n): Object(str(n), name) for n, name in enumerate(names)}
    scenes = SimpleNamespace(graphs=lambda ids: iter([SceneGraph(ids[0], objects, ())]))
    unique = to_json([Row("Find", ("cat",)), Row("Unique", (), (0,)), Row("QueryName", (), (1,))])
    test = questions(("", COUNT, "?"), ("", unique, "?"), ("", None, "?")).append_column("scene_ids", [[["s"]] * 3])
    answers, p = executor.predict(test.slice(0, 0), test, 0, "covr", scenes)
    cats = names.count("cat")
    assert answers == [str(cats), "cat" if cats == 1 else executor.NOTHING, executor.NOTHING] and p == [1.0] * 3


def test_the_executor_must_be_given_scenes(dataset, tmp_path):
    with pytest.raises(InputError, match="the baseline executor looks at scenes: give the folder"):
        baseline.predict("executor", "e.iid.iid.0", dataset, None, ["train"], ["dev"], tmp_path / "p.parquet", 0)


@pytest.fixture
def dataset(tmp_path):
    rows = []
    for number, (part, answer) in enumerate([("train", "2"), ("train", "2"), ("train", "1"), ("dev", "1")]):
        row = dict.fromkeys(("testbed", "split", "text", "annotator_text", "start_scene", "tree"), "")
        row |= dict.fromkeys(("seed", "subgraph_key", "size", "depth"), 0) | {"scene_ids": []}
        rows.append(
            row
            | {
                "question_id": f"{number:04d}",
                "part": part,
                "template": "COUNT",
                "program": COUNT,
                "answer": answer,
            }
        )
    tables.write(tmp_path / "dataset.parquet", DATASET, rows)
    return tmp_path / "dataset.parquet"


@pytest.mark.parametrize("model", ["maj", "majtempl", "qtype"])
def test_predictions_are_a_table(dataset, tmp_path, model):
    out = tmp_path / "predictions.parquet"
    counts = baseline.predict(model, f"{model}.iid.iid.0", dataset, None, ["train"], ["dev", "test"], out, 0)
    assert counts == {"in": 3, "out": 1, "generated": 1, "generated: answer not in train": 0}
    (row,) = tables.read(out, baseline.PREDICTIONS).to_pylist()
    assert row == {
        "run": f"{model}.iid.iid.0",
        "question_id": "0003",
        "text": "generated",
        "answer": "2",
        "p": pytest.approx(2 / 3),
    }


def test_parts_may_come_from_a_split(dataset, tmp_path):
    rows = [("train", "0002"), ("dev_comp", "0003")]
    named = [{"split_name": "s", "part": part, "question_id": question} for part, question in rows]
    tables.write(tmp_path / "s.parquet", SPLITS, named)
    out = tmp_path / "predictions.parquet"
    baseline.predict("maj", "maj.s.comp.0", dataset, tmp_path / "s.parquet", ["train"], ["dev_comp"], out, 0)
    assert tables.read(out)["answer"].to_pylist() == ["1"]


def test_nothing_to_learn_from_gives_no_prediction(dataset, tmp_path):
    out = tmp_path / "predictions.parquet"
    counts = baseline.predict("maj", "maj.s.comp.0", dataset, None, ["test"], ["dev"], out, 0)
    assert (counts["in"], counts["out"]) == (0, 0)


@pytest.mark.parametrize("model", ["maj", "majtempl", "echo"])
def test_paraphrases_are_answered_beside_the_generated_texts(dataset, tmp_path, model, monkeypatch):
    """A model that reads texts gets the paraphrase; those that do not say the same of both."""
    echo = SimpleNamespace(COLUMNS=("text",), predict=lambda train, test, seed: (test["text"], [1.0] * len(test)))
    monkeypatch.setitem(sys.modules, "compvqa.models.echo", echo)
    said = [{"question_id": number, "text": f"paraphrase {number}"} for number in ("0000", "0003", "9999")]
    tables.write(tmp_path / "paraphrases.parquet", PARAPHRASES, said)
    out = tmp_path / "predictions.parquet"
    parts = [["train"], ["dev", "train"]]
    counts = baseline.predict(model, "m.iid.iid.0", dataset, None, *parts, out, 0, tmp_path / "paraphrases.parquet")
    assert (counts["out"], counts["generated"], counts["paraphrased"]) == (6, 4, 2)
    rows = {(row["question_id"], row["text"]): row["answer"] for row in tables.read(out).to_pylist()}
    assert {question_id for question_id, text in rows if text == "paraphrased"} == {"0000", "0003"}
    expected = "paraphrase 0003" if model == "echo" else rows["0003", "generated"]
    assert rows["0003", "paraphrased"] == expected


def test_answers_that_no_train_question_has_are_counted(dataset, tmp_path):
    rows = tables.read(dataset, DATASET).to_pylist()
    rows[3]["answer"] = "7"
    tables.write(dataset, DATASET, rows)
    counts = baseline.predict("maj", "m.iid.iid.0", dataset, None, ["train"], ["dev"], tmp_path / "p.parquet", 0)
    assert counts["generated: answer not in train"] == 1
