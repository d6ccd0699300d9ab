"""Conda environments, locks and images name the same versions, and all of them what pyproject.toml asks for."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical
from spython.main.parse.parsers import SingularityParser

from fixtures.definitions import sections

IMAGES = ("cpu", "gpu", "neo4j")
FAMILIES = {
    "data": {"graph"},
    "models": {"models"},
    "publish": {"publish"},
    "blender": {"blender"},
    "inspect": {"inspect"},
}
OWN_LOCKS = ("blender", "inspect")  # of extras that ``all`` leaves out
LOCKS = ("requirements.lock", "requirements-dev.lock", *(f"requirements-{extra}.lock" for extra in OWN_LOCKS))
SHOWN = ("header", "labels", "help", "files", "environment", "post", "test", "runscript")


def load(path, name: str):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def pinned(path) -> dict[str, str]:
    """The pins of a file of requirements, whatever the platform."""
    found = re.findall(r"^([\w.-]+)==(\S+)", path.read_text(), re.MULTILINE)
    return {canonical(name): version for name, version in found}


@pytest.fixture(scope="module")
def lock(root) -> dict[str, str]:
    """The pins of the demo's lock."""
    return pinned(root / "requirements.lock")


@pytest.fixture(scope="module")
def asked(root) -> dict[str, list[Requirement]]:
    """What pyproject.toml asks for: by extra, and as `core`."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    named = project["optional-dependencies"] | {"core": project["dependencies"]}
    return {extra: [Requirement(text) for text in texts] for extra, texts in named.items()}


def test_what_is_generated_is_up_to_date(root):
    for path, text in load(root / "envs/generate.py", "generate").generated().items():
        assert (root / path).read_text() == text, f"{path} is not what pyproject.toml and the lock say: run `make envs`"


def test_the_locks_hold_what_is_asked_for_and_agree(root, lock, asked):
    more = pinned(root / "requirements-dev.lock")
    assert lock.items() <= more.items()
    own = {extra: pinned(root / f"requirements-{extra}.lock") for extra in OWN_LOCKS}
    assert all(lock.keys() - pins.keys() for pins in own.values()) and own["blender"]["bpy"].startswith("5.")
    assert not {"bpy", "inspect-ai"} & more.keys()
    for extra in set(asked) - {"all"}:
        for requirement in asked[extra]:
            version = {"dev": more, **own}.get(extra, lock)[canonical(requirement.name)]
            assert requirement.specifier.contains(version), f"{requirement} is locked as {version}"


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_of_a_lock_has_hashes_and_what_requires_it(root, name):
    text = (root / name).read_text()
    for block in re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block and "# via" in block, block
    assert "://" not in text and "/" not in re.sub(r"#.*", "", text), "a lock names no index and no path"


@pytest.mark.parametrize("name", LOCKS)
def test_resolved_anew_from_the_index_alone_a_lock_has_no_package_more_or_less(root, tmp_path, name, monkeypatch):
    generate = load(root / "envs/generate.py", "generate")
    for file in ("pyproject.toml", name):
        shutil.copy(root / file, tmp_path)
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    try:
        generate.resolve(tmp_path / name, generate.LOCKS[name])
    except subprocess.CalledProcessError as error:
        if "client error (Connect)" in error.stderr or "dns error" in error.stderr:
            pytest.skip("needs the package index, which is out of reach")
        raise AssertionError(error.stderr) from None
    # packages, versions, markers and what requires them; a release may get more files, and so more hashes
    assert generate.read_lock(tmp_path / name) == generate.read_lock(root / name)


# connection-pool and jsonpath-rw are published as sources alone, immutables has no wheel for 3.14 yet
SOURCES = ("connection-pool", "jsonpath-rw", "immutables")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("platform", ["x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "macos"])
def test_one_lock_installs_on_every_python_and_platform(root, tmp_path, version, platform):
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--dry-run", "--no-config", "--target", tmp_path, "--python-version", version]
    command += ["--python-platform", platform, "--only-binary", ":all:"]
    command += [option for name in SOURCES for option in ("--no-binary", name)]
    # without --no-deps: uv refuses what a package requires and the lock does not name with a hash
    command += ["--require-hashes", "--requirements", root / "requirements.lock"]
    environment = os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"}  # the oldest that PyTorch has wheels for
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if "client error (Connect)" in done.stderr or "dns error" in done.stderr:
        pytest.skip("needs the package index, which is out of reach")
    assert done.returncode == 0 and "Would install" in done.stderr, done.stderr


@pytest.mark.parametrize("family", FAMILIES)
def test_a_conda_environment_pins_what_its_family_asks_for_as_the_lock_does(root, lock, asked, family):
    lock = pinned(root / f"requirements-{family}.lock") if family in OWN_LOCKS else lock
    given = yaml.safe_load((root / f"envs/{family}.yaml").read_text())["dependencies"]
    by_pip = next((item["pip"] for item in given if isinstance(item, dict)), [])
    pins = dict(text.split("==") for text in [item for item in given if "==" in item] + by_pip)
    called = {"python-duckdb": "duckdb", "matplotlib-base": "matplotlib", "pytorch": "torch"}
    pins = {canonical(called.get(name, name)): version for name, version in pins.items()}
    wanted = {canonical(r.name) for extra in {"core", *FAMILIES[family]} for r in asked[extra]}
    assert wanted <= pins.keys()
    assert {name: lock[name] for name in pins} == pins
    assert [item for item in given if isinstance(item, str) and "==" not in item] == ["python=3.11", "pip"]


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_installs_all_that_its_packages_require(root, lock, image):
    """As the packages installed here say themselves; CUDA's libraries are for the image with a GPU alone."""
    path = root / f"containers/requirements-{image}.txt"
    pins = pinned(path)
    assert pins.items() <= lock.items()
    required = set()
    cuda = {name for name in lock if name.startswith(("nvidia-", "cuda-", "triton"))}
    lines = [Requirement(line) for line in path.read_text().splitlines() if not line.startswith("#")]
    for name in {r.name for r in lines if not r.marker or r.marker.evaluate()} - cuda:
        try:
            texts = requires(name) or []
        except PackageNotFoundError:
            pytest.skip(f"needs {name}, which is locked, but not installed here")
        found = (Requirement(text) for text in texts)
        required |= {canonical(r.name) for r in found if not r.marker or r.marker.evaluate({"extra": ""})}
    assert not required - pins.keys() - (set() if image == "gpu" else cuda)
    assert len(cuda) > 15 and cuda & pins.keys() == (cuda if image == "gpu" else set())


@pytest.mark.parametrize("image", IMAGES)
def test_a_definition_is_parsed_by_spython_and_tells_what_it_installs(root, image):
    path = root / f"containers/{image}.def"
    stage = SingularityParser(str(path)).parse()
    recipe = list(stage.values())[-1]
    parts = sections(path)
    assert set(SHOWN) <= parts.keys() and "From: debian:bookworm-slim" in parts["header"]
    assert recipe.install and recipe.test and recipe.environ and recipe.cmd == 'exec "$@"'
    labels = dict(line.strip().split(" ", 1) for line in parts["labels"].splitlines() if line.strip())
    installed = (root / f"containers/requirements-{image}.txt").read_bytes()
    assert labels["requirements.sha256"] == hashlib.sha256(installed).hexdigest()
    assert labels["org.opencontainers.image.base.name"] == "debian:bookworm-slim"
    brought = [line.split()[0] for line in parts["files"].splitlines() if line.strip()]
    assert f"containers/requirements-{image}.txt" in brought and all((root / name).is_file() for name in brought)


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("section", ["post", "test", "environment"])
def test_the_scripts_of_a_definition_are_sound_shell(root, image, section):
    script = sections(root / f"containers/{image}.def")[section]
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)


def test_every_rule_that_runs_a_command_has_an_environment_and_an_image(root):
    rules = 0
    for path in sorted((root / "rules").rglob("*.smk")):
        for text in re.split(r"^ *(?=rule\b)", path.read_text(), flags=re.MULTILINE)[1:]:
            if "shell:" not in text:
                continue
            rules += 1
            name = f"{path.name}: {text.split(':')[0]}"
            conda = re.search(r"^ +conda:\n +(.+)$", text, re.MULTILINE)
            container = re.search(r"^ +container:\n +CONTAINERS\[(.+)\]$", text, re.MULTILINE)
            assert conda and container, f"{name} has no conda or no container"
            if family := re.fullmatch(r'"((?:\.\./)+envs/(\w+)\.yaml)"', conda[1]):
                assert (path.parent / family[1]).resolve() == root / f"envs/{family[2]}.yaml", name
                assert (root / f"envs/{family[2]}.yaml").is_file(), name
                assert container[1] in (f'"{family[2]}"', '"graph"'), f"{name} has an image of another family"
            else:
                assert conda[1].replace("'", '"').endswith(f'../envs/{{{container[1]}}}.yaml"'), name
    assert rules > 30


def test_a_definitions_check_names_what_is_not_as_pinned(root, tmp_path):
    check = load(root / "containers/check.py", "check")
    given = tmp_path / "requirements.txt"
    given.write_text("# A comment.\npackaging==0.1\nno-such-package==2.0\nelsewhere==1 ; sys_platform == 'win32'\n")
    assert [found.split(" is ")[0] for found in check.differing(given)] == ["packaging", "no-such-package"]
    assert check.differing(given)[1] == "no-such-package is missing, not 2.0"
