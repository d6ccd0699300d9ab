"""CLEVR-HOPE's region features: ``user_<side>_vg_frcnn.h5``, and the scene file of the side, which names its pictures.

What ``unc-nlp/frcnn-vg-finetuned`` found, as its authors' code gives it, a row a picture. Of its datasets two are read:
``normalized_boxes`` [pictures, 36, 4] (left, top, right and bottom edge as shares of the picture) and ``roi_features``
[pictures, 36, 2048]; where fewer regions were found, the rest is zeros, and a box without a size is no region. A
picture's row is the number at the end of its name (``CLEVR_train_000012.png``: 12). The scene file is CLEVR's:
``{"scenes": [{"image_filename": ...}]}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from compvqa.errors import InputError
from compvqa.features.readers import Record
from compvqa.features.readers.covr_h5 import decode, opened, store_and
from compvqa.scenes.stream import elements_of


def read(files: Sequence[Path]) -> Iterator[Record]:
    """The pictures of the two ``files``, in the order of their rows; one held at a time."""
    store, scenes = store_and(files, "CLEVR-HOPE's features are two files, a store (HDF5) and its scenes (JSON)")
    names = _names(scenes)
    with opened(store, "normalized_boxes", "roi_features") as (boxes, features):
        if len(names) != len(boxes):
            raise InputError(
                f"{store} has {len(boxes):,} rows for the {len(names):,} pictures of {scenes}: name its own scene file."
            )
        for row, name in enumerate(names):
            yield Record(name, store.name, row + 1, partial(decode, boxes, features, row, store))


def _names(path: Path) -> list[str]:
    """The names of the pictures of a scene file, by their numbers, which go from 0 without a gap."""
    names: dict[int, str] = {}
    for scene in elements_of(path, "scenes"):
        name = PurePosixPath(str(scene.get("image_filename") if isinstance(scene, dict) else "")).stem
        number = re.search(r"[0-9]{1,9}$", name)
        if not number or int(number[0]) in names:
            raise InputError(
                f"{path}: {name or 'a scene'} has no number of its own in its picture's name: download it again."
            )
        names[int(number[0])] = name
    if any(number >= len(names) for number in names):
        raise InputError(f"{path}: its {len(names):,} pictures have numbers up to {max(names):,}: download it again.")
    return [names[number] for number in range(len(names))]
