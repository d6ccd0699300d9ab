"""CLEVR's test-bed from nothing: its world, questions, splits and scores; and the same questions read from files."""

import json
import re
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
import yaml

from compvqa.clevr import executor
from compvqa.clevr.families import Families
from compvqa.clevr.official import write_questions
from compvqa.clevr.scene import read_scenes
from compvqa.clevr.templates import read_templates
from compvqa.clevr.words import read_words
from compvqa.programs.rows import from_json
from compvqa.provenance.audit import example
from fixtures.project import OLD_PROCESSOR, Project, copy_project

pytestmark = pytest.mark.xdist_group("clevr")
TABLES = ("small/dataset/*.parquet", "small/splits/*.parquet", "small/questions/dropped.parquet")


def shipped(project: Project) -> dict:
    """config/clevr-small.yaml."""
    return yaml.safe_load((project.folder / "config/clevr-small.yaml").read_text())


def written(project: Project, name: str, **sections) -> Project:
    """The project with config/clevr-small.yaml, of which some sections are others."""
    data = shipped(project) | sections
    (project.folder / f"config/{name}.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    return replace(project, config=f"config/{name}.yaml")


def dataset(project: Project) -> list[dict]:
    """The questions of the small test-bed."""
    return pq.read_table(project.folder / "results/small/dataset/questions.parquet").to_pylist()


@pytest.fixture(scope="module")
def small(root, tmp_path_factory) -> Project:
    """The project with a finished small test-bed: CoGenT's sides, pictures of 96 x 64."""
    project = copy_project(root, tmp_path_factory.mktemp("clevr"))
    of_a, of_b = ({"condition": f"cogent_{which}"} for which in "ab")
    sizes = {"train": (12, of_a), "val": (5, of_a), "test": (5, of_a), "valB": (2, of_b), "testB": (4, of_b)}
    sides = {side: {"scenes": scenes} | condition for side, (scenes, condition) in sizes.items()}
    look = {"width": 96, "height": 64, "light_samples": 2, "max_objects": 6}
    world = {"kind": "clevr", "folder": "resources/clevr-small", "settings": {"sides": sides, "all": look}}
    files = {side: f"resources/clevr-small/CLEVR_{side}_scenes.json" for side in sides}
    project = written(
        project,
        "small",
        testbed="small",
        world=world,
        sources=[{"name": "clevr", "reader": "clevr", "files": files}],
        splits={"names": ["iid", "cogent", "program-1"]},
        models={"baselines": ["maj", "qtype", "executor"]},
        scores=shipped(project)["scores"] | {"resamples": 20},
    )
    project.run("dataset", "results/small/evaluation/scores.parquet", "publish", "all")
    return project


def test_the_answers_hold_and_a_finished_run_has_nothing_to_do(small):
    bed = small.folder / "results/small"
    scenes = {scene.scene_id: scene for scene in read_scenes(bed / "scenes")}
    rows = dataset(small)
    assert len(rows) == 10 * len(scenes) == 280
    for row in rows:
        assert executor.answer(from_json(row["program"]), scenes[row["scene_ids"][0]]) == row["answer"]
    assert {row["part"] for row in rows} == {"train", "dev", "test", "valB", "testB"}
    scores = pq.read_table(bed / "evaluation/scores.parquet").to_pylist()
    assert {"all", "type", "effective_size"} <= {row["facet"] for row in scores}
    on_b = [row for row in scores if row["split"] == "cogent" and row["part"] in ("val_b", "test_b")]
    assert {row["model"] for row in on_b} == {"maj", "qtype", "executor"}
    assert all(row["right"] == row["n"] for row in scores if row["model"] == "executor")
    card = (bed / "publish/huggingface/README.md").read_text()
    assert "test_b" in card
    assert small.plan() == set()


def test_functions_are_seen_in_train_and_a_fifth_of_their_arrangements_is_not(small):
    rows = {row["question_id"]: from_json(row["program"]) for row in dataset(small)}
    split = pq.read_table(small.folder / "results/small/splits/program-1.parquet").to_pylist()
    shapes, functions = {}, {}
    for row in split:
        program = rows[row["question_id"]]
        shapes.setdefault(row["part"], set()).add(tuple((r.operation, *r.dependencies) for r in program))
        functions.setdefault(row["part"], set()).update(r.operation for r in program)
    held_out = shapes["dev_comp"] | shapes["test_comp"]
    assert held_out and not held_out & shapes["train"]
    assert functions["test_comp"] <= functions["train"]


def test_the_story_of_a_question_tells_its_seeds_and_what_its_templates_slots_hold(small):
    words = json.loads((small.folder / "config/words/clevr.json").read_text())["synonyms"]
    for row in dataset(small)[:40]:
        told = example(row["question_id"], small.folder / "results/small/dataset/questions.parquet")
        scene, question, *slots = told["drawn"]
        assert scene.startswith("scene drawn with seed 1") and question.startswith("question drawn with seed 1")
        assert slots and all(line.startswith(f"slots of {row['template']}: ") for line in slots)
        for slot, value in re.findall(r"(<\w+>) (\w+)", slots[0]):
            assert any(word in row["text"] for word in (value, *words.get(value, ()))), slot


def test_shards_cores_and_hash_seeds_change_no_byte(small, tmp_path):
    environment = {"PYTHONHASHSEED": "9", **OLD_PROCESSOR}
    other = replace(copy_project(small.folder, tmp_path), config=small.config, environment=environment)
    other.run("dataset", "--config", "shards=3", cores=1)
    assert other.hashes(*TABLES) == small.hashes(*TABLES)
    made, again = (sorted((p.folder / "resources/clevr-small/images").glob("*.png")) for p in (small, other))
    assert [path.read_bytes() for path in made] == [path.read_bytes() for path in again] and len(made) == 28


def test_a_changed_side_draws_that_side_alone_anew(small):
    data = yaml.safe_load((small.folder / small.config).read_text())
    data["world"]["settings"]["sides"]["valB"]["scenes"] = 3
    planned = written(small, "more", **data).run("--dry-run").stdout
    assert set(re.findall(r"^((?:gather_)?clevr_world) +(\d+)$", planned, re.MULTILINE)) == {
        ("clevr_world", "2"),
        ("gather_clevr_world", "1"),
    }


def test_questions_read_from_official_files_are_the_same(small):
    """What was made is written in the release's dialect, and read again by the kind clevr_released."""
    bed, folder = small.folder / "results/small", small.folder / "resources/official"
    families = Families(
        read_templates(small.folder / "config/templates/clevr"), read_words(small.folder / "config/words/clevr.json")
    )
    for part in ("train", "test"):
        write_questions(bed / "dataset/questions.parquet", folder / f"{part}.json", part, families)
    told = json.loads((folder / "test.json").read_text())
    for question in told["questions"][:3]:  # as the release keeps answers back
        for key in ("answer", "program", "question_family_index"):
            del question[key]
    (folder / "test.json").write_text(json.dumps(told))
    files = {"train": "resources/official/train.json", "test": "resources/official/test.json"}
    official = written(
        small,
        "official",
        testbed="official",
        world=None,  # its files are as if downloaded
        sources=[
            {
                "name": "clevr",
                "reader": "clevr",
                "files": {side: f"resources/clevr-small/CLEVR_{side}_scenes.json" for side in ("train", "test")},
            }
        ],
        dataset={"kind": "clevr_released", "files": files, "parts": {"train": {"train": 0.7, "dev": 0.3}}},
    )
    official.run("dataset")
    columns = ("text", "program", "answer", "scene_ids", "template")
    made, read = (
        sorted(
            tuple(str(row[key]) for key in columns)
            for row in pq.read_table(small.folder / f"results/{name}/dataset/questions.parquet").to_pylist()
            if row["part"] in parts
        )
        for name, parts in (("small", ("train", "test")), ("official", ("train", "dev", "test")))
    )
    assert set(read) <= set(made) and len(read) == len(made) - 3


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            {"dataset": {"kind": "clevr", "templates": "mine/templates"}},
            "mine/templates does not exist: correct dataset.templates",
        ),
        ({"scores": {"facets": ["tpye"]}}, "has no facet 'tpye'"),
    ],
)
def test_what_is_not_there_is_told_before_anything_runs(small, sections, words):
    done = written(small, "lost", **sections).run("--dry-run", check=False)
    assert done.returncode and words in done.stdout
