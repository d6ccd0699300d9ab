"""A mistake in a file of the user's own is one sentence with its file and line; what it does wrong is a stack trace."""

import subprocess
import sys

import pytest

import compvqa
from compvqa import plugins
from compvqa.errors import InputError
from compvqa.models import declared
from compvqa.models.declared import reads
from compvqa.records import digest
from compvqa.records.digest import code_digest
from compvqa.stages import modules_of

HAS = "from torch import nn\n\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The file of a model of the user's own, ``street.boww``, beside his config."""
    path = tmp_path / "plugins/street/models/boww.py"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(compvqa, "__path__", [*compvqa.__path__, str(tmp_path / "plugins")])
    forget()  # that it was not there, which another test may have asked
    yield path
    forget()
    for name in [name for name in sys.modules if name.startswith("compvqa.street")]:
        del sys.modules[name]


def forget():
    for cached in (reads, declared._source, digest._code, digest._source):
        cached.cache_clear()


def found():
    return plugins.find("compvqa.models", "street.boww", "build", "model")


@pytest.mark.parametrize(
    "asked", [found, lambda: reads("street.boww"), lambda: code_digest("compvqa.street.models.boww")]
)
def test_a_file_that_is_no_python_is_named_with_its_line(module, asked):
    module.write_text(HAS + "def build(:\n")
    with pytest.raises(
        InputError, match=r"boww\.py, line 3, is not valid Python \(invalid syntax\): correct it\.$"
    ) as told:
        asked()
    assert str(told.value).startswith(str(module))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import nosuch", "No module named 'nosuch'"),
        ("from torch import nosuch", "cannot import name 'nosuch' from 'torch'"),
        ("from compvqa.modls.loss import scored", "No module named 'compvqa.modls'"),
    ],
)
def test_an_import_of_what_is_not_there_is_named_with_its_line(module, line, words):
    module.write_text(HAS + line)
    with pytest.raises(InputError, match=r"boww\.py, line 3, imports what is not there \(.*\): correct it") as told:
        found()
    assert words in str(told.value)


def test_what_a_module_does_wrong_keeps_its_stack_trace(module):
    module.write_text("raise ValueError('mine')")
    with pytest.raises(ValueError, match="^mine$"):
        found()


def test_an_import_in_a_function_is_named_when_it_runs(module):
    module.write_text("def build():\n    import nosuch\n")
    with pytest.raises(ImportError) as caught:
        found().build()
    assert str(plugins.of_own_code(caught.value)).startswith(f"{module}, line 2, imports what is not there")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("street.gone", r"plugins/street/models/gone\.py beside your config"),
        ("gone", r"plugins/<yours>/models/gone\.py beside your config and name it <yours>\.gone"),
    ],
)
def test_a_model_that_is_not_there_is_told_where_to_write_it(module, name, place):
    for asked in (lambda: reads(name), lambda: modules_of("train", model=name)):
        with pytest.raises(
            InputError, match=rf"there is no model .*: name another, or write {place} \(docs/adding\.md\)\.$"
        ):
            asked()
    with pytest.raises(InputError, match=r"write plugins/street/properties\.py beside your config"):
        modules_of("split", setup="iid", language="street")


def test_a_mistake_in_an_engine_is_told_by_every_command(tmp_path):
    folder = tmp_path / "street"
    folder.mkdir()
    (folder / "stages.py").write_text("MODULES = {}\n")
    (folder / "cli.py").write_text("import nosuch\n")
    command = [sys.executable, "-m", "compvqa", "schema"]
    done = subprocess.run(
        command, env={"COMPVQA_PLUGINS": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}, capture_output=True
    )
    assert done.stderr.decode() == (
        f"compvqa: {folder / 'cli.py'}, line 1, imports what is not there (No module named 'nosuch'): correct it, or "
        "install what it needs.\n"
    )
