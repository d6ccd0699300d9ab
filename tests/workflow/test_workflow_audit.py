"""Where each example of each split came from, told from the records of a whole run."""

import json
import re
import shutil
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest

from fixtures.warm import python

pytestmark = pytest.mark.xdist_group("finished")

BED = "results/tiny"
SPLITS = ("iid", "has-quant-all", "tpl-verifyattr")


def ask(project, *arguments: str) -> CompletedProcess[str]:
    """`python -m compvqa audit …` in the project's folder, with its own package."""
    return python("-m", "compvqa", "audit", *arguments, folder=project.folder, environment={"PYTHONPATH": "workflow"})


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_is_told_from_its_raw_files_to_its_questions(finished, tmp_path, split):
    out = tmp_path / "audit.json"
    done = ask(finished, split, "--examples", "4", "--out", str(out))
    assert done.returncode == 0, done.stderr
    told = json.loads(out.read_text())
    stages = [step["stage"] for step in told["steps"]]
    assert stages[-1] == "split" and {"sprites", "ingest", "image_filter", "questions", "balance"} < set(stages)
    for number, step in enumerate(told["steps"]):  # each after what it read
        assert {other["recipe"] for other in told["steps"][:number]} >= set(step["after"])
    rows = pq.read_table(finished.folder / BED / f"splits/{split}.parquet")
    assert sum(told["split"]["parts"].values()) == rows.num_rows
    assert told["folds"] and all(row["both"] == 0 and row["saw"] > 0 for row in told["folds"])
    assert len(told["examples"]) == 4


def test_an_example_leads_back_to_the_raw_record_and_its_program_gives_its_answer(finished, tmp_path):
    rows = pq.read_table(finished.folder / BED / "dataset/questions.parquet").to_pylist()
    raw = {
        path.name: list(json.loads(path.read_text()))
        for path in (finished.folder / "resources/sprites-tiny").rglob("*.json")
        if path.parent.name in ("sprites-tiny", "imsitu")
    }
    for row in rows[:: len(rows) // 4]:
        out = tmp_path / "story.json"
        done = ask(finished, "--example", row["question_id"], "--testbed", BED, "--out", str(out))
        assert done.returncode == 0, done.stderr
        told = json.loads(out.read_text())
        assert told["again"] == row["answer"] == told["question"]["answer"]
        assert told["splits"]["iid"] == row["part"]
        assert [scene["scene_id"] for scene in told["scenes"]] == row["scene_ids"]
        for scene in told["scenes"]:
            records = raw[scene["file"].rpartition("/")[2]]
            assert records[scene["record"] - 1] == scene["scene_id"].partition(":")[2]
            assert scene["role"] != "distractor" or scene["differs"]
        assert any(scene["role"] != "other" for scene in told["scenes"])


@pytest.mark.parametrize("name", ["paper/covr/table6.csv", "filters/images/thresholds.json", "lexicon.json"])
def test_a_file_and_the_recipe_in_it_lead_back_the_same_way(finished, tmp_path, name):
    path = finished.folder / BED / name
    (recipe,) = set(re.findall(r"\b[0-9a-f]{24}\b", path.read_text()))
    told = []
    for asked in (f"{BED}/{name}", recipe):
        out = tmp_path / "way.json"
        done = ask(finished, asked, "--out", str(out))
        assert done.returncode == 0, done.stderr
        told.append(json.loads(out.read_text()))
    assert told[0]["recipe"] == told[1]["recipe"] == recipe
    assert f"{BED}/{name}" in told[1]["files"] and told[0]["steps"] == told[1]["steps"]
    assert "sprites" in {row["from"] for row in told[0]["raw"]}
    assert told[0]["steps"][-1]["recipe"] == recipe


def test_the_page_and_the_text_tell_the_same_split(finished, tmp_path):
    page, text = tmp_path / "audit.html", tmp_path / "audit.txt"
    for out in (page, text):
        assert ask(finished, "has-quant-all", "--out", str(out)).returncode == 0
    assert "<h1>Audit of the split has-quant-all</h1>" in page.read_text()
    printed = text.read_text()
    for words in ("HAS-QUANT-ALL", "Leak guard, run again now: passed", "none seen", "record ", "run again now"):
        assert words in printed
    assert len(printed.splitlines()) <= 80
    assert ask(finished, "has-quant-all", "--all", "--out", str(text)).returncode == 0
    assert len(text.read_text().splitlines()) > 200 and "Counts at each stage" in text.read_text()


def test_a_finished_run_agrees_with_its_manifest_and_what_was_done_to_it_since_is_told_by_kind(edited):
    done = ask(edited, "--verify")
    assert done.returncode == 0 and "files agree" in done.stdout, done.stdout + done.stderr
    assert "temporary files that are gone, as they should be: 14" in done.stdout
    data = json.loads((edited.folder / BED / "manifest.json").read_text())
    assert data["definitions"].keys() >= {f"splits/{name}" for name in SPLITS} | {"models/visualbert-tiny"}
    assert data["config"]["testbed"] == "tiny" and set(data["git"]) == {"commit", "why"}

    results = edited.folder / BED
    path = results / "scenes/objects.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    record = results / "dataset/questions.parquet.prov.json"
    record.write_text(re.sub(r'"out": \d', '"out": 9', record.read_text(), count=1))
    shutil.rmtree(results / "paper")
    (results / "splits/has-quant-all.parquet").unlink()
    (results / "splits/mine.parquet").write_text("")
    shutil.rmtree(edited.folder / "resources")
    with (edited.folder / "workflow/compvqa/covr/questions/balance.py").open("a") as file:
        file.write("\nEDITED = True\n")
    done = ask(edited, "--verify", "--all")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"compvqa: {BED}/scenes/objects.parquet has the sha256")
    told = dict.fromkeys(re.findall(r"^(\w[\w ]+): \d", done.stdout, re.MULTILINE))
    assert list(told) == ["altered", "missing", "extra", "made by other code", "unverifiable"]
    for words in (
        "dataset/questions.parquet.prov.json is not the record",
        "paper/index.html is gone",
        "splits/has-quant-all.parquet is gone",
        "splits/mine.parquet was written by no stage",
        "balance ran code",
        "train_sceneGraphs.json is not there to be hashed",
    ):
        assert words in done.stdout
    assert ask(edited, "--verify", "iid").returncode == 1


def test_two_runs_are_compared_by_config_counts_and_questions(finished, edited):
    config = edited.folder / "config/tiny.yaml"
    config.write_text(config.read_text().replace("  train_per_template: 40\n", "  train_per_template: 30\n"))
    edited.run("dataset")
    out = edited.folder / "diff.json"
    before = finished.folder / BED / "splits/iid.parquet"
    done = ask(edited, "--diff", str(before), f"{BED}/splits/iid.parquet", "--out", str(out))
    assert done.returncode == 0, done.stderr
    told = json.loads(out.read_text())
    assert [(row["key"], row["A"], row["B"]) for row in told["config"]] == [("train_per_template", 40, 30)]
    assert told["questions"]["only A"]["n"] > told["questions"]["only B"]["n"]  # fewer are taken, and not the same ones
    assert not told["code"] and not told["inputs"] and not told["stages"]
    changed = {"dataset/questions.parquet", "splits/iid.parquet"}
    assert set(told["outputs"]["differ"]) == changed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "has no splits/nothing.parquet"),
        (["0" * 24], f"nothing in results/ was made with the recipe {'0' * 24}"),
        ([BED], "give one thing to audit"),
        (["config/tiny.yaml"], "give a file that compvqa made"),
        (["--example", "0"], "the dataset has no question '0'"),
        (["--diff", "iid"], "--diff compares two targets"),
        (["iid", "--out", "audit.pdf"], "must end in .txt, .json, .html"),
        ([], "give one thing to audit"),
    ],
)
def test_what_cannot_be_audited_is_told_in_a_sentence(finished, arguments, words):
    done = ask(finished, *arguments)
    assert done.returncode == 1 and done.stderr.startswith("compvqa: ") and words in done.stderr
