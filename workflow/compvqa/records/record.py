"""Recipes and records: what an output was made from, and the facts of the run that made it.

The *recipe id* hashes what determines an output's bytes: the stage, its code, its settings, the seed, the
recipe ids of the tables that it reads and the sha256 of its other inputs. It does not hash how work was cut:
all shards of a stage share one recipe, so that a gathered table is the same for any number of shards.
The facts of the run (times, versions, counts, sha256 of inputs and outputs) go to ``<output>.prov.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from compvqa import tables

ROOT = Path(__file__).resolve().parents[3]  # of the project
SUFFIX = ".prov.json"
PROJECT = "project:"  # before the path of a file of the project itself: a template, a definition
PACKAGES = ("compvqa", "duckdb", "numpy", "pandas", "pyarrow", "torch", "transformers", "snakemake")


def recipe_id(stage: str, code: str, settings: object, seed: int | None, inputs: Iterable[Path]) -> str:
    """The recipe id (24 hex digits) of a run; ``inputs`` in any order, folders by all the files in them."""
    return hashed_recipe(stage, code, settings, seed, (fingerprint(path) for path in inputs))


def hashed_recipe(stage: str, code: str, settings: object, seed: int | None, fingerprints: Iterable[str]) -> str:
    """The recipe id of a run from what stands for each of its inputs (:func:`fingerprint`)."""
    text = json.dumps([stage, code, settings, seed, sorted(set(fingerprints))], sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def fingerprint(path: Path) -> str:
    """What stands for an input in a recipe: a table's own recipe id, or else the file's sha256."""
    if path.suffix == ".parquet":
        recipe = tables.recipe_of(path)
        if recipe:
            return f"recipe:{recipe}"
    return f"sha256:{sha256(path)}"


def sha256(path: Path) -> str:
    """The sha256 of a file in hex, read in pieces, and only once while the file stays as it is."""
    now = path.stat()
    return _sha256(path, now.st_ino, now.st_size, now.st_mtime_ns)


@lru_cache(maxsize=1 << 17)
def _sha256(path: Path, *_as_it_is: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files among ``paths``, sorted; of a folder the files in it, but for records and hidden files."""
    found: set[Path] = set()
    for path in paths:
        if path.is_dir():
            inside = (p for p in path.rglob("*") if p.is_file())
            found.update(p for p in inside if not p.name.endswith(SUFFIX) and not p.name.startswith("."))
        else:
            found.add(path)
    return sorted(found)


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that results may depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def write(
    path: Path,
    *,
    stage: str,
    recipe: str,
    code: str,
    modules: Iterable[str],
    settings: object,
    seed: int | None,
    inputs: Iterable[Path],
    outputs: Iterable[Path],
    counts: dict[str, int],
    facts: dict[str, str],
    started: datetime,
) -> None:
    """Write the record of one run as JSON. Paths are as given (relative in a workflow), never absolute.

    ``modules`` are those whose digest ``code`` is: by them it can be told later whether the code has changed.
    """
    record = {
        "stage": stage,
        "recipe": recipe,
        "code": code,
        "modules": sorted(modules),
        "settings": settings,
        "seed": seed,
        "inputs": [_told(p) for p in files_of(inputs)],
        "outputs": [_told(p) for p in files_of(outputs)],
        "counts": counts,
        "facts": facts,
        "versions": versions(),
        "host": f"{platform.system()} {platform.machine()}",
        "job": os.environ.get("SLURM_JOB_ID"),
        "started": started.isoformat(timespec="seconds"),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with tables.replacing(path) as temporary:
        temporary.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _told(path: Path) -> dict[str, object]:
    return {"path": shown(path), "sha256": sha256(path), "bytes": path.stat().st_size}


def shown(path: Path) -> str:
    """How a record names a file: as given; an absolute one by its place in the project, or else by its name."""
    if not path.is_absolute():
        return path.as_posix()
    return PROJECT + path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def without_folders(value: Any) -> Any:
    """``value`` with each absolute path in it cut to its name."""
    if isinstance(value, dict):
        return {key: without_folders(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_folders(item) for item in value]
    if isinstance(value, str) and (PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()):
        return PureWindowsPath(value).name
    return value
