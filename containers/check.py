"""Run in an image, at the end of its build: what was pinned is installed, and what is installed fits together."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement


def differing(requirements: Path) -> list[str]:
    """The pins that the installed versions differ from; a build's own suffix (`+cpu`) does not count."""
    wrong = []
    for line in requirements.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate():
            continue
        name, pinned = requirement.name, str(requirement.specifier).removeprefix("==")
        try:
            installed = version(name).partition("+")[0]
        except PackageNotFoundError:
            installed = "missing"
        if installed != pinned:
            wrong.append(f"{name} is {installed}, not {pinned}")
    return wrong


if __name__ == "__main__":
    if found := differing(Path(sys.argv[1])):
        sys.exit("; ".join(found))
    sys.exit(subprocess.run([sys.executable, "-m", "pip", "check"]).returncode)
