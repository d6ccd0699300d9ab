"""Small files that users give: what is wrong with one is told in a sentence; so is a folder that takes no file."""

import os

import pytest

from compvqa.config import load_config
from compvqa.errors import InputError, not_allowed
from compvqa.files import check_writable, read_json, read_yaml
from compvqa.run import parse_settings
from compvqa.settings import Settings

DIGITS = "1" * 5000
ELSEWHERE = os.path.realpath("/proc/self")  # where not even root may write


@pytest.mark.parametrize(
    ("read", "text", "told"),
    [
        (read_json, f'{{"a": {DIGITS}}}', "has a number of too many digits"),
        (read_yaml, f"a: {DIGITS}", "has a number of too many digits"),
        (read_yaml, "a: 2020-02-31", "a date that there is not"),
        (read_json, "[" * 100_000, "has brackets in brackets that are too many to be read"),
        (read_json, '{"a": ', r"is not valid JSON \(line 1"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_file(tmp_path, read, text, told):
    (tmp_path / "given").write_text(text)
    with pytest.raises(InputError, match=rf"given .*{told}.*: correct it\.$"):
        read(tmp_path / "given")


@pytest.mark.parametrize("text", ["seed: 1\nseed: 2\n", "{seed: 1, seed: 2}", "a:\n- b: {seed: 1,\n  seed: 2}\n"])
def test_a_key_that_is_there_twice_in_yaml_is_refused(tmp_path, text):
    (tmp_path / "given").write_text(text)
    with pytest.raises(InputError, match=r"given has seed twice \(lines \d and \d\): remove one\.$"):
        read_yaml(tmp_path / "given")


def test_a_key_beside_those_that_are_merged_in_is_no_second_one(tmp_path):
    (tmp_path / "given").write_text("a: &a {x: 1, y: 1}\nb: &b {<<: *a, x: 2}\nc: {<<: *b, y: 3}\n")
    assert read_yaml(tmp_path / "given")["c"] == {"x": 2, "y": 3}


@pytest.mark.parametrize(("text", "told"), [(f'{{"a": {DIGITS}}}', "too many digits"), ("{1}", "not valid JSON")])
def test_settings_on_the_command_line_that_are_no_json_are_named_with_their_stage(text, told):
    with pytest.raises(InputError, match=f"balance .*{told}"):
        parse_settings(Settings, text, "balance")


def test_a_key_that_is_missing_is_called_so():
    with pytest.raises(InputError, match=r"^config key testbed is missing: add it\.$"):
        load_config({})


def test_a_folder_that_takes_no_file_is_named_by_what_is_there_of_it(tmp_path):
    check_writable(tmp_path / "results/tiny")
    with pytest.raises(InputError, match=rf"^{ELSEWHERE} may not be written to: .* --directory\.$"):
        check_writable(f"{ELSEWHERE}/results/tiny")


@pytest.mark.parametrize("kind", [PermissionError, OSError])
def test_a_file_that_may_not_be_written_is_named(kind):
    told = not_allowed(kind(13, "Permission denied", "results/a.parquet"))
    assert str(told) == "results/a.parquet may not be used so (permission denied): change its permissions."
    assert not_allowed(FileNotFoundError(2, "No such file", "a")) is None
