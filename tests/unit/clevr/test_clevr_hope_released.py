"""The authors' released questions, from files made in their format."""

import json
from collections import Counter

import h5py
import numpy as np
import pytest
import typer
from hypothesis import given
from typer.testing import CliRunner

from compvqa import tables
from compvqa.clevr.cli import add_to
from compvqa.clevr.families import Families
from compvqa.clevr.generate import GenerateSettings, of_block, plans_of
from compvqa.clevr.hope.released import convert, parse, read_vocabulary
from compvqa.clevr.language import LANGUAGE
from compvqa.clevr.official import read_questions
from compvqa.clevr.scene import read_scenes
from compvqa.clevr.tables import QUESTIONS, REJECTS
from compvqa.errors import InputError
from compvqa.programs.rows import from_json
from fixtures.clevr_scenes import drawn_programs, record

SPECIAL = ["<NULL>", "<START>", "<END>", "<UNK>"]


def prefix(program, number=-1):
    """A program as the release codes it: the last function first, then what it takes, from left to right."""
    row = program[number]
    word = row.operation + (f"[{','.join(row.arguments)}]" if row.arguments else "")
    return [word, *(token for index in row.dependencies for token in prefix(program, index))]


def tokens(text):
    """A question's words as clevr-iep has them: without full stop and question mark, with ; and , for themselves."""
    for mark in ";,":
        text = text.replace(mark, f" {mark}")
    return text.replace("?", "").replace(".", "").split()


def coded(rows, known):
    longest = max(map(len, rows)) + 2
    padded = [["<START>", *row, "<END>"] + ["<NULL>"] * (longest - len(row) - 2) for row in rows]
    return np.array([[known[word] for word in row] for row in padded], np.int32)


@pytest.fixture(scope="module")
def released(tmp_path_factory, folder, templates, words):
    """Ten scenes, and questions on them in HDF5 with their vocabulary; the questions themselves as well."""
    path = tmp_path_factory.mktemp("released")
    (path / "scenes.json").write_text(json.dumps({"info": {}, "scenes": [record(number) for number in range(10)]}))
    scenes = [scene for scene in read_scenes(folder) if scene.split == "train"]
    settings = GenerateSettings(per_scene=8)
    rows = list(of_block(scenes, plans_of(templates, settings), words, settings, 1, Counter()))
    texts = [tokens(row["text"]) for row in rows]
    programs = [prefix(from_json(row["program"])) for row in rows]
    vocab = {
        f"{name}_token_to_idx": {word: n for n, word in enumerate([*SPECIAL, *sorted({w for row in of for w in row})])}
        for name, of in (("question", texts), ("program", programs), ("answer", [[row["answer"]] for row in rows]))
    }
    (path / "vocab.json").write_text(json.dumps(vocab))
    place = {scene.scene_id: number for number, scene in enumerate(scenes)}
    with h5py.File(path / "questions.h5", "w") as file:
        file["questions"] = coded(texts, vocab["question_token_to_idx"])
        file["programs"] = coded(programs, vocab["program_token_to_idx"])
        file["answers"] = np.array([vocab["answer_token_to_idx"][row["answer"]] for row in rows], np.int32)
        file["image_idxs"] = np.array([place[row["scene_ids"][0]] for row in rows], np.int32)
        file["question_families"] = np.full(len(rows), -1, np.int32)
    return path, rows


def written(released, out, **changes):
    path, _ = released
    given = {"questions": path / "questions.h5", "scenes": path / "scenes.json"} | changes
    return convert(given["questions"], read_vocabulary(path / "vocab.json"), given["scenes"], "train", out)


def test_released_questions_come_back_as_they_were(released, templates, words, tmp_path):
    """As a question file, which the house's reader takes: the same programs, answers and scenes, and their families."""
    _, rows = released
    counts = written(released, tmp_path / "train.json")
    assert counts == {"in": len(rows), "out": len(rows)}
    read_questions({"train": tmp_path / "train.json"}, Families(templates, words), tmp_path / "read", "t")
    assert not len(tables.read(tmp_path / "read/rejects.parquet", REJECTS))
    found = tables.read(tmp_path / "read/questions.parquet", QUESTIONS).to_pylist()
    what = ("answer", "scene_ids")

    def told(row):
        return (prefix(from_json(row["program"])), tokens(row["text"]), *(row[key] for key in what))

    assert sorted(map(told, found)) == sorted(map(told, rows))
    assert sum(row["template"] is not None for row in found) > 0.9 * len(rows)


@given(drawn_programs())
def test_a_program_in_prefix_order_is_read_as_what_it_was(program):
    used = prefix(program)
    again = parse(used)
    assert prefix(again) == used
    LANGUAGE.check(again)


@pytest.mark.parametrize("told", ["", "exist", "exist scene scene", "dance scene", "union scene"])
def test_what_is_no_program_is_refused(told):
    with pytest.raises(ValueError):
        parse(told.split())


def test_a_row_that_is_none_is_counted_and_a_file_that_is_none_is_told(released, tmp_path):
    path, rows = released
    bad = tmp_path / "bad.h5"
    with h5py.File(path / "questions.h5") as old, h5py.File(bad, "w") as new:
        for name in old:
            new[name] = old[name][:]
        new["programs"][0] = 0  # no program at all
        new["questions"][1, 1] = SPECIAL.index("<UNK>")
    counts = written(released, tmp_path / "t.json", questions=bad)
    assert counts["out"] == len(rows) - 2 and counts["in"] == len(rows)
    assert counts["rejected: a program that is none"] == counts["rejected: a word that is in no vocabulary"] == 1
    with h5py.File(bad, "a") as file:
        file["image_idxs"][0] = 10
    with pytest.raises(InputError, match="picture 10, of 10"):
        written(released, tmp_path / "t.json", questions=bad)
    with h5py.File(bad, "a") as file:
        del file["programs"]
    with pytest.raises(InputError, match="has no programs"):
        written(released, tmp_path / "t.json", questions=bad)
    with pytest.raises(InputError, match="no HDF5 file"):
        written(released, tmp_path / "t.json", questions=path / "vocab.json")
    with pytest.raises(InputError, match="no question_token_to_idx"):
        read_vocabulary(path / "scenes.json")


def test_the_command_says_what_it_wrote(released, tmp_path):
    path, rows = released
    options = ["--vocab", str(path / "vocab.json"), "--scenes", str(path / "scenes.json"), "--split", "iid"]
    asked = ["clevr", "read-hope", str(path / "questions.h5"), str(tmp_path / "q.json"), *options]
    app = typer.Typer()
    app.callback()(lambda: None)
    add_to(app)
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0 and f"out {len(rows):,}" in result.output
    assert json.loads((tmp_path / "q.json").read_text())["info"] == {"split": "iid"}
