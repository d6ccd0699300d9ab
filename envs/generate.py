"""Write the locks, from pyproject.toml: `python envs/generate.py lock`.

One resolution by pip gives two files: `requirements.lock` has all that the extra `all` needs, `requirements-dev.lock`
what `dev` adds. Pins of the locks stay unless they are named to be renewed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LOCK, DEV_LOCK = "requirements.lock", "requirements-dev.lock"
HEADERS = {
    LOCK: "# What `make demo` installs. From pyproject.toml's extra `all`, by `make locks`.",
    DEV_LOCK: "# What `make test` installs besides. From pyproject.toml's extra `dev`, by `make locks`.",
}
ACCELERATOR = ("cuda-", "nvidia-", "triton")  # come with torch where its build has them, and are pinned by it


@dataclass(frozen=True)
class Package:
    """A release that pip chose: its name as published, public version and what it requires."""

    name: str
    version: str
    requires: tuple[Requirement, ...]


def pins(path: Path) -> dict[str, str]:
    """The versions of a lock by canonical name."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonical(name): version for name, version in pairs}


def resolve(kept: Iterable[str]) -> tuple[dict[str, Package], dict[str, str]]:
    """All packages that the extras `all` and `dev` need, by pip; and the markers' environment that it resolved for.

    kept: pins (`name==version`) that must hold.
    """
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder, "constraints.txt"), Path(folder, "report.json")
        constraints.write_text("\n".join(kept), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        subprocess.run([*pip, "--report", report, "--constraint", constraints, f"{ROOT}[all,dev]"], check=True)
        resolved = json.loads(report.read_text(encoding="utf-8"))
    packages = {}
    for item in resolved["install"]:
        data = item["metadata"]
        requires = tuple(Requirement(text) for text in data.get("requires_dist", []))
        packages[canonical(data["name"])] = Package(data["name"], Version(data["version"]).public, requires)
    return packages, resolved["environment"]


def needed(packages: dict[str, Package], environment: dict[str, str], extra: str) -> set[str]:
    """The canonical names of all that an extra of the project needs, itself left out."""
    found: set[tuple[str, str]] = set()
    waiting = [("compvqa", ""), ("compvqa", extra)]
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in found:
            continue
        found.add((name, wanted))
        for requirement in packages[name].requires:
            if requirement.marker is None or requirement.marker.evaluate({**environment, "extra": wanted}):
                waiting += [(canonical(requirement.name), chosen) for chosen in ("", *requirement.extras)]
    return {name for name, _ in found} - {"compvqa"}


def write_locks(renewed: Iterable[str]) -> None:
    """Resolve and write both locks. renewed: packages whose pins may change."""
    old = {name: version for file in HEADERS if (ROOT / file).exists() for name, version in pins(ROOT / file).items()}
    free = {canonical(name) for name in renewed}
    packages, environment = resolve(f"{name}=={version}" for name, version in old.items() if name not in free)
    core = needed(packages, environment, "all")
    for file, names in {LOCK: core, DEV_LOCK: needed(packages, environment, "dev") - core}.items():
        chosen = [packages[name] for name in names if not name.startswith(ACCELERATOR)]
        lines = sorted((f"{package.name}=={package.version}" for package in chosen), key=str.lower)
        (ROOT / file).write_text("\n".join([HEADERS[file], *lines, ""]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    lock = commands.add_parser("lock", help="resolve pyproject.toml's extras and write the locks")
    lock.add_argument("--renew", nargs="*", default=[], metavar="NAME", help="packages whose pins may change")
    write_locks(parser.parse_args().renew)


if __name__ == "__main__":
    main()
