"""Only what changed is run again."""

import os

import pytest

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once

DATA = {"sprites", "lexicon", "ingest", "scenes", "subgraphs", "overlap", "candidates", "presence", "related"}


def replace(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} should hold {old!r} once"
    path.write_text(text.replace(old, new))


def test_a_finished_run_has_nothing_to_do(finished):
    assert finished.plan() == set()


def test_touching_every_file_of_the_repository_reruns_nothing(edited):
    for part in ("config", "envs", "rules", "workflow"):
        for path in (edited.folder / part).rglob("*"):
            os.utime(path)
    assert edited.plan() == set()


def test_editing_the_code_of_balance_reruns_balancing_and_what_is_after_it(edited):
    with (edited.folder / "workflow/compvqa/balance.py").open("a") as file:
        file.write("\nEDITED = True\n")
    plan = edited.plan()
    assert {"balance", "split", "train", "predict", "scores", "table", "index"} <= plan
    assert not plan & {*DATA, "questions", "gather_questions", "features"}


def test_editing_the_word_filters_training_reruns_nothing_that_does_not_use_it(edited):
    with (edited.folder / "workflow/compvqa/training/word_filter.py").open("a") as file:
        file.write("\nEDITED = True\n")
    assert edited.plan() == {"word_filter", "word_filter_unseen", "word_scores", "table", "figure", "index"}


def test_editing_a_comment_or_a_docstring_reruns_nothing(edited):
    path = edited.folder / "workflow/compvqa/balance.py"
    path.write_text("# A comment.\n" + path.read_text().replace('"""', '"""Said anew. ', 1))
    assert edited.plan() == set()


def test_judging_more_distractors_reruns_the_judging_alone(edited):
    replace(edited.folder / edited.config, "  per_kind: 100\n", "  per_kind: 90\n")
    assert edited.plan() == {"distractors", "filters", "table", "figure", "index"}


def test_adding_a_split_reruns_only_splits_and_what_is_after_them(edited):
    split = edited.folder / "config/splits/tpl-count.yaml"
    text = (edited.folder / "config/splits/tpl-verifyattr.yaml").read_text()
    split.write_text(text.replace("TPL-VERIFYATTR", "TPL-COUNT"))
    replace(edited.folder / edited.config, "    - tpl-verifyattr\n", "    - tpl-verifyattr\n    - tpl-count\n")
    plan = edited.plan()
    assert "split" in plan
    assert not plan & {*DATA, "questions", "gather_questions", "balance", "features", "pretrain", "train"}
    wanted = edited.run("--dry-run").stdout
    assert "splits/tpl-count.parquet" in wanted and "output: results/tiny/splits/iid.parquet" not in wanted


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ("related:\n  per_key: 4", {"related"}),
        ("questions:\n  distractors: random", set()),
        ("overlap:\n  method: learned", {"overlap", "candidates", "presence", "related"}),
    ],
)
def test_a_changed_setting_reruns_its_stage_and_what_is_after_it(edited, setting, stages):
    path = edited.folder / edited.config
    path.write_text(f"{path.read_text()}\n{setting}\n")
    plan = edited.plan()
    assert {*stages, "questions", "balance"} <= plan
    assert plan & DATA == stages
