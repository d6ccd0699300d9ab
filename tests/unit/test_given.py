"""Tables of users: one content in three formats, and what is wrong with them."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.given import read_given

COLUMNS = ("question_id", "answer")
WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8)


def rows_of(path) -> list[tuple[str, ...]]:
    return [values for _, values in read_given(path, COLUMNS)]


@given(st.lists(st.tuples(WORDS, WORDS), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_formats_say_the_same(tmp_path, rows):
    """Commas, quotes, blanks and other columns change nothing."""
    named = [{"other": 1, "answer": answer, "question_id": name} for name, answer in rows]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ("other", "answer", "question_id"))
        writer.writeheader()
        writer.writerows(named)
    lines = "".join(json.dumps(row) + "\n" for row in named)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    fields = pa.schema([("other", pa.int64()), ("answer", pa.string()), ("question_id", pa.string())])
    pq.write_table(pa.Table.from_pylist(named, fields), tmp_path / "a.parquet")
    for ending in ("csv", "jsonl", "parquet"):
        assert rows_of(tmp_path / f"a.{ending}") == rows


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (3, "3"), (3.0, "3"), (None, ""), ("Red", "Red")]
)
def test_truths_and_numbers_are_answers_too(tmp_path, value, text):
    (tmp_path / "a.jsonl").write_text(json.dumps({"question_id": "q", "answer": value}) + "\n\n")
    pq.write_table(pa.table({"question_id": ["q"], "answer": [value]}), tmp_path / "a.parquet")
    assert rows_of(tmp_path / "a.jsonl") == rows_of(tmp_path / "a.parquet") == [("q", text)]


def test_a_long_reply_is_read(tmp_path):
    (tmp_path / "a.csv").write_text(f"question_id,answer\nq,{'so ' * 100_000}\n")
    assert rows_of(tmp_path / "a.csv") == [("q", "so " * 100_000)]


def test_a_damaged_parquet_file_is_told_as_one(tmp_path):
    pq.write_table(pa.table({"question_id": ["q"] * 9, "answer": list("abcdefghi")}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:4] + bytes(60) + whole[64:])
    with pytest.raises(InputError, match="a.parquet is no readable Parquet file"):
        rows_of(tmp_path / "a.parquet")


def test_a_number_that_is_none_is_empty(tmp_path):
    pq.write_table(pa.table({"question_id": ["q"], "answer": [float("nan")]}), tmp_path / "a.parquet")
    assert rows_of(tmp_path / "a.parquet") == [("q", "")]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", b"question_id,answer\n", "must end in .csv, .tsv, .jsonl or .parquet"),
        ("a.csv", b"question_id,said\nq,red\n", "a.csv lacks the column answer"),
        ("a.csv", b"", "a.csv lacks the column question_id"),
        ("a.jsonl", b'{"question_id": ' + b"1" * 5000, "line 1 has a number of too many digits"),
        ("a.csv", b"question_id,answer\nq,red,blue\n", "line 2: too many fields"),
        ("a.csv", b"question_id,answer\n" + 9000 * b"q,red\n" + b"q\xff,red\n", "line 9002, is not UTF-8"),
        ("a.csv", b'question_id,answer\nq,"red\nr,blue\ns,green\n', "line 2: this is no CSV .*; correct its quotes"),
        ("a.jsonl", b"[" * 100_000, "line 1 has brackets in brackets"),
        ("a.jsonl", b'{"question_id": "q", "answer": "\\ud83d"}\n', r"line 1: '\\ud83d' has half of a character"),
        ("a.jsonl", b'{"question_id": "q", "answer": "red"}\n{"question_id"', "line 2: this is no JSON"),
        ("a.jsonl", b'{"question_id": "q"}\n', "line 1 lacks the column answer"),
        ("a.jsonl", b'["q", "red"]\n', "line 1: this is no object"),
        ("a.jsonl", b'{"question_id": "q", "answer": ["red"]}\n', "line 1: .* is neither text nor a number"),
        ("a.parquet", b"PAR0", "no readable Parquet file"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words) as told:
        rows_of(tmp_path / name)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_missing_file_and_a_missing_column_are_named(tmp_path, ending):
    with pytest.raises(InputError, match=f"gone.{ending} cannot be opened"):
        rows_of(tmp_path / f"gone.{ending}")
    pq.write_table(pa.table({"question_id": ["q"]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="lacks the column answer"):
        rows_of(tmp_path / "a.parquet")
