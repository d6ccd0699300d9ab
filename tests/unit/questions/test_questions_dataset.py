"""A dataset says what language its programs are in; shared stages refuse programs of another."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import compvqa
from compvqa import tables
from compvqa.covr.language import LANGUAGE as COVR
from compvqa.covr.statistics import statistics
from compvqa.errors import InputError
from compvqa.evaluation.answers import grade, open_predictions
from compvqa.evaluation.properties import properties_of
from compvqa.models.baseline import predict
from compvqa.paper import figures
from compvqa.paper import tables as pages
from compvqa.paper.explorer.questions import ExplorerSettings, make
from compvqa.programs.rows import Row, from_json, to_json
from compvqa.publish.parquet import publish_questions
from compvqa.questions.dataset import CORE, dataset_schema, language_of, require
from compvqa.scenes.tables import SCENES
from compvqa.splits.splitters import SPLITS, SplitSettings, split
from compvqa.training.data import read_questions

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = {
    "covr": [Row("Find", ("dog",)), Row("All", ((Row("Scene"), Row("Exists", (), (0,))),), (0,))],
    "toy": [Row("balls"), Row("of", ("red",), (0,)), Row("any", (), (1,))],
}
PARTS = ("train", "dev", "test")
PAPER = ROOT / "config/paper"


@pytest.fixture(autouse=True)
def with_toys(monkeypatch):
    monkeypatch.setattr(compvqa, "__path__", [*compvqa.__path__, str(ROOT / "tests/fixtures/toy/plugins")])


def dataset(path: Path, language: str, programs: str) -> Path:
    """Six questions in the schema of ``language`` with the programs of a language."""
    row = {"testbed": "t", "split": "val", "template": "T", "properties": None}
    row |= {"answer": "true", "program": to_json(PROGRAMS[programs]), "tree": '["dog",null,[]]'}
    rows = [
        row | {"question_id": f"q{n}", "part": PARTS[n % 3], "text": f"is {n} red", "scene_ids": [f"s:{n}"]}
        for n in range(6)
    ]
    more = [("tree", pa.string())] * (language == "covr")
    tables.write(path / "questions.parquet", dataset_schema(language, pa.schema([*CORE, *more])), rows)
    scenes = [dict.fromkeys(SCENES.fields.names) | {"scene_id": f"s:{n}", "image": f"s:{n}"} for n in range(6)]
    tables.write(path / "scenes.parquet", SCENES, scenes)
    parts = [{"split_name": "iid", "part": row["part"], "question_id": row["question_id"]} for row in rows]
    filled = dict.fromkeys(SPLITS.fields.names)
    tables.write(path / "split.parquet", SPLITS, [filled | part for part in parts])
    return path / "questions.parquet"


def score(asked: Path) -> None:
    with duckdb.connect() as db:
        grade(db, open_predictions([]), asked, tables.read(asked.with_name("split.parquet")))


def page(maker, name):
    return lambda asked, out: maker.make(next(PAPER.rglob(name)), {"dataset": [asked]}, out)


STAGES = {
    "split": lambda asked, out: split(asked, {"name": "iid", "setup": "iid"}, None, out, SplitSettings(), 1),
    "baseline": lambda asked, out: predict("maj", "maj.iid.iid.1", asked, None, ["train"], ["test"], out, 1),
    "train": lambda asked, out: read_questions(asked, asked.with_name("scenes.parquet"), None, ["train"]),
    "scores": lambda asked, out: score(asked),
    "properties": lambda asked, out: properties_of(asked, tables.read(asked)["question_id"].combine_chunks()),
    "statistics": lambda asked, out: statistics(asked, out),
    "publish": lambda asked, out: publish_questions(asked, asked.with_name("scenes.parquet"), out),
    "samples": lambda asked, out: make(asked, asked.parent, {}, out, ExplorerSettings(), 1),
    "table": page(pages, "table3.yaml"),
    "figure": page(figures, "figure4.yaml"),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("language", "programs", "operator"), [("covr", "toy", "balls"), ("toy", "covr", "All")])
def test_programs_of_another_language_are_refused(stage, language, programs, operator, tmp_path):
    asked = dataset(tmp_path, language, programs)
    with pytest.raises(InputError, match=rf"q0 has the operator '({operator}|Find)', which the language {language}"):
        STAGES[stage](asked, tmp_path / "out.parquet")


@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("stage", ["split", "baseline", "train", "scores", "properties", "publish"])
def test_those_of_its_own_are_taken(stage, language, tmp_path):
    asked = dataset(tmp_path, language, language)
    assert language_of(asked) == language
    STAGES[stage](asked, tmp_path / "out.parquet")


def test_a_split_of_another_language_holds_out_what_its_properties_say(tmp_path):
    asked = dataset(tmp_path, "toy", "toy")
    definition = {"name": "red", "setup": "zero-shot", "property": "COLOUR-red"}
    counts = split(asked, definition, None, tmp_path / "out.parquet", SplitSettings(), 1)
    assert counts["with the property: test"] == 2 and counts["filtered from train"] == 2
    with pytest.raises(InputError, match="no property 'HAS-COUNT': use one of COLOUR"):
        split(asked, definition | {"property": "HAS-COUNT"}, None, tmp_path / "out.parquet", SplitSettings(), 1)


def test_a_stage_of_one_language_refuses_a_dataset_of_another(tmp_path):
    with pytest.raises(InputError, match="has programs in the language toy, not covr: give another dataset"):
        require("covr", dataset(tmp_path, "toy", "toy"))


def test_a_name_before_a_sub_program_is_no_operator(tmp_path, monkeypatch):
    program = to_json([Row("Find", ("dog", (Row("Scene"),)))])
    assert from_json(program)[0].operation == "Find" and '["dog",[' in program
    monkeypatch.setitem(PROGRAMS, "covr", from_json(program))
    assert language_of(dataset(tmp_path, "covr", "covr")) == "covr"


def test_a_table_that_names_no_language_or_an_unknown_one_is_refused(tmp_path):
    asked = dataset(tmp_path, "covr", "covr")
    rows = tables.read(asked)
    unknown = "no language 'klingon': write plugins/klingon/"
    for language, message in (("", "does not say what language"), ("klingon", unknown)):
        tables.write(asked, dataset_schema(language, rows.schema), rows.append_column("x", pc.equal(rows["text"], "")))
        with pytest.raises(InputError, match=message):
            language_of(asked)


def test_every_operator_of_a_language_is_its_own():
    assert COVR.operators.keys() >= {row.operation for row in PROGRAMS["covr"]}
