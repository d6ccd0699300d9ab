"""Where the pictures of images lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from compvqa import tables
from compvqa.errors import InputError
from compvqa.scenes.tables import SCENES

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
    try:
        with os.scandir(folder) as entries:
            return [folder, *sorted(Path(entry.path) for entry in entries if entry.is_dir())]
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"there is no folder {folder}, where pictures should be: make it, or correct it.") from None


class Shown(NamedTuple):
    """A picture and its file."""

    image: str
    path: Path


def pictures_of(scenes: Path, images: Mapping[str, Path], shard: int = 0, shards: int = 1) -> list[Shown]:
    """One shard's pictures of the scene tables ``scenes``, sorted; ``images`` are folders by image space.

    Raises InputError for the first that has no file.
    """
    names = sorted(set(tables.read(scenes / "scenes.parquet", SCENES, ["image"])["image"].to_pylist()))
    own = names[shard * len(names) // shards : (shard + 1) * len(names) // shards]
    found = [(name, find_image(name, images)) for name in own]
    if lost := [name for name, path in found if path is None]:
        raise InputError(f"the picture of {lost[0]} is in no folder of `images`: make it, or correct the folders.")
    return [Shown(name, path) for name, path in found if path is not None]
