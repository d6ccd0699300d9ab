"""Anyone's predictions for a question file in the dialect of the release, scored in all facets without Snakemake."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from compvqa import tables
from compvqa.clevr.facets import FACETS
from compvqa.clevr.families import Families
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.official import read_questions, write_questions
from compvqa.clevr.tables import QUESTIONS
from compvqa.cli import scoring
from compvqa.splits.splitters import SPLITS, SplitSettings, split


@pytest.fixture
def official(folder, templates, words, tmp_path) -> Path:
    """A test-bed whose train and validation questions were read from files of the release's dialect."""
    families, made, files = Families(templates, words), tmp_path / "made.parquet", {}
    generate(folder, templates, words, GenerateSettings(per_scene=9), 1, "t", made, tmp_path / "dropped.parquet")
    for side in ("train", "val"):
        files[side] = tmp_path / f"CLEVR_{side}_questions.json"
        write_questions(made, files[side], side, families)
    bed = tmp_path / "official"
    read_questions(files, families, bed / "read", "official")
    (bed / "scenes").symlink_to(folder)
    rows = tables.read(bed / "read/questions.parquet").to_pylist()
    parts = {"train": "train", "val": "test"}
    tables.write(bed / "dataset/questions.parquet", QUESTIONS, [row | {"part": parts[row["part"]]} for row in rows])
    definition = {"name": "iid", "setup": "iid"}
    split(bed / "dataset/questions.parquet", definition, None, bed / "splits/iid.parquet", SplitSettings(), 1)
    return bed


def predictions(bed: Path, out: Path) -> dict[int, tuple[str, str]]:
    """Write the answers of a model that says yes to half of the validation questions and is right on others; gives by
    their index what is right and what it says."""
    told = json.loads((bed.parent / "CLEVR_val_questions.json").read_text())["questions"]
    said = {q["question_index"]: (q["answer"], "yes" if q["question_index"] % 2 else q["answer"]) for q in told}
    lines = [{"question_index": index, "answer": answer} for index, (_, answer) in said.items()]
    out.write_text("\n".join(map(json.dumps, lines)))
    return said


def scored(*arguments) -> tuple[str, Exception | None]:
    app = typer.Typer()
    scoring.add_to(app)
    done = CliRunner().invoke(app, [*map(str, arguments)])
    return done.output, done.exception


def test_a_file_by_the_release_s_indices_is_scored_in_all_facets(official, tmp_path):
    said, out = predictions(official, tmp_path / "mine.jsonl"), tmp_path / "out.csv"
    options = ["--split", official / "splits/iid.parquet", "--out", out]
    printed, error = scored(tmp_path / "mine.jsonl", *options, "--names", official / "read/origins.parquet")
    assert error is None and "type: count" in printed
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    told = {row["facet"] for row in rows}
    assert {"all", "template", "type", "effective_size"} <= told
    assert told <= {"all", "template", "property", *(facet.name for facet in FACETS)}
    found = {(row["facet"], row["value"]): (int(row["n"]), float(row["score"])) for row in rows}
    n = len(said)
    assert found["all", ""] == (n, pytest.approx(sum(a == b for a, b in said.values()) / n))
    types = defaultdict(list)
    for question in json.loads((tmp_path / "CLEVR_val_questions.json").read_text())["questions"]:
        right, answer = said[question["question_index"]]
        types[question["program"][-1]["function"]].append(right == answer)
    assert {value: found["type", value] for value in types} == {
        value: (len(of), pytest.approx(sum(of) / len(of))) for value, of in types.items()
    }
    record = json.loads(out.with_name("out.csv.prov.json").read_text())
    assert {"origins.parquet", "positions.parquet"} <= {Path(item["path"]).name for item in record["inputs"]}


def test_without_scenes_the_facets_that_look_at_none_are_told(official, tmp_path):
    predictions(official, tmp_path / "mine.jsonl")
    (official / "scenes").unlink()
    options = ["--split", official / "splits/iid.parquet", "--out", tmp_path / "out.parquet"]
    _, error = scored(tmp_path / "mine.jsonl", *options, "--names", official / "read/origins.parquet")
    told = set(pq.read_table(tmp_path / "out.parquet")["facet"].to_pylist())
    assert error is None and {"type", "relates"} <= told and not told & {"effective_size", "cogent"}


def test_an_index_of_two_files_names_no_question(official, tmp_path):
    predictions(official, tmp_path / "mine.jsonl")
    rows = tables.read(official / "splits/iid.parquet").to_pylist()
    together = [row | {"role": "test", "part": "test"} for row in rows]
    tables.write(tmp_path / "all.parquet", SPLITS, together)
    options = ["--split", tmp_path / "all.parquet", "--dataset", official / "dataset/questions.parquet"]
    _, error = scored(tmp_path / "mine.jsonl", *options, "--names", official / "read/origins.parquet")
    assert "several questions of" in str(error) and "have one question_index: name one part" in str(error)
