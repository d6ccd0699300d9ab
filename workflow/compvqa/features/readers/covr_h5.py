"""COVR's features of GQA's and imSitu's images: ``gqa_imsitu_features.h5`` and ``gqa_imsitu_key_to_index.json``.

The datasets ``boxes`` [images, 36, 4] (left, top, right and bottom edge as shares of the image) and ``features``
[images, 36, 2048]; the other file maps an image's name, as questions have it (imSitu's may end in ``.jpg``), to its
row. Both spaces are in one file: name it for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import h5py
import numpy as np

from compvqa.errors import InputError
from compvqa.features.readers import SHARES, Detections, Record
from compvqa.features.readers.gqa_h5 import CACHE, dataset
from compvqa.files import read_json
from compvqa.scenes.readers.imsitu import image_name

SLACK = 0.01  # by which a detector's box may pass the image's edge


def read(files: Sequence[Path]) -> Iterator[Record]:
    """The images of the two ``files``, in the order of their rows; one image held at a time."""
    store, index = store_and(files, "COVR's features are two files, an index (JSON) and a store (HDF5)")
    rows = read_json(index, "download it, or correct the path")
    with opened(store, "boxes", "features") as (boxes, features):
        for row, name in sorted((_row(row, name, len(boxes), index), name) for name, row in rows.items()):
            yield Record(image_name(name), store.name, row + 1, partial(decode, boxes, features, row, store))


def store_and(files: Sequence[Path], what: str) -> tuple[Path, Path]:
    """Of two ``files`` the store, and the JSON file that tells of its rows; InputError, with ``what`` they are to be,
    where there are others."""
    told = [path for path in files if path.suffix == ".json"]
    stores = [path for path in files if path.suffix != ".json"]
    if len(told) != 1 or len(stores) != 1:
        raise InputError(f"{what}: {len(files)} are named.")
    return stores[0], told[0]


@contextmanager
def opened(path: Path, boxes: str, features: str) -> Iterator[tuple[h5py.Dataset, h5py.Dataset]]:
    """The datasets of those names in the store ``path``: [images, most, 4] and [images, most, D]."""
    try:
        file = h5py.File(path, "r", rdcc_nbytes=CACHE)
    except OSError as error:
        raise InputError(f"{path} is no readable HDF5 file ({error}): download it again.") from None
    with file:
        found = dataset(file, boxes, path), dataset(file, features, path)
        if found[0].shape[:2] != found[1].shape[:2] or found[0].shape[2] != 4:
            raise InputError(
                f"{path}: {boxes} {found[0].shape} do not fit {features} {found[1].shape}: download it again."
            )
        yield found


def _row(row: object, name: str, rows: int, path: Path) -> int:
    if type(row) is not int or not 0 <= row < rows:
        raise InputError(f"{path}: image {name} is in row {row!r} of {rows}: download both files again.")
    return row


def decode(boxes: h5py.Dataset, features: h5py.Dataset, row: int, path: Path) -> Detections:
    """What is in a row of the two datasets, whose boxes are shares of the image."""
    try:
        found = [np.asarray(data[row], np.float32) for data in (boxes, features)]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}, record {row + 1} cannot be read ({error}): download the file again.") from None
    if (found[0] > 1 + SLACK).any():
        raise InputError(f"{path}, record {row + 1}: boxes are not shares of the image: take the authors' own file.")
    return Detections(found[0], SHARES, found[1])
