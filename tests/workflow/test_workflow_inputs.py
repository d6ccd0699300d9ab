"""What is wrong with the input is told in one sentence, naming the file, never by a stack trace."""

import re
import shlex
import shutil
from dataclasses import replace

import pytest
import yaml

from fixtures.project import Project


@pytest.fixture
def project(root, tmp_path) -> Project:
    """The project, its config open to edits; nothing has run."""
    for part in ("config", "envs", "rules", "workflow"):
        if part == "config":
            shutil.copytree(root / part, tmp_path / part)
        else:
            (tmp_path / part).symlink_to(root / part)
    return Project(tmp_path)


def told(output: str) -> str:
    """The one sentence that the user is told."""
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if line.startswith(("compvqa: ", "there is no ")) or "config" in line]
    assert lines, output
    return " ".join(lines)


@pytest.mark.parametrize("target", ["dataset", "results/tiny/lexicon.json", "config"])
def test_a_target_behind_the_configs_is_told_where_it_belongs(project, target):
    done = replace(project, under=(project.config,), config=target).run("--dry-run", check=False)
    assert done.returncode == 1 and f"compvqa: {target} is no config file" in told(done.stdout)
    assert f"--configfile config.yaml -- {target}" in told(done.stdout)


def test_a_config_with_a_number_of_too_many_digits_is_named(project):
    path = project.folder / project.config
    path.write_text(path.read_text().replace("seed: 1", "seed: " + "1" * 5000))
    done = project.run("--dry-run", check=False)
    assert done.returncode == 1 and f"{project.config} has a number of too many digits" in told(done.stdout)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shard": 3}, "config key shard is unknown"),
        (
            {"dataset": {"kind": "vqa"}},
            "config key dataset.kind says 'vqa', which nothing makes: name one of clevr, clevr_hope, clevr_prelim, ",
        ),
        ({"overlap": {"method": "none"}}, "config key overlap has moved: write it under `dataset:`, with `kind: covr`"),
        ({"shards": "many"}, "config key shards has the wrong value 'many'"),
        (
            {"dataset": {"balance": {"train_per_template": "all"}}},
            "config key dataset.balance.train_per_template has the",
        ),
        ({"dataset": {"candidates": {"per_keys": 3}}}, "config key dataset.candidates.per_keys is unknown"),
        ({"splits": {"names": ["iid", "has-quant-all", "has-quant-al"]}}, "has no has-quant-al.yaml"),
        ({"models": {"splits": ["has-compar"]}}, "names has-compar, which is not in splits.names"),
        (
            {"models": {"trained": ["visualbert-tiny"], "curve": {"splits": ["tpl-verifyattr"]}}},
            "models.curve.splits names tpl-verifyattr, whose setup zero-shot has no M: name few-shot splits",
        ),
        (
            {"dataset": {"word_filter": {"encoder": {"hints": True}}, "word_labels": {}}},
            "hints needs word_labels.files",
        ),
        ({"dataset": {"presence": {"method": "guess"}}}, "there is no method 'guess' for presence: name another"),
        ({"dataset": {"overlap": {"method": "guess"}}}, "there is no method 'guess' for overlap: name another"),
        (
            {"dataset": {"candidates": {"backend": "oracle"}}},
            "there is no backend 'oracle' for candidates: name another",
        ),
        ({"models": {"baselines": ["guess"]}}, "there is no model 'guess' for baseline: name another"),
        ({"sources": [{"name": "a", "reader": "guess", "files": {}}]}, "there is no reader 'guess' (known: gqa"),
        ({"sources": []}, "give sources and a lexicon, or the files of released questions"),
        (
            {"paper": {"show": ["covr/table3", "covr/table16"]}},
            "paper.show names covr/table16, of which nothing can be",
        ),
        (
            {"paper": {"show": ["table6"]}},
            "its files lie in folders, so write clevr-hope/table6 or covr-submission/table6 or covr/table6.",
        ),
        ({"paper": {"show": ["covr/filters"]}}, "names covr/filters, of which nothing can be made: it needs chains"),
    ],
)
def test_a_wrong_config_is_named(project, change, words):
    path = project.folder / project.config
    data = yaml.safe_load(path.read_text())
    for key, value in change.items():
        data[key] = data.get(key, {}) | value if isinstance(value, dict) else value
    path.write_text(yaml.safe_dump(data))
    done = project.run("--dry-run", check=False)
    assert done.returncode == 1 and words in told(done.stdout)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"1": {"width": 3, "height": 3, "objects": {"a": {"name"', "train.json"),
        (b'{"1": {"width": 3, "height": 3, "objects": {"a": {"name": "\xff\xfe", "x": 1}}}}', "train.json"),
        (b"[1, 2]", "train.json"),
        (b'{"1": {"objects": {"a": {"nmae": "cat"}}}}', "results/tiny/sources/mine/stopped.rejects.parquet lists all"),
    ],
)
def test_a_broken_raw_file_stops_the_run_with_one_sentence(project, content, words):
    path = project.folder / project.config
    data = yaml.safe_load(path.read_text())
    data["sources"] = [{"name": "mine", "reader": "gqa", "files": {"train": "train.json", "val": "train.json"}}]
    data["lexicon"] = {"file": "lexicon.json"}
    path.write_text(yaml.safe_dump(data))
    (project.folder / "lexicon.json").write_text("{}")
    (project.folder / "train.json").write_bytes(content)
    done = project.run("results/tiny/sources/mine/scenes.parquet", check=False)
    sentences = [line for line in done.stdout.splitlines() if line.startswith("compvqa: ")]
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert len(sentences) == 1 and words in sentences[0]
    kept = {path.name for path in project.folder.glob("results/tiny/sources/mine/*.parquet")}
    assert kept == ({"stopped.rejects.parquet"} if "stopped" in words else set())


def test_folders_of_any_name_reach_every_command_whole(project):
    project, world = project.full(), "resources/Ann's `world` & $more"
    path = project.folder / "config/tiny.yaml"
    path.write_text(path.read_text().replace("resources/sprites-tiny", world))
    output = project.run("--dry-run", "--printshellcmds", "publish", "crate", "paper").stdout
    commands = re.findall(r"^ *Shell command: (.+)$", output, re.MULTILINE)
    assert len(commands) > 100
    named = [word for line in commands for word in shlex.split(line) if "world`" in word and not word.startswith("{")]
    assert len(named) > 20 and all(world in word for word in named)


def test_a_missing_raw_file_is_named(project):
    path = project.folder / project.config
    data = yaml.safe_load(path.read_text())
    data["sources"] = [{"name": "mine", "reader": "gqa", "files": {"train": "gone.json"}}]
    path.write_text(yaml.safe_dump(data))
    done = project.run("--dry-run", "results/tiny/sources/mine/scenes.parquet", check=False)
    assert done.returncode == 1 and "gone.json" in done.stdout and "Traceback" not in done.stdout


def test_released_weights_are_fetched_and_need_no_pretraining(project):
    path = project.folder / project.config
    data = yaml.safe_load(path.read_text())
    data["models"]["trained"] = ["visualbert-covr", "visualbert-tiny", "lxmert-p"]
    path.write_text(yaml.safe_dump(data))
    run = "results/tiny/runs/{}.iid.iid.1/model.safetensors"
    released = project.plan(run.format("visualbert-covr"))
    assert {"download_volta_ctrl_visualbert_base_bin", "train"} <= released and "pretrain" not in released
    with_head = project.plan(run.format("lxmert-p"))
    assert {"checkpoint", "download_lxmert_all_ans_json", "train"} <= with_head and "pretrain" not in with_head
    own = project.plan(run.format("visualbert-tiny"))
    assert {"pretrain", "train"} <= own and not any("volta" in rule for rule in own)


def test_a_missing_file_of_released_weights_is_named(project):
    path = project.folder / project.config
    data = yaml.safe_load(path.read_text())
    data["models"]["trained"] = ["mine"]
    path.write_text(yaml.safe_dump(data))
    (project.folder / "config/models/mine.yaml").write_text("model: vilbert\nsettings: {checkpoint: gone.bin}\n")
    done = project.run("--dry-run", "results/tiny/runs/mine.iid.iid.1/model.safetensors", check=False)
    assert done.returncode == 1 and "gone.bin" in done.stdout and "Traceback" not in done.stdout


def test_a_split_of_another_chain_is_made_of_its_questions_and_not_scored(project):
    (project.folder / "config/splits/easy-iid.yaml").write_text("name: easy-iid\nsetup: iid\nchain: easy\n")
    path = project.folder / project.config
    path.write_text(path.read_text().replace("    - has-quant-all\n", "    - has-quant-all\n    - easy-iid\n", 1))
    output = project.run("--dry-run", "--printshellcmds").stdout
    made = {name: re.search(rf"compvqa {name}.*", output)[0] for name in (r"split \S+/easy-iid\.parquet", "scores")}
    split, scores = made.values()
    assert "--dataset results/tiny/easy/dataset/questions.parquet" in split
    assert "--splits=results/tiny/splits/has-quant-all.parquet" in scores and "easy-iid" not in scores
