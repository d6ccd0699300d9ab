"""Tables are sorted, checked, atomic, and equal recipes give equal bytes."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.errors import InputError
from compvqa.tables import Schema

PAIRS = Schema("pairs", pa.schema([("a", pa.string()), ("b", pa.int64()), ("c", pa.string())]), key=("a", "b"))

rows = st.lists(
    st.fixed_dictionaries({"a": st.text(max_size=3), "b": st.integers(-3, 3), "c": st.text(max_size=3)}),
    unique_by=lambda row: (row["a"], row["b"]),
)


@given(rows, st.randoms())
def test_bytes_do_not_depend_on_the_order_of_rows(tmp_path_factory, data, random):
    folder = tmp_path_factory.mktemp("tables")
    shuffled = list(data)
    random.shuffle(shuffled)
    with tables.recipe("r1"):
        tables.write(folder / "one.parquet", PAIRS, data)
        tables.write(folder / "two.parquet", PAIRS, PAIRS.from_rows(shuffled))
    assert (folder / "one.parquet").read_bytes() == (folder / "two.parquet").read_bytes()
    assert tables.recipe_of(folder / "one.parquet") == "r1"
    back = tables.read(folder / "one.parquet", PAIRS).to_pylist()
    assert back == sorted(data, key=lambda row: (row["a"].encode(), row["b"]))


def test_a_repeated_key_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="unique key"):
        tables.write(tmp_path / "x.parquet", PAIRS, [{"a": "x", "b": 1, "c": ""}, {"a": "x", "b": 1, "c": "y"}])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("order", [([1], [2], True), ([2], [1], False), ([1, 1], [2], False), ([1], [1, 2], False)])
def test_streamed_batches_must_come_in_order(tmp_path, order):
    *batches, good = order
    stream = pa.RecordBatchReader.from_batches(
        PAIRS.fields,
        [
            pa.RecordBatch.from_pylist([{"a": "x", "b": b, "c": ""} for b in batch], schema=PAIRS.fields)
            for batch in batches
        ],
    )
    if good:
        assert tables.write(tmp_path / "x.parquet", PAIRS, stream) == 2
    else:
        with pytest.raises(ValueError, match="not sorted"):
            tables.write(tmp_path / "x.parquet", PAIRS, stream)


@settings(max_examples=25)
@given(
    st.lists(st.text("ab", max_size=3), min_size=1, unique=True), st.lists(st.text("ab", max_size=3)), st.integers(1, 5)
)
def test_rows_of_keys_are_read_of_row_groups_that_may_have_them(tmp_path_factory, names, wanted, size):
    path = tmp_path_factory.mktemp("tables") / "x.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "ROW_GROUP", size)
        tables.write(path, PAIRS, [{"a": name, "b": b, "c": ""} for name in names for b in (1, 2)])
        whole, opened = tables.read(path, PAIRS).to_pylist(), []
        read = pq.ParquetFile.read_row_group
        patch.setattr(pq.ParquetFile, "read_row_group", lambda file, n: opened.append(n) or read(file, n))
        assert tables.read_keys(path, PAIRS, wanted).to_pylist() == [row for row in whole if row["a"] in wanted]
    groups = [{row["a"] for row in whole[start : start + size]} for start in range(0, len(whole), size)]
    assert opened == [n for n, has in enumerate(groups) if any(min(has) <= name <= max(has) for name in wanted)]


def test_a_folder_is_no_file_to_write_and_a_file_no_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for path, words in (("folder", "folder is a folder: name a file to write"), ("file/a", "file is no folder")):
        with pytest.raises(InputError, match=words), tables.replacing(tmp_path / path) as temporary:
            temporary.write_text("a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_rows_become_tables_without_pandas_which_is_still_there_to_be_asked():
    code = """if True:
        import sys
        import pyarrow as pa
        from compvqa.tables import Schema
        table = Schema("t", pa.schema([("a", pa.float64()), ("b", pa.list_(pa.string()))]), ("a",)).from_rows(
            [{"a": 1.5, "b": ["x"]}, {"a": None, "b": None}])
        assert table.to_pylist() == [{"a": 1.5, "b": ["x"]}, {"a": None, "b": None}] and "pandas" not in sys.modules
        frame = table.to_pandas()
        assert frame["a"].sum() == 1.5 and pa.Table.from_pandas(frame)["a"].to_pylist() == [1.5, None]
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reading_says_in_one_sentence_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        tables.read(tmp_path / "none.parquet", PAIRS)
    (tmp_path / "bad.parquet").write_text("no parquet")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        tables.read(tmp_path / "bad.parquet", PAIRS)
    (tmp_path / "cut.parquet").write_bytes(b"PAR1" + b"\x00" * 40 + b"PAR1")
    with pytest.raises(InputError, match="cut.parquet is not a readable Parquet file .* or correct the path"):
        tables.recipe_of(tmp_path / "cut.parquet")
    (tmp_path / "cut.parquet.prov.json").touch()  # a file of ours
    with pytest.raises(InputError, match="cut.parquet is not a readable Parquet file .* delete it and run again"):
        tables.recipe_of(tmp_path / "cut.parquet")
    other = Schema("other", pa.schema([("a", pa.string())]), key=("a",))
    tables.write(tmp_path / "other.parquet", other, [{"a": "x"}])
    with pytest.raises(InputError, match="lacks the column b"):
        tables.read(tmp_path / "other.parquet", PAIRS)
