"""The chain on subsets of the real downloads, to balanced questions, splits, Table 3 and figures."""

import json

import pyarrow.parquet as pq
import pytest

from compvqa.scenes.lexicon import Lexicon
from compvqa.splits.splitters import SPLITS
from compvqa.tables import read
from fixtures.answers import assert_answers_hold
from fixtures.grammar import ERRORS, Checker, planted
from fixtures.project import copy_project

pytestmark = pytest.mark.xdist_group("real")  # one process, so that the chain runs once


@pytest.fixture(scope="module")
def results(root, shared, tmp_path_factory):
    """The results of tests/configs/real-subset.yaml."""
    folder = tmp_path_factory.mktemp("real")
    project = copy_project(root, folder / "project")
    (folder / "shared").symlink_to(shared)
    project.config = str(root / "tests/configs/real-subset.yaml")
    project.run()
    return project.folder / "results" / "covr-real-subset"


def test_one_scene_an_image_and_no_image_on_both_sides(results):
    scenes = read(results / "scenes/scenes.parquet").to_pandas()
    assert scenes.image.is_unique
    counts = json.loads((results / "scenes/scenes.prov.json").read_text())["counts"]
    assert counts["visual-genome: scenes in"] == 60
    assert counts["visual-genome: scenes dropped: image has a scene"] == 60
    assert len(scenes) == counts["scenes out"] == 63 + counts["imsitu: scenes out"]


def test_every_question_s_program_gives_its_answer_on_the_annotated_scenes(results):
    assert assert_answers_hold(results) > 50_000


def test_templates_tables_and_figures_are_there(results):
    templates = set(read(results / "dataset/questions.parquet", columns=["template"])["template"].to_pylist())
    assert {"COUNT", "VERIFYCOUNT", "COMPARECOUNT", "VERIFYQUANT", "VERIFYQUANTATTR", "VERIFYLOGIC"} <= templates
    assert {"COUNTGROUPBY", "VERIFYCOUNTGROUPBY", "QUERYOBJECT", "VERIFYSAMEATTR"} <= templates
    names = ("table3.html", "splits.html", "figure4.png", "figure5.png", "figure6.png", "../questions.html")
    for name in names:
        assert (results / "paper/covr" / name).stat().st_size > 1000
    iid = read(results / "splits/iid.parquet", SPLITS)
    assert len(iid) == pq.read_metadata(results / "dataset/questions.parquet").num_rows


def test_the_lexicon_groups_the_attributes(results):
    assert Lexicon.load(results / "lexicon.json").group("red") == "color"


def test_the_english_of_all_questions(results, shared):
    """A checker that shares no code with what words them flags at most 0.5 %, and 9 of 10 errors planted in 300."""
    texts = sorted(set(read(results / "questions/questions.parquet", columns=["text"])["text"].to_pylist()))
    checker = Checker(shared / "data/vocab/gqa_objects.txt")
    good = [text for text in texts if not checker.faults(text)]
    assert len(good) > 0.995 * len(texts) > 20_000
    tried = [planted(text, number % len(ERRORS)) for number, text in enumerate(good[:: len(good) // 2000])]
    broken = [text for text in tried if text][:300]
    missed = [text for text in broken if not checker.faults(text)]
    assert len(broken) == 300 and len(missed) <= 30, missed


def test_any_leaf_triplet_is_a_condition_or_an_answer(results):
    """An example of each form; of quantifiers more than a third have a scope of more than a noun (11 % before)."""
    table = read(results / "questions/questions.parquet", columns=["text", "program", "template"])
    texts = set(table["text"].to_pylist())
    assert {
        "Some telephones with a mug next to them are on a desk",
        "No computers that are on a desk and have a bottle next to them are white",
        "Some tables with black frames on them are brown",
        "Some jackets that a man has are grey",
        "All girls that are curling hair are curling it with a curling iron",
        "The table with a vase on top of it has a cloth or a wheel?",
        "What does the table with a vase on top of it have?",
        "The person that is examining a woman is examining her using a stethoscope or a mirror?",
        "What is the woman that is picking cotton picking it from?",
        "What is the woman that is examining a sample using to do so?",
    } <= texts
    quantified = [json.loads(row["program"]) for row in table.to_pylist() if row["template"] == "VERIFYQUANT"]
    assert sum(len(program) > 2 for program in quantified) > 0.35 * len(quantified)


def test_a_text_stands_for_one_program(results):
    table = read(results / "questions/questions.parquet", columns=["text", "program"])
    assert len(set(zip(*(table[name].to_pylist() for name in ("text", "program")), strict=True))) == len(
        set(table["text"].to_pylist())
    )
