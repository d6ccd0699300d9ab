"""The digest follows code and imports, and nothing else."""

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import compvqa
from compvqa.records import digest
from compvqa.records.digest import closure, code_digest

CODE = "import os\n\n\ndef f(x):\n    return x + 1\n"


def canonical(source: str) -> list[str]:
    return digest._canonical(ast.parse(source), [])


@pytest.mark.parametrize(
    "same",
    [
        CODE + "# a comment\n",
        CODE.replace("import os", '"""A docstring."""\nimport os'),
        CODE.replace("    return", '    """Says what f does."""\n    return'),
        CODE.replace("x + 1", "(x\n        + 1)"),
    ],
)
def test_comments_docstrings_and_formatting_do_not_count(same):
    assert canonical(same) == canonical(CODE)


@pytest.mark.parametrize("other", [CODE.replace("1", "2"), CODE.replace("1", "1.0"), CODE.replace("f(x)", "f(x, y=0)")])
def test_code_counts(other):
    assert canonical(other) != canonical(CODE)


def test_a_module_brings_what_it_imports_and_no_more():
    modules = closure("compvqa.tables")
    assert modules == {"compvqa", "compvqa.errors", "compvqa.tables"}


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    """A package of its own: a imports b, and c nothing."""
    folder = tmp_path / "compvqa"
    folder.mkdir()
    for name, text in {"__init__": "", "a": "from compvqa import b", "b": "X = 1", "c": "Y = 1"}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(digest, "_ROOT", tmp_path)
    monkeypatch.setattr(compvqa, "__path__", [str(tmp_path / "compvqa")])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield folder
    forget()


def forget() -> None:
    """As in a new process: only what is kept on disk is known."""
    for cached in (digest._source, digest._code, digest._kept):
        cached.cache_clear()


def digests() -> list[str]:
    forget()
    return [code_digest(f"compvqa.{name}") for name in "abc"]


def test_an_edit_changes_the_digest_of_those_who_import_it(package):
    before = digests()
    (package / "b.py").write_text("X = 2")
    after = digests()
    (package / "c.json").write_text("{}")
    with_data = digests()
    assert [x != y for x, y in zip(before, after, strict=True)] == [True, True, False]
    assert [x != y for x, y in zip(after, with_data, strict=True)] == [False, False, True]


def test_a_module_whose_bytes_are_as_before_is_not_parsed_again(package, monkeypatch):
    before = digests()
    parsed = []
    monkeypatch.setattr(digest.ast, "parse", lambda source: parsed.append(source) or ast.Module([], []))
    (package / "b.py").touch()
    assert digests() == before and parsed == []
    (package / "b.py").write_text("X = 2")
    digests()
    assert parsed == [b"X = 2"]
    digests()
    assert len(parsed) == 1


@pytest.mark.parametrize("damaged", ["", "{", "[]", '{"compvqa.a": 1}', '{"compvqa.a": ["x"]}', "\0"])
def test_a_damaged_cache_or_one_that_cannot_be_written_changes_nothing(package, monkeypatch, damaged):
    before = digests()
    (kept,) = (package / "__pycache__").iterdir()
    kept.write_text(damaged)
    assert digests() == before
    assert kept.read_text() != damaged and list(kept.parent.iterdir()) == [kept]
    shutil.rmtree(kept.parent)
    kept.parent.write_text("no folder")
    assert digests() == before


def test_a_module_that_comes_later_counts_though_those_that_import_it_are_known(package):
    (package / "c.py").write_text("from compvqa import d")
    before = digests()
    (package / "d.py").write_text("X = 1")
    assert [x != y for x, y in zip(before, digests(), strict=True)] == [False, False, True]


def test_an_unknown_module_is_an_error():
    with pytest.raises(ModuleNotFoundError, match="compvqa.nothing"):
        code_digest("compvqa.nothing")


def test_every_command_has_its_code_among_the_params_of_its_rule_but_those_that_fetch(root):
    rules = 0
    for path in sorted((root / "rules").rglob("*.smk")):
        for text in re.split(r"^ *(?=(?:use )?rule\b)", path.read_text(), flags=re.MULTILINE)[1:]:
            if "shell:" in text or "params:" in text:
                rules += 1
                params = text.partition("    params:\n")[2].partition("    shell:\n")[0]
                coded = re.search(r"^ +code=(code_of|stage_code|lambda|presence_code)", params, re.MULTILINE)
                assert bool(coded) != (path.name == "download.smk"), text[:60]
    assert rules > 40
