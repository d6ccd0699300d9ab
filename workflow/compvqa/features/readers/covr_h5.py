"""COVR's features of GQA's and imSitu's images: ``gqa_imsitu_features.h5`` and ``gqa_imsitu_key_to_index.json``.

The datasets ``boxes`` [images, 36, 4] (left, top, right and bottom edge as shares of the image) and ``features``
[images, 36, 2048]; the other file maps an image's name to its row. Both spaces are in one file: name it for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import h5py
import numpy as np

from compvqa.errors import InputError
from compvqa.features.readers import SHARES, Detections, Record
from compvqa.features.readers.gqa_h5 import CACHE, dataset
from compvqa.files import read_json

SLACK = 0.01  # by which a detector's box may pass the image's edge


def read(files: Sequence[Path]) -> Iterator[Record]:
    """The images of the two ``files``, in the order of their rows; one image held at a time."""
    index = [path for path in files if path.suffix == ".json"]
    stores = [path for path in files if path.suffix != ".json"]
    if len(index) != 1 or len(stores) != 1:
        raise InputError(f"COVR's features are two files, an index (JSON) and a store (HDF5): {len(files)} are named.")
    rows = read_json(index[0], "download it, or correct the path")
    try:
        file = h5py.File(stores[0], "r", rdcc_nbytes=CACHE)
    except OSError as error:
        raise InputError(f"{stores[0]} is no readable HDF5 file ({error}): download it again.") from None
    with file:
        boxes, features = (dataset(file, name, stores[0]) for name in ("boxes", "features"))
        if boxes.shape[:2] != features.shape[:2] or boxes.shape[2] != 4:
            raise InputError(
                f"{stores[0]}: boxes {boxes.shape} do not fit features {features.shape}: download it again."
            )
        for row, name in sorted((_row(row, name, len(boxes), index[0]), name) for name, row in rows.items()):
            yield Record(name, stores[0].name, row + 1, partial(_decode, boxes, features, row, stores[0]))


def _row(row: object, name: str, rows: int, path: Path) -> int:
    if type(row) is not int or not 0 <= row < rows:
        raise InputError(f"{path}: image {name} is in row {row!r} of {rows}: download both files again.")
    return row


def _decode(boxes: h5py.Dataset, features: h5py.Dataset, row: int, path: Path) -> Detections:
    try:
        found = [np.asarray(data[row], np.float32) for data in (boxes, features)]
    except OSError as error:
        raise InputError(f"{path}, record {row + 1} cannot be read ({error}): download the file again.") from None
    if (found[0] > 1 + SLACK).any():
        raise InputError(f"{path}, record {row + 1}: boxes are not shares of the image: take COVR's own file.")
    return Detections(found[0], SHARES, found[1])
