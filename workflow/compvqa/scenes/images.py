"""Where the pictures of images lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SUFFIXES = (".png", ".jpg", ".jpeg")


def find_image(image: str, folders: Mapping[str, Path]) -> Path | None:
    """The file of the image ``<space>:<id>`` in the folder of its image space, or in a folder in there; None where
    there is none."""
    space, _, name = image.partition(":")
    if space not in folders:
        return None
    places = (inside / f"{name}{suffix}" for inside in _inside(folders[space]) for suffix in SUFFIXES)
    return next((path for path in places if path.is_file()), None)


@cache
def _inside(folder: Path) -> list[Path]:
    """A folder and those in it: CLEVR's pictures lie in one a side."""
    with os.scandir(folder) as entries:
        return [folder, *sorted(Path(entry.path) for entry in entries if entry.is_dir())]
