"""Anyone's predictions: the scores of a file are those of a run with the same answers."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from compvqa.cli import scoring
from compvqa.errors import InputError
from compvqa.evaluation.submitted import score_file
from fixtures.scored import ANSWERS, Scored

KEY = ("split", "part", "text", "facet", "value")
GOOD, BAD = {"q2": "2", "q4": "true"}, {"q2": "0", "q4": "false"}


@pytest.fixture
def world(tmp_path) -> Scored:
    return Scored(tmp_path)


def written(path: Path, answers: dict, ids: str = "question_id") -> Path:
    """A file of answers, in the format that its name tells."""
    rows = [{ids: question_id, "answer": answer} for question_id, answer in answers.items()]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, (ids, "answer"))
            writer.writeheader()
            writer.writerows(rows)
    return path


def run(*arguments: object) -> tuple[str, Exception | None]:
    """What the command prints, and what it refuses."""
    app = typer.Typer()
    scoring.add_to(app)
    done = CliRunner().invoke(app, [*map(str, arguments)])
    return done.output, done.exception


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_scores_as_a_run_with_the_same_answers(world, tmp_path, ending):
    said = ANSWERS | {"q1": "true", "q3": "pink"}
    world.predict("vb.iid.iid.1", said)
    run_rows = {tuple(row[c] for c in KEY): row for row in world.scores() if row["split"] == "iid"}
    file = written(tmp_path / f"mine.{ending}", said)
    rows, counts = score_file(file, world.splits[0], world.dataset)
    assert counts == {"in": 6, "scored": 5, "not asked": 1}
    found = {tuple(row[c] for c in KEY): row for row in rows}
    assert found.keys() == run_rows.keys()
    for key, row in found.items():
        same = run_rows[key]
        expected = [same["n"], same["right"] / same["n"], same["low"], same["high"]]
        assert [row[c] for c in ("n", "score", "low", "high")] == expected


def test_parts_that_are_not_answered_are_left_out(world, tmp_path):
    file = written(tmp_path / "mine.csv", {"q0": "TRUE", "q1": "true"})
    rows, _ = score_file(file, world.splits[0], world.dataset)
    assert {row["part"] for row in rows} == {"dev"}
    assert next(row for row in rows if row["facet"] == "all")["score"] == 0.5


def test_paraphrases_are_scored_over_those_that_have_one(world, tmp_path):
    world.paraphrase("q3", "q4")
    file = written(tmp_path / "mine.csv", {"q3": "red", "q4": "false"})
    rows, _ = score_file(file, world.splits[0], world.dataset, paraphrases=world.paraphrases)
    whole = next(row for row in rows if row["facet"] == "all")
    assert (whole["text"], whole["part"], whole["n"], whole["score"]) == ("paraphrased", "test", 2, 0.5)


def test_the_generalization_score_compares_three_files(world, tmp_path):
    files = [
        written(tmp_path / f"{name}.csv", answers)
        for name, answers in (("mine", GOOD | {"q4": "false"}), ("text", BAD), ("size", GOOD))
    ]
    rows, _ = score_file(files[0], world.splits[1], world.dataset, baselines=(files[1], files[2]))
    (row,) = [row for row in rows if row["measure"] == "generalization"]
    assert (row["part"], row["n"], row["score"]) == ("test_comp", 2, 0.5)
    assert row["low"] <= 0.5 <= row["high"]


@pytest.mark.parametrize(
    ("answers", "parts", "words"),
    [
        ({"q2": "2"}, (), r"lacks 2 of the 3 questions in part test of .*iid.parquet \(the first is q3\)"),
        (ANSWERS | {"q9": "true"}, (), r"answers 1 question that .* does not hold \(the first is 'q9'\)"),
        ({"q5": "red"}, (), "answers no question of .*iid.parquet, parts dev, test"),
        ({"q0": "true", "q1": "true"}, ("test",), "lacks 3 of the 3 questions in part test"),
        (ANSWERS, ("train",), "no questions in a part train: choose of dev, test"),
        (ANSWERS | {"q2": " "}, (), "line 4: question q2 has no answer"),
    ],
)
def test_what_is_missing_or_unknown_is_refused(world, tmp_path, answers, parts, words):
    file = written(tmp_path / "mine.csv", answers)
    with pytest.raises(InputError, match=words):
        score_file(file, world.splits[0], world.dataset, parts)


def test_a_file_of_which_no_answer_is_one_of_the_datasets_is_told(world, tmp_path, capsys):
    score_file(written(tmp_path / "mine.csv", {"q0": "Yes", "q1": "No"}), world.splits[0], world.dataset)
    told = capsys.readouterr().err
    assert told.startswith(f"No answer in {tmp_path / 'mine.csv'} ('No', 'Yes' …) is one of {world.dataset} ('2', ")
    assert told.endswith("so that they count as wrong.\n") and told.count("\n") == 1


def test_answers_that_are_none_of_the_datasets_are_told_where_they_are_many_but_for_their_case(world, tmp_path, capsys):
    score_file(written(tmp_path / "mine.csv", {"q0": "TRUE ", "q1": "False"}), world.splits[0], world.dataset)
    assert capsys.readouterr().err == ""
    score_file(written(tmp_path / "mine.csv", {"q0": "yes", "q1": "false"}), world.splits[0], world.dataset)
    assert capsys.readouterr().err.startswith(f"1 of 2 answers in {tmp_path / 'mine.csv'} ('yes' …) are none of ")


def test_an_answer_given_twice_and_a_missing_column_are_refused(world, tmp_path):
    file = written(tmp_path / "mine.csv", ANSWERS)
    file.write_text(file.read_text() + "q0,false\n")
    with pytest.raises(InputError, match="line 8: question q0 is answered already"):
        score_file(file, world.splits[0], world.dataset)
    with pytest.raises(InputError, match="lacks the column question_id"):
        score_file(written(tmp_path / "mine.csv", ANSWERS, "qid"), world.splits[0], world.dataset)


def test_a_table_of_names_without_them_is_refused(world, tmp_path):
    file = written(tmp_path / "mine.csv", ANSWERS)
    with pytest.raises(InputError, match="lacks the column question_index: give the origins.parquet"):
        score_file(file, world.splits[0], world.dataset, names=world.dataset)


def test_the_command_prints_a_table_and_writes_it(world, tmp_path):
    file = written(tmp_path / "mine.csv", ANSWERS | {"q1": "true"})
    out = tmp_path / "out.csv"
    printed, error = run(file, "--split", "iid", "--dataset", world.dataset, "--out", out)
    assert error is None
    lines = [" ".join(line.split()) for line in printed.replace("│", " ").splitlines()]
    assert "all 2 50.0 0.0 – 100.0" in lines and "COUNT 1 100.0 2.5 – 100.0" in lines
    with out.open(newline="") as made:
        lines = list(csv.DictReader(made))
    rows = {(r["part"], r["facet"], r["value"]): float(r["score"]) for r in lines}
    assert rows["dev", "all", ""] == 0.5 and rows["test", "template", "QUERYATTR"] == 1
    record = json.loads(out.with_name("out.csv.prov.json").read_text())
    assert record["stage"] == "score" and {r["recipe"] for r in lines} == {record["recipe"]}
    assert run(file, "--split", world.splits[0])[0] == printed  # a path needs no dataset
    run(file, "--split", world.splits[0], "--out", tmp_path / "out.parquet")
    assert len(pq.read_table(tmp_path / "out.parquet")) == len(rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--split", "iid"], "is a name: give --dataset"),
        (["--split", "lost", "--dataset", "DATASET"], r"has no split lost \(there are iid, some\)"),
        (["--split", "iid", "--dataset", "DATASET", "--text", "FILE"], "give both --text and --size"),
        (["--split", "iid", "--dataset", "DATASET", "--paraphrased"], "has no paraphrases: leave --paraphrased out"),
        (["--split", "iid", "--dataset", "DATASET", "--out", "scores.txt"], "end it in .csv or .parquet"),
        (
            ["--split", "iid", "--dataset", "DATASET", "--text", "FILE", "--size", "FILE"],
            "all have what is held out",
        ),
        (["--split", "DATASET"], "is no splits table|does not exist"),
    ],
)
def test_wrong_options_are_one_sentence(world, tmp_path, options, words):
    file = written(tmp_path / "mine.csv", ANSWERS)
    named = {"DATASET": world.dataset, "FILE": file}
    _, error = run(file, *(named.get(option, option) for option in options))
    assert isinstance(error, InputError)
    with pytest.raises(InputError, match=words):
        raise error
