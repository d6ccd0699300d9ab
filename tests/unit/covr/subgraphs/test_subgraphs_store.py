"""The DuckDB store keeps to its disk, and leaves none of it behind."""

import subprocess
import sys

import pytest

from compvqa import query
from compvqa.covr.subgraphs.store import StoreSettings, bound_disk, connect, number
from compvqa.errors import InputError

LARGE = "create table large as select hash(range) as a, hash(range + 1) as b from range({rows})"  # 16 bytes a row


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    """No TMPDIR, as on most machines where a stage is run by hand."""
    monkeypatch.delenv("TMPDIR", raising=False)


def bytes_in(folder) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_tables_lie_beside_the_output_until_the_end(tmp_path):
    out = tmp_path / "it's" / "out.parquet"
    with connect(out, StoreSettings(memory_limit="100MB")) as connection:
        connection.execute(LARGE.format(rows=2_000_000))
        assert bytes_in(out.parent) > 16_000_000
        assert number(connection, "select count(*) from large") == 2_000_000
    assert list(out.parent.iterdir()) == []


def test_tables_lie_in_the_jobs_tmpdir_until_the_end(tmp_path, monkeypatch):
    scratch, out = tmp_path / "scratch", tmp_path / "results" / "1-of-2.parquet"
    scratch.mkdir()
    out.parent.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with (
        connect(out, StoreSettings(memory_limit="100MB")) as connection,
        connect(tmp_path / "other" / out.name, StoreSettings(memory_limit="100MB")),  # a file of the same name
    ):
        connection.execute(LARGE.format(rows=2_000_000))
        assert bytes_in(scratch) > 16_000_000 and bytes_in(out.parent) == 0
    assert list(scratch.iterdir()) == []


def test_what_a_query_spills_goes_to_the_jobs_tmpdir(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with query.connect(tmp_path / "results", memory="60MB") as connection:
        connection.execute(LARGE.format(rows=6_000_000))
        assert bytes_in(scratch) > 16_000_000 and bytes_in(tmp_path / "results") == 0
    assert list(scratch.iterdir()) == []


def test_nothing_stays_of_a_run_that_was_killed(tmp_path):
    out = tmp_path / "out.parquet"
    run = f"""
import os, pathlib
from compvqa.covr.subgraphs.store import StoreSettings, connect
with connect(pathlib.Path({str(out)!r}), StoreSettings()) as connection:
    connection.execute("create table half as select 1")
    os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", run], check=False).returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    with connect(out, StoreSettings()) as connection:
        assert number(connection, "select count(*) from duckdb_tables()") == 0
    assert list(tmp_path.iterdir()) == []


def test_tables_and_what_is_spilled_share_the_disk(tmp_path):
    settings = StoreSettings(memory_limit="100MB", max_disk="60MB")
    with connect(tmp_path / "out.parquet", settings) as connection:
        bound_disk(connection, settings)
        connection.execute(LARGE.format(rows=2_000_000))
        bound_disk(connection, settings)
        left = number(
            connection,
            "select parse_formatted_bytes(value) from duckdb_settings() where name = 'max_temp_directory_size'",
        )
        assert 0 < left < 60_000_000 - 2_000_000 * 16
        connection.execute(LARGE.format(rows=4_000_000).replace("large", "larger"))
        with pytest.raises(InputError, match=r"tables are larger than 60MB: raise max_disk\.$"):
            bound_disk(connection, settings)
