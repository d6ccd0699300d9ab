"""LXMERT's files of bottom-up attention features (``vg_gqa_obj36.tsv``): a line an image, arrays in base64.

A line has the columns of ``COLUMNS``, parted by tabs. Boxes are float32 [num_boxes, 4] (left, top, right, bottom edge
in pixels), features float32 [num_boxes, D]; nothing else of it is needed here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from compvqa.errors import InputError
from compvqa.features.readers import Detections, Record

COLUMNS = (
    "img_id",
    "img_h",
    "img_w",
    "objects_id",
    "objects_conf",
    "attrs_id",
    "attrs_conf",
    "num_boxes",
    "boxes",
    "features",
)
MOST_DIGITS = 9  # of a number of boxes or pixels


def read(files: Sequence[Path]) -> Iterator[Record]:
    """The images of ``files``, a line held at a time."""
    for path in files:
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    where = f"{path}, record {number}"
                    values = line.rstrip(b"\r\n").split(b"\t")
                    if len(values) != len(COLUMNS):
                        raise InputError(
                            f"{where} has {len(values)} columns where LXMERT's files have {len(COLUMNS)}: "
                            "download the file again."
                        )
                    row = dict(zip(COLUMNS, values, strict=True))
                    image_id = row["img_id"].decode("utf-8", "backslashreplace")
                    yield Record(image_id, path.name, number, partial(_decode, row, where))
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}): download it, or correct the path.") from None


def _decode(row: dict[str, bytes], where: str) -> Detections:
    k, width, height = (_whole(row, name, where) for name in ("num_boxes", "img_w", "img_h"))
    boxes, features = _array(row, "boxes", k, where), _array(row, "features", k, where)
    if k and boxes.shape[1] != 4:
        raise InputError(f"{where}: boxes have {boxes.shape[1]} numbers, not 4: download the file again.")
    return Detections(boxes, (float(width), float(height)), features)


def _whole(row: dict[str, bytes], name: str, where: str) -> int:
    if not row[name].isdigit() or len(row[name]) > MOST_DIGITS:
        raise InputError(f"{where}: {name} is not a whole number: download the file again.")
    return int(row[name])


def _array(row: dict[str, bytes], name: str, k: int, where: str) -> np.ndarray:
    """The float32 numbers in a column, [k, …]."""
    try:
        raw = base64.b64decode(row[name], validate=True)
    except binascii.Error:
        raise InputError(f"{where}: {name} is not base64, or was cut off: download the file again.") from None
    if len(raw) % (4 * max(k, 1)) or (k == 0) != (not raw):
        raise InputError(f"{where}: {name} has {len(raw)} bytes, not those of {k} boxes: download the file again.")
    return np.frombuffer(raw, "<f4").reshape(k, -1) if k else np.zeros((0, 4), np.float32)
