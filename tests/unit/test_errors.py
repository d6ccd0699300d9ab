"""A full disk is one sentence with the file's name, whichever library met it; so is a package that is missing."""

import errno
import json
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import torch
from safetensors.torch import save_file

from compvqa import files, tables
from compvqa.errors import InputError, disk_full
from compvqa.tables import Schema

NUMBERS = Schema("numbers", pa.schema([("n", pa.int64())]), key=("n",))
MANY = np.random.default_rng(0).permutation(1 << 16)


@pytest.fixture
def small_files():
    """No file may grow beyond 64 kB, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def save(path: Path) -> None:
    with tables.replacing(path) as temporary:
        save_file({"w": torch.tensor(MANY)}, temporary)


def save_by_torch(path: Path) -> None:
    with tables.replacing(path) as temporary:
        torch.save(torch.tensor(MANY), temporary)


WRITERS = {
    "table": lambda path: tables.write(path, NUMBERS, pa.table({"n": MANY})),
    "json": lambda path: files.write_json(path, {"text": "x" * (1 << 17)}),
    "weights": save,
    "torch": save_by_torch,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_could_not_be_written_is_named_and_nothing_is_left(tmp_path, small_files, writer):
    with pytest.raises(InputError, match=r"out\.x could not be written: .*; make room and run again\.$"):
        WRITERS[writer](tmp_path / "out.x")
    assert list(tmp_path.iterdir()) == []


def test_what_spills_tells_it_too(tmp_path, small_files):
    connection = duckdb.connect(":memory:", config={"memory_limit": "20MB", "temp_directory": str(tmp_path)})
    with pytest.raises(duckdb.Error) as caught:
        connection.execute("create table t as select random() x, random() y from range(10000000)")
    connection.close()
    assert "could not be written: " in str(disk_full(caught.value))


def test_other_errors_are_not_mistaken_for_it():
    assert disk_full(OSError(errno.EACCES, "Permission denied", "a")) is None
    assert disk_full(ValueError("no room")) is None
    error = OSError(errno.ENOSPC, "No space left on device", "results/a.parquet")
    assert str(disk_full(error)).startswith("results/a.parquet could not be written: no space left on device")


@pytest.mark.parametrize(
    ("package", "told"),
    [("mlcroissant", "compvqa: the package mlcroissant is not installed here"), ("compvqa.publish", "Traceback")],
)
def test_a_package_that_is_missing_is_named_and_a_module_of_ours_is_a_bug(tmp_path, package, told):
    code = f"import sys; sys.modules[{package!r}] = None; from compvqa.cli import main; main()"
    names = ("--questions", "--made", "--split", "--world", "--testbed", "--record", "--sources")
    options = [word for name in names for word in (name, str(tmp_path))]
    done = subprocess.run([sys.executable, "-c", code, "publish-card", str(tmp_path), *options], capture_output=True)
    assert done.returncode == 1 and done.stderr.decode().startswith(told)


def test_a_sentence_is_written_with_its_end_so_that_those_of_two_jobs_do_not_mix():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # keeps apart what is written apart
    with ours, theirs:
        subprocess.run([sys.executable, "-m", "compvqa", "audit"], stderr=theirs)
        told = ours.recv(1 << 16).decode()
    assert told.startswith("compvqa: give one thing to audit") and told.endswith(".\n")


def test_a_command_that_ends_well_leaves_its_output_whole_and_lets_libraries_end():
    code = "import atexit; from compvqa.cli import run; atexit.register(print, 'ended'); run()"
    done = subprocess.run([sys.executable, "-c", code, "schema"], capture_output=True, text=True, check=True)
    *schema, last = done.stdout.splitlines()
    assert last == "ended" and json.loads("\n".join(schema))["properties"] and not done.stderr
