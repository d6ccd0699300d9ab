"""A file of paraphrases in the config: models answer them too, and nothing is trained again for it."""

import csv
from collections import Counter

import pytest

from compvqa import tables
from compvqa.evaluation.scores import SCORES
from compvqa.models.baseline import PREDICTIONS

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once
SCORED = "results/tiny/evaluation/scores.parquet"


def generated(project) -> dict[str, list[dict]]:
    """The answers to generated texts, by run."""
    found = sorted((project.folder / "results/tiny").glob("*/*.iid.*/predictions.parquet"))
    rows = {path.parent.name: tables.read(path, PREDICTIONS).to_pylist() for path in found}
    return {run: [row for row in of if row["text"] == "generated"] for run, of in rows.items()}


def test_paraphrases_are_answered_and_scored_without_training_again(edited):
    dataset = tables.read(edited.folder / "results/tiny/dataset/questions.parquet").to_pylist()
    said = [row for row in dataset if row["part"] != "train"][::2]
    with (edited.folder / "own.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("question_id", "text"))
        writer.writerows((row["question_id"], f"Tell me: {row['text']}") for row in said)
    path = edited.folder / edited.config
    path.write_text(f"{path.read_text()}\nparaphrases: own.csv\n")
    before = generated(edited)
    assert before and edited.plan(SCORED) == {"read_paraphrases", "predict", "baseline", "scores"}
    edited.run(SCORED)
    assert generated(edited) == before
    scores = [row for row in tables.read(edited.folder / SCORED, SCORES).to_pylist() if row["text"] == "paraphrased"]
    parts = Counter(row["part"] for row in said)
    whole = [row for row in scores if row["split"] == "iid" and row["facet"] == "all"]
    assert {(row["model"], row["part"], row["n"]) for row in whole} == {
        (model, part, n) for model in ("maj", "majtempl", "visualbert-tiny") for part, n in parts.items()
    }
