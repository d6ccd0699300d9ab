"""envs/setup.py: what `make` does before it runs anything, with stand-ins for the programs that it calls."""

import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from unit.test_environments import load


@pytest.fixture
def setup(root):
    return load(root / "envs/setup.py", "setup_of_compvqa")


class Uv:
    """An environment in which uv finds only what some of these words are in the arguments of."""

    def __init__(self, *found: str, find_links: str = ""):
        self.found, self.pip_settings = found, {"find-links": find_links}

    def finds(self, *arguments: str) -> bool:
        return any(word in argument for word in self.found for argument in arguments)


@pytest.mark.parametrize(
    ("uv", "wanted", "options", "why"),
    [
        (Uv("--find-links=/wheels", find_links="/wheels"), "auto", "--no-index", "no NVIDIA driver; from a folder"),
        (Uv("--torch-backend=cpu", find_links="/wheels"), "auto", "--torch-backend=cpu", "from PyTorch's index"),
        (Uv(), "auto", None, "PIP_FIND_LINKS can name a folder"),
        (Uv("--torch-backend=cpu"), "cuda", None, "TORCH=cuda asks for it"),
        (Uv("--torch-backend=cpu"), "cpu", "--torch-backend=cpu", "TORCH=cpu asks for it"),
    ],
)
def test_without_a_driver_the_small_build_is_taken_where_there_is_one(setup, monkeypatch, uv, wanted, options, why):
    without_driver(setup, monkeypatch)
    chosen, told = setup.choose_build(uv, "2.0", wanted)
    assert (options in chosen and "torch==2.0+cpu" in chosen) if options else chosen == []
    assert why in told


def without_driver(setup, monkeypatch) -> None:
    monkeypatch.setattr(setup.platform, "system", lambda: "Linux")
    monkeypatch.setattr(setup.shutil, "which", lambda name: None)
    monkeypatch.setattr(setup.Path, "exists", lambda path: False)


@pytest.mark.parametrize(("system", "driver"), [("Darwin", None), ("Linux", "/usr/bin/nvidia-smi")])
def test_with_a_driver_or_without_cuda_the_lock_is_installed_as_it_is(setup, monkeypatch, system, driver):
    monkeypatch.setattr(setup.platform, "system", lambda: system)
    monkeypatch.setattr(setup.shutil, "which", lambda name: driver)
    assert setup.choose_build(Uv("torch"), "2.0", "auto")[0] == []


def test_only_the_cpu_build_will_do_where_it_is_asked_for(setup, monkeypatch):
    without_driver(setup, monkeypatch)
    with pytest.raises(setup.SetupError, match="no CPU build of torch 2.0 is in reach: .* PIP_FIND_LINKS"):
        setup.choose_build(Uv(), "2.0", "cpu")


def test_what_can_not_work_is_one_sentence(setup, monkeypatch, tmp_path):
    with pytest.raises(setup.SetupError, match="TORCH is 'gpu': set it to cpu, cuda or auto"):
        setup.set_up(tmp_path, "gpu")
    usage = namedtuple("usage", "free")(1e9)
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda folder: usage)
    (tmp_path / "there").write_bytes(bytes(10**6))
    with pytest.raises(setup.SetupError, match="needs 2.4 GB more and its disk has 1.0 GB free: .* VENV="):
        setup.require_space(tmp_path, 2.4)
    setup.require_space(tmp_path, 1.0)
    monkeypatch.setattr(setup.sys, "version_info", (3, 10, 4))
    with pytest.raises(setup.SetupError, match="needs Python 3.11 or later, .* PYTHON="):
        setup.set_up(tmp_path, "auto")


def test_a_python_without_ensurepip_is_told_what_to_install(setup, tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess(
        [], 1, "The virtual environment was not created: ensurepip is not available", ""
    )
    monkeypatch.setattr(setup.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(setup.SetupError, match="apt install python3-venv"):
        setup.make_environment(tmp_path / "venv")


def test_a_torch_that_does_not_work_is_told_with_the_way_out(setup, tmp_path, monkeypatch):
    environment = namedtuple("environment", "python folder")(sys.executable, tmp_path)
    monkeypatch.setattr(setup, "TENSOR", "raise OSError('libcudart.so.13: cannot open shared object file')")
    with pytest.raises(setup.SetupError, match="libcudart.so.13.* delete .* TORCH=cpu"):
        setup.check_torch(environment)


def test_what_pip_is_told_is_handed_on_and_the_environment_wins(setup, monkeypatch, tmp_path):
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://a.example/simple\nfind-links = /one\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_FIND_LINKS", "/two /three")
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    found = setup.settings_of_pip(sys.executable)
    assert (found["find-links"], found["index-url"]) == ("/two /three", "https://a.example/simple")
    handed = setup.Environment(Path(sys.executable).parents[1])._environ
    assert handed["UV_DEFAULT_INDEX"] == "https://a.example/simple"
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://b.example/simple")
    handed = setup.Environment(Path(sys.executable).parents[1])._environ
    assert handed["UV_DEFAULT_INDEX"] == "https://b.example/simple"


def test_a_lock_alone_is_installed_into_an_environment_that_is_made_first(setup, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(setup, "make_environment", lambda folder: folder.mkdir() or asked.append(["venv", str(folder)]))
    monkeypatch.setattr(setup.subprocess, "run", lambda command, **_: asked.append(command) or done())
    setup.main([str(tmp_path / "venv"), "--lock", "some.lock"])
    made, *_, last = asked
    assert made == ["venv", str(tmp_path / "venv")]
    assert last[:3] == [str(tmp_path / "venv/bin/uv"), "pip", "install"] and "--require-hashes" in last
    assert last[-2:] == ["--requirements", "some.lock"]


def done() -> subprocess.CompletedProcess:
    return subprocess.CompletedProcess([], 0, "", "")
