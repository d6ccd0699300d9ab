"""Readers of released region features, one module a file format, with ``read(files)``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

SHARES = (1.0, 1.0)  # the size of an image where a file has boxes as shares of it


class Detections(NamedTuple):
    """What a detector found in one image, in the order of its file."""

    boxes: np.ndarray  # float32 [k, 4]: left, top, right and bottom edge in pixels
    size: tuple[float, float]  # the image's width and height in pixels
    features: np.ndarray  # float32 [k, D]


class Record(NamedTuple):
    """One image of a file; its features are read only if they are wanted."""

    image_id: str
    file: str
    number: int  # of the record in its file, from 1
    decode: Callable[[], Detections]  # InputError where the record is broken


class Reader(Protocol):
    """A module of this package."""

    def read(self, files: Sequence[Path]) -> Iterator[Record]:
        """The records of ``files`` in their order; InputError names the file that is missing or broken, and the record.
        ``decode`` of a record is called before the next one is asked for, or never."""
