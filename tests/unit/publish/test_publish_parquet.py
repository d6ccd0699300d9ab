"""Each part of a split is a file of whole questions."""

import pyarrow.parquet as pq
import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.publish.parquet import publish_questions, publish_split
from compvqa.splits.splitters import SPLITS
from fixtures.published import PARTS, PROGRAM, Published


@pytest.fixture
def published(tmp_path):
    return Published(tmp_path)


def test_each_part_has_its_questions_with_images_and_properties(published):
    published.write()
    for name, parts in PARTS.items():
        for part, ids in parts.items():
            assert pq.read_table(published.file(name, part))["question_id"].to_pylist() == ids
    (row,) = pq.read_table(published.file("few", "test_comp")).to_pylist()
    assert row == {
        "question_id": "q2",
        "text": "How many?",
        "answer": "2",
        "template": "COUNT",
        "program": PROGRAM,
        "images": ["vg:2", "vg:3"],
        "scene_ids": ["mine:2", "mine:3"],
        "properties": ["ANS-NUM", "HAS-COUNT"],
        "subgraph": None,
    }


def test_equal_recipes_give_equal_bytes(published, tmp_path):
    published.write()
    again = Published(tmp_path / "again")
    again.write()
    for name, parts in PARTS.items():
        for part in parts:
            assert published.file(name, part).read_bytes() == again.file(name, part).read_bytes()
            assert tables.recipe_of(again.file(name, part)) == "a recipe"


def test_a_question_about_an_unknown_scene_stops_the_run(published):
    table = tables.read(published.scenes)
    pq.write_table(table.slice(1), published.scenes)
    with pytest.raises(InputError, match="the table of scenes lacks mine:0"):
        publish_questions(published.dataset, published.scenes, published.questions)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("train", "q9"), "names 1 questions of train that .* lacks: publish anew"),
        (("tomorrow", "q0"), "has the part tomorrow, which no file was named for"),
    ],
)
def test_a_split_that_does_not_fit_stops_the_run(published, row, words):
    published.write()
    part, question = row
    tables.write(published.split("few"), SPLITS, [{"split_name": "few", "part": part, "question_id": question}])
    files = {name: published.file("few", name) for name in PARTS["few"]}
    with pytest.raises(InputError, match=words):
        publish_split(published.questions, published.split("few"), files)
