"""Programs and files of questions run from the command line, and questions written as the release has them."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compvqa.clevr.cli import add_to
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.language import to_functions
from compvqa.errors import InputError
from fixtures.clevr_scenes import chain, record

app = typer.Typer()
add_to(app)
app.callback()(lambda: None)
GRAY = to_functions(chain(("filter_color", "gray"), ("count",)))


def question(answer, program=GRAY):
    name = "CLEVR_train_000000.png"
    return {"question": "How many?", "image_filename": name, "answer": answer, "program": program}


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """A folder with a scene file; it is where commands run."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"info": {}, "scenes": [record(number) for number in range(3)]}))
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(app, ["clevr", *map(str, arguments)])
    if isinstance(done.exception, InputError):
        raise done.exception
    return done.exit_code, done.stdout.splitlines()


def grays(number):
    return sum(item["color"] == "gray" for item in record(number)["objects"])


def test_answers_that_differ_are_told_with_both(files):
    right, wrong = str(grays(0)), str(grays(0) + 1)
    Path("questions.json").write_text(json.dumps({"questions": [question(right), question(wrong)]}))
    code, lines = run("execute", "scenes.json", "--questions", "questions.json")
    assert code == 1
    assert lines == [
        "question 1 (from 0): differ: How many?",
        f"  the file's answer: {wrong}, the program's: {right}",
        "2 questions: 1 agree, 1 differ",
    ]
    Path("questions.json").write_text(json.dumps({"questions": [question(right)]}))
    assert run("execute", "scenes.json", "--questions", "questions.json") == (0, ["1 questions: 1 agree"])


def test_a_program_is_answered_in_each_scene_or_shown_in_one(files):
    code, lines = run("execute", "scenes.json", "--program", json.dumps(GRAY), "--most", 2)
    assert (code, lines) == (
        0,
        [*(f"CLEVR_train_00000{n}: {grays(n)}" for n in range(2)), "… and 1 more scenes (--most)"],
    )
    Path("program.json").write_text(json.dumps({"program": to_functions(chain(("unique",), ("query_size",)))}))
    assert run("execute", "scenes.json", "--program", "program.json")[1][0] == "CLEVR_train_000000: ill-posed"
    _, lines = run("execute", "scenes.json", "--program", "program.json", "--scene", "CLEVR_train_000001")
    assert len(lines) == 3 and "no answer: 4 objects, not one" in lines[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give either --questions or --program"),
        (["--program", "[]", "--questions", "q.json"], "give either --questions or --program"),
        (["--questions", "q.json", "--scene", "CLEVR_train_000000"], "--scene goes with --program"),
        (["--program", "["], "--program is not valid JSON"),
        (["--program", "[" * 100_000], "--program has brackets in brackets that are too many"),
        (["--program", '[{"function": "cuont", "inputs": []}]'], "is no program of CLEVR's .*cuont"),
        (
            ["--program", json.dumps(GRAY), "--scene", "train_9"],
            r"there is no scene train_9 among the 3 \(such as CLEVR",
        ),
    ],
)
def test_what_cannot_be_run_is_told(files, options, words):
    with pytest.raises(InputError, match=words):
        run("execute", "scenes.json", *options)


def test_questions_that_were_made_are_written_and_agree(folder, files, root, templates, words):
    scenes = files / "scenes.json"
    scenes.write_text(json.dumps({"info": {}, "scenes": [record(number) for number in range(10)]}))
    settings = GenerateSettings(per_scene=2)
    generate(folder, templates, words, settings, 1, "bed", Path("q.parquet"), Path("d.parquet"))
    options = ["--templates", root / "config/templates/clevr", "--words", root / "config/words/clevr.json"]
    assert run("write-questions", "q.parquet", "out.json", "--part", "train", *options) == (
        0,
        ["out.json: 20 questions"],
    )
    assert run("execute", scenes, "--questions", "out.json") == (0, ["20 questions: 20 agree"])
    written = json.loads(Path("out.json").read_text())["questions"]
    assert {type(item["question_family_index"]) for item in written} == {int}
