"""A download's content against the kind that its name says."""

import io
import pickle
import zipfile
from pathlib import Path

import pytest

from compvqa.scenes.contents import Refused, check_kind

URL = "https://h/x"
ZIP = io.BytesIO()
with zipfile.ZipFile(ZIP, "w") as archive:
    archive.writestr(zipfile.ZipInfo("data.pkl"), b"")
GOOD = {
    "train.json": [b'{"a": [1]}', b"\xef\xbb\xbf [1, 2]\n", b"{}"],
    "names.txt": [b"cat,1\n", "na\u00efve\n".encode()],
    "words.yaml": [b"a: [b]\n"],
    "boxes.tsv": [b"1\t2\n"],
    "features.h5": [b"\x89HDF\r\n\x1a\n\0\0"],
    "model.bin": [pickle.dumps({}, protocol=2), ZIP.getvalue()],
    "data": [b"anything"],
}
BAD = {
    "train.json": [b"cat", b"", b"\0\0", b'{"a": [1]', b'{"a": 1} more', b'"a"', b"{'a': 1}", b"<HTML>{}", b"[\xff]"],
    "names.txt": [b"", b"a\0b", b"caf\xe9", b"caf\xc3", b"\xef\xbb\xbf<!doctype html>", b"  <html lang=en>"],
    "words.yaml": [b"<!DOCTYPE html>\n"],
    "features.h5": [b"HDF", b'{"error": "quota"}'],
    "model.bin": [b"<html>", b"version https://git-lfs.github.com/spec/v1\n"],
    "data": [b"", b"\n<html>"],
}


@pytest.mark.parametrize(("name", "content"), [(name, content) for name, many in GOOD.items() for content in many])
def test_what_its_name_says_is_accepted(tmp_path, name, content):
    path = tmp_path / "x.part"
    path.write_bytes(content)
    check_kind(path, Path(name), URL)


@pytest.mark.parametrize(("name", "content"), [(name, content) for name, many in BAD.items() for content in many])
def test_what_is_something_else_is_refused_in_a_part_of_one_sentence(tmp_path, name, content):
    path = tmp_path / "x.part"
    path.write_bytes(content)
    with pytest.raises(Refused, match="^[^\n]*x.part [^\n.]") as refused:
        check_kind(path, Path(name), URL)
    assert not str(refused.value).endswith(".")
    assert bool(refused.value.advice) == (b"html" in content.lower())


def test_of_an_archive_only_a_page_is_told_here(tmp_path):
    path = tmp_path / "x.part"
    path.write_bytes(ZIP.getvalue())
    check_kind(path, Path("train.json"), URL, archive=True)
    path.write_bytes(b"<html>")
    with pytest.raises(Refused, match="a web page"):
        check_kind(path, Path("train.json"), URL, archive=True)


def test_a_letter_may_lie_across_two_blocks(tmp_path):
    path = tmp_path / "x.part"
    path.write_bytes(b"a" * ((1 << 20) - 1) + "é".encode())
    check_kind(path, Path("names.txt"), URL)
