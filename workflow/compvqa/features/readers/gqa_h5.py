"""GQA's object features: the shards ``gqa_objects_<n>.h5`` and ``gqa_objects_info.json``.

A shard has the datasets ``features`` [images, 100, 2048] and ``bboxes`` [images, 100, 4] (left, top, right, bottom edge
in pixels). The info file maps an image id to its place (``file``, ``idx``), how many of the 100 rows are objects
(``objectsNum``), and the image's ``width`` and ``height`` in pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import h5py
import numpy as np

from compvqa.errors import InputError
from compvqa.features.readers import Detections, Record
from compvqa.files import read_json

INFO = "gqa_objects_info.json"
KEYS = ("file", "idx", "objectsNum", "width", "height")
CACHE = 64 * 2**20  # bytes: holds the chunks of a compressed shard while its images are read one after the other


def read(files: Sequence[Path]) -> Iterator[Record]:
    """The images of ``files``, the info file and its shards, in the order of the shards; one image held at a time."""
    given = {path.name: path for path in files}
    if INFO not in given:
        raise InputError(f"{files[0]} comes without {INFO}: name it and its shards among the files of GQA's features.")
    places = sorted((entry["file"], entry["idx"], image_id, entry) for image_id, entry in _info(given[INFO]).items())
    for shard, images in groupby(places, key=lambda place: place[0]):
        name = f"gqa_objects_{shard}.h5"
        if name not in given:
            raise InputError(f"{given[INFO]} tells of images in {name}: name it among the files too.")
        yield from _images(given[name], images)


def _info(path: Path) -> dict[str, dict[str, int]]:
    info = read_json(path, "download it, or correct the path")
    for image_id, entry in info.items():
        for key in KEYS:
            value = entry.get(key) if isinstance(entry, dict) else None
            if value.__class__ is not int or value < 0:
                raise InputError(f"{path}: image {image_id} has no whole number {key}: download it again.")
    return info


def _images(path: Path, places: Iterator[tuple]) -> Iterator[Record]:
    """The images of one shard, in the order of its rows."""
    try:
        file = h5py.File(path, "r", rdcc_nbytes=CACHE)
    except OSError as error:
        raise InputError(f"{path} is no readable HDF5 file ({error}): download it again.") from None
    with file:
        boxes, features = (dataset(file, name, path) for name in ("bboxes", "features"))
        if boxes.shape[:2] != features.shape[:2] or boxes.shape[2] != 4:
            raise InputError(f"{path}: bboxes {boxes.shape} do not fit features {features.shape}: download it again.")
        for _, idx, image_id, entry in places:
            yield Record(image_id, path.name, idx + 1, partial(_decode, boxes, features, entry, path))


def dataset(file: h5py.File, name: str, path: Path) -> h5py.Dataset:
    """The three-dimensional dataset ``name`` of a file of features."""
    data = file.get(name)
    if not isinstance(data, h5py.Dataset) or data.ndim != 3:
        raise InputError(f"{path} has no three-dimensional dataset {name}: give a file of features.")
    return data


def _decode(boxes: h5py.Dataset, features: h5py.Dataset, entry: dict[str, int], path: Path) -> Detections:
    idx, k = entry["idx"], entry["objectsNum"]
    if idx >= len(features) or k > features.shape[1]:
        raise InputError(
            f"{path}, record {idx + 1}: the info file tells of {k} objects in it, but the shard has {len(features)} "
            f"records of at most {features.shape[1]}: download both again."
        )
    try:
        found = [np.asarray(data[idx, :k], np.float32) for data in (boxes, features)]
    except OSError as error:
        raise InputError(f"{path}, record {idx + 1} cannot be read ({error}): download the file again.") from None
    return Detections(found[0], (float(entry["width"]), float(entry["height"])), found[1])
