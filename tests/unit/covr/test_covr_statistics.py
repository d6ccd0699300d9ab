"""The numbers of Table 3 and Figures 4 to 6, counted by hand."""

import pytest

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.covr.statistics import STATISTICS, kind, statistics
from compvqa.programs.rows import Row, to_json

FIND = Row("Find", ("cat",))
COUNT = [FIND, Row("Count", (), (0,))]
COUNT_DOGS = [Row("Find", ("dog",)), Row("Count", (), (0,))]
CHOOSE = [FIND, Row("Unique", (), (0,)), Row("ChooseAttribute", ("red", "blue"), (1,))]
QUERY = [FIND, Row("Unique", (), (0,)), Row("QueryAttribute", ("color",), (1,))]
INNER = (Row("Scene"), Row("Find", ("bed",)), Row("WithRelation", ("on",), (0, 1)), Row("Exists", (), (2,)))
ALL = [FIND, Row("Filter", ("red",), (0,)), Row("All", (INNER,), (1,))]
QUESTIONS = [
    ("train", "How many cats are there?", COUNT, "2", ["a", "b"]),
    ("train", "How many cats are there?", COUNT, "3", ["a", "c", "d"]),
    ("train", "How many dogs are there?", COUNT_DOGS, "2", ["b", "c"]),
    ("train", "Is the cat red or blue?", CHOOSE, "red", ["a", "b"]),
    ("dev", "What is the color of the cat?", QUERY, "red", ["x", "y"]),
    ("dev", "All red cats are on a bed", ALL, "true", ["x", "y"]),
    ("test", "All red cats are on a bed", ALL, "false", ["y", "z"]),
]


@pytest.fixture
def found(tmp_path):
    rows = []
    for number, (part, text, program, answer, scene_ids) in enumerate(QUESTIONS):
        row = dict.fromkeys(("testbed", "split", "template", "annotator_text", "start_scene", "tree"), "")
        row |= dict.fromkeys(("seed", "subgraph_key", "size", "depth"), 0)
        row |= {"question_id": str(number), "part": part, "text": text, "program": to_json(program)}
        rows.append(row | {"answer": answer, "scene_ids": scene_ids})
    tables.write(tmp_path / "dataset.parquet", DATASET, rows)
    counts = statistics(tmp_path / "dataset.parquet", tmp_path / "statistics.parquet")
    assert counts["in"] == len(QUESTIONS)
    table = tables.read(tmp_path / "statistics.parquet", STATISTICS).to_pylist()
    return {(row["stat"], row["part"], row["item"]): row["value"] for row in table}


@pytest.mark.parametrize(
    ("stat", "train", "dev_and_test"),
    [
        *[("questions", 4, 3), ("unique_questions", 3, 2), ("unique_answers", 3, 3), ("unique_images", 4, 3)],
        *[("unique_anonymized_programs", 2, 2), ("true_false", 0, 2), ("x_or_y", 1, 0), ("how_many", 3, 0)],
        *[("open", 0, 1), ("words", 21 / 4, 21 / 3), ("images", 9 / 4, 2), ("two_answers", 0.5, 2 / 3)],
    ],
)
def test_table_3(found, stat, train, dev_and_test):
    assert found[stat, "train", ""] == pytest.approx(train)
    assert found[stat, "dev+test", ""] == pytest.approx(dev_and_test)


def test_the_parts_together(found):
    whole = {stat: value for (stat, part, item), value in found.items() if part == "all" and not item}
    assert whole["questions"] == 7 and whole["unique_questions"] == 5
    assert whole["unique_anonymized_programs"] == 4  # COUNT and COUNT_DOGS are one
    assert whole["two_answers"] == pytest.approx(4 / 7)


def test_table_11_counts_questions_that_have_an_operator(found):
    counts = {item: n for (stat, part, item), n in found.items() if (stat, part) == ("operator", "all")}
    assert counts == {
        **{"Find": 7, "Count": 3, "Unique": 2, "ChooseAttribute": 1, "QueryAttribute": 1},
        **{"Filter": 2, "All": 2, "Scene": 2, "WithRelation": 2, "Exists": 2},
    }


def test_figure_4_leaves_out_true_and_false(found):
    answers = {key[1:]: value for key, value in found.items() if key[0] == "answer"}
    assert {item: n for (part, item), n in answers.items() if part == "train"} == {"2": 2, "3": 1, "red": 1}
    assert {item: n for (part, item), n in answers.items() if part == "dev+test"} == {"red": 1}


def test_figure_5(found):
    assert {key[2]: n for key, n in found.items() if key[:2] == ("images_per_question", "train")} == {
        "2": 3,
        "3": 1,
    }


def test_figure_6_looks_into_quantifiers(found):
    assert found["occurrences_Find", "test", "2"] == 1
    assert found["occurrences_WithRelation", "test", "1"] == 1
    assert found["occurrences_Filter", "train", "0"] == 4


@pytest.mark.parametrize(
    ("answer", "program", "expected"),
    [
        ("true", ALL, "true_false"),
        ("red", CHOOSE, "x_or_y"),
        ("0", COUNT, "how_many"),
        ("red", QUERY, "open"),
    ],
)
def test_kinds_of_questions(answer, program, expected):
    assert kind(answer, program) == expected


def test_an_empty_data_set_has_zeros(tmp_path):
    tables.write(tmp_path / "dataset.parquet", DATASET, [])
    statistics(tmp_path / "dataset.parquet", tmp_path / "statistics.parquet")
    values = tables.read(tmp_path / "statistics.parquet")["value"].to_pylist()
    assert set(values) == {0.0}
