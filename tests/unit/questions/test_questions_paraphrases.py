"""People's paraphrases, from a file to a table."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.questions.paraphrases import read_paraphrases
from compvqa.questions.tables import PARAPHRASES


@pytest.fixture
def read(tmp_path):
    """Reads the lines of a CSV file of paraphrases of the questions q0 to q3; gives the rows and the counts."""
    pq.write_table(pa.table({"question_id": [f"q{n}" for n in range(4)]}), tmp_path / "dataset.parquet")

    def work(*lines):
        (tmp_path / "own.csv").write_text("\n".join(["question_id,text,worker", *lines]))
        counts = read_paraphrases(tmp_path / "own.csv", tmp_path / "dataset.parquet", tmp_path / "out.parquet")
        return tables.read(tmp_path / "out.parquet", PARAPHRASES).to_pylist(), counts

    return work


def test_texts_are_kept_by_question(read):
    rows, counts = read('q2," Are all dogs, big and small, black? ",w1', "q0,How many?,w2")
    assert rows == [
        {"question_id": "q0", "text": "How many?"},
        {"question_id": "q2", "text": "Are all dogs, big and small, black?"},
    ]
    assert (counts["in"], counts["out"]) == (2, 2)


def test_what_is_not_written_yet_or_of_other_questions_is_counted(read):
    rows, counts = read("q0,How many?,w", "q1,,", "q2, ,w", "gone,Who?,w")
    assert [row["question_id"] for row in rows] == ["q0"]
    assert counts == {"in": 4, "out": 1, "dropped: not written yet": 2, "dropped: no such question": 1}


def test_a_file_in_which_nothing_is_written_yet_is_an_empty_table(read):
    assert read("q0,,", "q1,,")[0] == []


def test_two_paraphrases_of_a_question_are_refused(read):
    with pytest.raises(InputError, match="line 3: question q0 has another paraphrase already; keep one"):
        read("q0,How many?,w1", "q0,What number?,w2")


def test_a_file_about_another_dataset_is_refused(read):
    with pytest.raises(InputError, match=r"paraphrases no question of .* \(its first is gone\)"):
        read("gone,How many?,w", "away,Who?,w")
