"""Other names for paths in which Snakemake would see a pattern: ``{x}``, a wildcard, or ``<x>``, a path variable."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

S = TypeVar("S", bound=BaseModel)
_PATTERN = re.compile(r"[{}]|<[a-z][a-z0-9_]*>")


def without_patterns(settings: S, folder: Path) -> S:
    """``settings`` whose paths with braces are links in ``folder`` to what they name, which need not be there."""
    return type(settings).model_validate(_replaced(settings.model_dump(), folder))


def _replaced(data: object, folder: Path) -> object:
    if isinstance(data, dict):
        return {key: _replaced(value, folder) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_replaced(value, folder) for value in data]
    return _link(data, folder) if isinstance(data, Path) and _PATTERN.search(str(data)) else data


def _link(path: Path, folder: Path) -> Path:
    suffix = "" if _PATTERN.search(path.suffix) else path.suffix  # readers tell a file's kind by it
    link = folder / (hashlib.blake2b(os.fsencode(path), digest_size=12).hexdigest() + suffix)
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):  # another process made it
        link.symlink_to(path if path.is_absolute() else os.path.relpath(path, folder))
        os.utime(link, (0, 0), follow_symlinks=False)  # a link made anew is no reason to run anything anew
    return link
