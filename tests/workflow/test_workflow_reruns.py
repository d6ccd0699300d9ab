"""Only what changed is run again: each row of the table in docs/reruns.md, and what it does not say."""

import os
import re
from pathlib import Path

import pytest
import yaml

from fixtures.project import Project

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once

DATA = {"sprites", "lexicon", "ingest", "scenes", "subgraphs", "overlap", "candidates", "presence", "related"}
TABLE = Path(__file__).resolve().parents[2] / "docs/reruns.md"
ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} should hold {old!r} once"
    path.write_text(text.replace(old, new))


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def touch_all(project: Project) -> None:
    for part in ("config", "envs", "rules", "workflow"):
        for path in (project.folder / part).rglob("*"):
            os.utime(path)


def package(project: Project, module: str) -> Path:
    return project.folder / "workflow/compvqa" / module


def tiny(project: Project) -> Path:
    return project.folder / "config/tiny.yaml"


def add_a_split(project: Project) -> None:
    text = (project.folder / "config/splits/tpl-verifyattr.yaml").read_text()
    (project.folder / "config/splits/tpl-count.yaml").write_text(text.replace("TPL-VERIFYATTR", "TPL-COUNT"))
    replace(tiny(project), "    - tpl-verifyattr\n", "    - tpl-verifyattr\n    - tpl-count\n")


CODE = "\nEDITED = True\n"
CHANGES = {
    "nothing but the time of every file of the repository": touch_all,
    "a comment or a docstring in `balance.py`": lambda project: package(
        project, "covr/questions/balance.py"
    ).write_text(
        "# A comment.\n" + package(project, "covr/questions/balance.py").read_text().replace('"""', '"""Said anew. ', 1)
    ),
    "the code of `balance.py`": lambda project: append(package(project, "covr/questions/balance.py"), CODE),
    "the code of the reader `gqa.py`": lambda project: append(package(project, "scenes/readers/gqa.py"), CODE),
    "the code of the word filter's training": lambda project: append(
        package(project, "covr/filters/words/training.py"), CODE
    ),
    "the text of the template COUNT": lambda project: replace(
        project.folder / "config/templates/covr/count.yaml", "How many {ref:clause}?", "What number of {ref:clause}?"
    ),
    "the method of `overlap`": lambda project: replace(
        tiny(project), "dataset:\n", "dataset:\n  overlap: {method: learned}\n"
    ),
    "M of the split `has-quant-all`": lambda project: replace(
        project.folder / "config/splits/has-quant-all.yaml", "m: 250", "m: 500"
    ),
    "a split more": add_a_split,
    "the learning rate of `visualbert-tiny`": lambda project: replace(
        project.folder / "config/models/visualbert-tiny.yaml",
        "optimisation: {epochs: 1, most_steps: 10,",
        "optimisation: {learning_rate: 2.0e-3, epochs: 1, most_steps: 10,",
    ),
    "the number of distractors that are judged": lambda project: replace(
        project.folder / project.config, "    per_kind: 100\n", "    per_kind: 90\n"
    ),
    "the number of resamples of the scores": lambda project: replace(
        tiny(project), "scores:\n  resamples: 50", "scores:\n  resamples: 60"
    ),
    "a table less on the page": lambda project: replace(
        project.folder / project.config, "covr/sources, covr/drops]", "covr/drops]"
    ),
    "a pin in `envs/models.yaml`, without `--sdm conda`": lambda project: replace(
        project.folder / "envs/models.yaml", "pytorch==2.13.0", "pytorch==2.13.1"
    ),
}
ROWS = {change: cells for change, *cells in ROW.findall(TABLE.read_text())[1:]}


def stages(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell))


def test_each_row_of_the_table_is_a_test_and_the_other_way_round():
    assert set(ROWS) == set(CHANGES)


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_change_reruns_what_the_table_says(edited, change):
    again, kept = ROWS[change]
    CHANGES[change](edited)
    plan = edited.plan()
    if kept == "everything":
        assert plan == set()
    else:
        assert stages(again) <= plan
        assert not plan & stages(kept)
        assert "index" in plan or not plan & {"table", "figure"}


def test_a_finished_run_has_nothing_to_do(finished):
    assert finished.plan() == set()


@pytest.mark.parametrize(
    ("gone", "rule"), [("dataset/questions.parquet", "balance"), ("splits/tpl-verifyattr.parquet", "split")]
)
def test_what_was_deleted_is_made_again_though_the_page_is_there(edited, gone, rule):
    (edited.folder / "results/tiny" / gone).unlink()
    assert rule in edited.plan()


def test_what_is_after_a_changed_stage_runs_again_too(edited):
    append(package(edited, "covr/questions/balance.py"), CODE)
    assert {"balance", "split", "train", "predict", "scores", "table", "index"} <= edited.plan()


def test_only_the_changed_split_is_made_again(edited):
    CHANGES["M of the split `has-quant-all`"](edited)
    wanted = edited.run("--dry-run").stdout
    assert "output: results/tiny/splits/has-quant-all.parquet" in wanted
    assert "output: results/tiny/splits/iid.parquet" not in wanted


@pytest.mark.parametrize(
    ("section", "setting", "changed"),
    [("related", {"per_key": 4}, {"related"}), ("questions", {"distractors": "random"}, set())],
)
def test_a_changed_setting_reruns_its_stage_and_what_is_after_it(edited, section, setting, changed):
    path = tiny(edited)
    data = yaml.safe_load(path.read_text())
    data["dataset"].setdefault(section, {}).update(setting)
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    plan = edited.plan()
    assert {*changed, "questions", "balance"} <= plan
    assert plan & DATA == changed
