"""The terminal labeller: keys, undo, and going on after a stop."""

import csv
import os
import signal
import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

from compvqa.cli.options import add
from compvqa.covr.cli import words
from compvqa.errors import InputError

app = typer.Typer()
add(app, words.annotate, words.word_scores)
PAIRS = [("noun", "cat", "dog"), ("attribute", "red", "old"), ("relation", "riding", "near"), ("noun", "cup", "mug")]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("kind", "x", "y", "label", "annotator", "contexts"))
        out.writerows([*pair, "", "", "subject of on"] for pair in PAIRS)
    return path


def label(path, keys, annotator="Ann"):
    done = CliRunner().invoke(app, ["annotate", "words", str(path), "--annotator", annotator], input="\n".join(keys))
    return done, [(row["label"], row["annotator"]) for row in csv.DictReader(path.open())]


def test_each_key_does_what_it_says(pairs):
    done, found = label(pairs, ["e", "o", "x", "s", "u", "e", "e", "o"])
    assert done.exit_code == 0
    # the undone answer is that of the second pair; it, the third and the fourth are then asked again
    assert found == [("exclusive", "Ann"), ("exclusive", "Ann"), ("exclusive", "Ann"), ("overlapping", "Ann")]
    assert "The keys are" in done.output
    assert "1 of 4   noun: cat – dog" in done.output
    assert "relation: riding → near" in done.output
    assert "seen as: subject of on" in done.output
    assert "labelled 4, without a label 0" in done.output


def test_a_skipped_pair_and_those_after_a_quit_are_asked_next_time(pairs):
    done, found = label(pairs, ["s", "e", "q"])
    assert [said for said, _ in found] == ["", "exclusive", "", ""]
    done, found = label(pairs, ["o", "e", "o"], annotator="Bo")
    assert "1 of 3   noun: cat – dog" in done.output
    assert found == [("overlapping", "Bo"), ("exclusive", "Ann"), ("exclusive", "Bo"), ("overlapping", "Bo")]
    assert label(pairs, [])[1] == found


def test_nothing_to_undo_is_said(pairs):
    assert "Nothing to undo" in label(pairs, ["u", "q"])[0].output


def test_the_end_of_the_input_is_a_quit(pairs):
    done, found = label(pairs, ["e"])
    assert done.exit_code == 0
    assert [said for said, _ in found] == ["exclusive", "", "", ""]


def test_after_a_kill_all_answers_but_the_last_question_are_there(pairs, root):
    command = [sys.executable, "-m", "compvqa", "annotate", "words", str(pairs), "--annotator", "Ann"]
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    running = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, text=True, start_new_session=True
    )
    running.stdin.write("e\no\n")
    running.stdin.flush()
    end = time.monotonic() + 120
    while pairs.read_text().count(",Ann,") < 2 and time.monotonic() < end:
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    running.stdin.close()
    assert label(pairs, ["e", "e"])[1] == [
        ("exclusive", "Ann"),
        ("overlapping", "Ann"),
        ("exclusive", "Ann"),
        ("exclusive", "Ann"),
    ]


@pytest.mark.parametrize(("what", "name"), [("images", "Ann"), ("words", " "), ("words", "rule:me")])
def test_wrong_arguments_are_one_sentence(pairs, what, name):
    done = CliRunner().invoke(app, ["annotate", what, str(pairs), "--annotator", name])
    assert isinstance(done.exception, InputError)
