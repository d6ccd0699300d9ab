"""The sha256 of many files, several at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compvqa.progress import track
from compvqa.records.record import PROJECT, ROOT, sha256

AT_ONCE = 8  # disks give no more from there on


def place(root: Path, path: str) -> Path:
    """Where a file lies that a record of the run in ``root`` names."""
    return ROOT / path.removeprefix(PROJECT) if path.startswith(PROJECT) else root / path


def hashes(root: Path, paths: Iterable[str]) -> dict[str, str | None]:
    """The sha256 of each file that records name, None where it is gone; read in pieces, on the cores that there are."""
    names = sorted(set(paths))
    if not names:
        return {}

    def one(path: str) -> str | None:
        file = place(root, path)
        return sha256(file) if file.is_file() else None

    with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
        return dict(zip(names, track(pool.map(one, names), "hashing", len(names), "file"), strict=True))
