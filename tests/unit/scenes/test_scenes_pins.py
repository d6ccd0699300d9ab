"""The lock file of what was fetched first, and checksums."""

import hashlib

import pytest
from filelock import FileLock

from compvqa.errors import InputError
from compvqa.scenes import pins
from compvqa.scenes.contents import Refused
from compvqa.scenes.pins import check, is_pin, read_lock, record

A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize("pin", [A, A.upper(), "git:" + "0" * 40])
def test_checksums_are_a_sha256_or_an_id_of_git(pin):
    assert is_pin(pin)
    for wrong in (pin[:-1], pin + "0", pin[:-1] + "g", "sha1:" + pin, pin + "\n", "lock"):
        assert not is_pin(wrong)


def test_a_file_is_what_git_says(tmp_path):
    (tmp_path / "x").write_bytes(b"hello\n")  # printf 'hello\n' | git hash-object --stdin
    id_ = "git:ce013625030ba8dba906f756967f9e9ca394464a"
    digest = hashlib.sha256(b"hello\n").hexdigest()
    assert check(tmp_path / "x", id_, None, "u") == check(tmp_path / "x", id_.upper(), digest, "u") == digest
    with pytest.raises(Refused, match=f"not {A} of u"):  # the lock holds as well
        check(tmp_path / "x", id_, A, "u")


def test_what_is_recorded_stays(tmp_path):
    lock = tmp_path / "deep/lock.tsv"
    record(lock, "https://h/b", B)
    record(lock, "https://h/a", A)
    record(lock, "https://h/a", A)
    assert lock.read_text() == f"url\tsha256\nhttps://h/a\t{A}\nhttps://h/b\t{B}\n"
    with pytest.raises(Refused, match="to another process"):
        record(lock, "https://h/a", B)
    assert read_lock(lock) == {"https://h/a": A, "https://h/b": B}


def test_a_lock_file_that_is_held_for_long_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(pins, "WAIT", 0.1)
    with FileLock(tmp_path / ".lock.tsv.lock"), pytest.raises(InputError, match="is held for 0.1 seconds"):
        record(tmp_path / "lock.tsv", "https://h/a", A)


def test_a_lock_file_in_a_folder_that_cannot_be_written_is_only_read(tmp_path):
    record(tmp_path / "file/lock.tsv", "https://h/a", A)
    (tmp_path / "file/.lock.tsv.lock").unlink()
    (tmp_path / "file/.lock.tsv.lock").mkdir()  # root may write anywhere, but not here
    record(tmp_path / "file/lock.tsv", "https://h/a", A)
    with pytest.raises(InputError, match="lock.tsv could not be written .*: make it and its folder writable"):
        record(tmp_path / "file/lock.tsv", "https://h/b", B)


def test_a_broken_lock_file_is_told(tmp_path):
    (tmp_path / "lock.tsv").write_text("url\tsha256\nhttps://h/a\tabc\n")
    with pytest.raises(InputError, match="the sha256 of https://h/a is not 64 hexadecimal digits"):
        record(tmp_path / "lock.tsv", "https://h/b", B)
