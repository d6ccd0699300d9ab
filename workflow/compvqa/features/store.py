"""The store of region features: a table of boxes and one memory-mapped float16 matrix.

Any detector's regions fit: the sprites world's (:mod:`compvqa.features.extract`) or those of a released file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from compvqa import tables
from compvqa.errors import InputError

MOST_REGIONS = 36
REGIONS = tables.Schema(
    "regions",
    pa.schema(
        [
            ("image", pa.string()),
            ("region", pa.int16()),  # 0 … MOST_REGIONS - 1
            ("x", pa.float32()),  # left edge, pixels
            ("y", pa.float32()),
            ("w", pa.float32()),
            ("h", pa.float32()),
            ("image_w", pa.float32()),
            ("image_h", pa.float32()),
            ("row", pa.int64()),  # of the feature matrix
        ]
    ),
    key=("image", "region"),
)
GEOMETRY = 5  # numbers that tell a region's place


class ImageRegions(NamedTuple):
    """The regions of one image."""

    image: str
    boxes: np.ndarray  # float32 [k, 4]: x, y, w, h in pixels
    size: tuple[float, float]  # the image's width and height in pixels
    features: np.ndarray  # [k, D]


class Regions(NamedTuple):
    """What a model sees of one image."""

    features: np.ndarray  # float32 [k, D]
    geometry: np.ndarray  # float32 [k, 5], see :func:`geometry`


def geometry(boxes: np.ndarray, size: tuple[float, float]) -> np.ndarray:
    """Left, top, right and bottom edge and area of ``boxes`` [k, 4], all as shares of the image's ``size``; [k, 5]."""
    scaled = boxes.astype(np.float32) / np.array([*size, *size], np.float32)
    x, y, w, h = scaled.T
    return np.stack([x, y, x + w, y + h, w * h], axis=1).astype(np.float32)


def write(regions: Path, features: Path, images: Iterable[ImageRegions], dimension: int, total: int) -> int:
    """Write the regions of ``images`` (each image once, sorted by name; ``total`` regions in all) to the table
    ``regions`` and the matrix ``features`` [total, dimension]; give the number of images.

    Raises ValueError where an image has more than ``MOST_REGIONS`` regions.
    """
    names, counts, places, sizes = [], [], [], []
    with tables.replacing(features) as temporary:
        matrix = np.lib.format.open_memmap(temporary, "w+", np.float16, (total, dimension))
        row = 0
        for image, boxes, size, vectors in images:
            if len(boxes) > MOST_REGIONS:
                raise ValueError(f"image {image} has {len(boxes)} regions, more than {MOST_REGIONS}")
            matrix[row : row + len(boxes)] = vectors
            row += len(boxes)
            names.append(image)
            counts.append(len(boxes))
            places.append(np.asarray(boxes, np.float32))
            sizes.append(size)
        if row != total:
            raise ValueError(f"{row} regions came where {total} were announced")
        matrix.flush()
        del matrix
    tables.write(regions, REGIONS, _table(names, counts, places, sizes))
    return len(names)


def _table(names: list[str], counts: list[int], boxes: list[np.ndarray], sizes: list[tuple]) -> pa.Table:
    """The regions table of images given one after the other, in the order of the feature matrix."""
    columns: dict[str, object] = {
        "image": pa.array(names, pa.string()).take(pa.array(np.repeat(range(len(names)), counts)))
    }
    columns["region"] = np.concatenate([np.arange(n, dtype=np.int16) for n in counts] or [np.zeros(0, np.int16)])
    edges = np.concatenate(boxes or [np.zeros((0, 4), np.float32)])
    columns |= {name: edges[:, i] for i, name in enumerate("xywh")}
    size = np.repeat(np.array(sizes, np.float32).reshape(-1, 2), counts, axis=0)
    columns |= {"image_w": size[:, 0], "image_h": size[:, 1], "row": np.arange(len(edges), dtype=np.int64)}
    return pa.table({name: columns[name] for name in REGIONS.fields.names}, schema=REGIONS.fields)


class RegionStore:
    """The regions of any image, read from a regions table and its memory-mapped feature matrix.

    ``most`` keeps the first so many regions of each image. Raises InputError where the two files do not fit together.
    """

    def __init__(self, regions: Path | str, features: Path | str, most: int = MOST_REGIONS):
        table = tables.read(regions, REGIONS)
        try:
            self.features = np.load(features, mmap_mode="r")
        except (FileNotFoundError, ValueError) as error:
            raise InputError(f"{features} is no feature matrix ({error}): run the stage features again.") from None
        column = {name: table[name].to_numpy() for name in table.column_names if name != "image"}
        self._rows = column["row"]
        if len(self._rows) and self._rows.max() >= len(self.features):
            raise InputError(f"{features} has too few rows for {regions}: run the stage features again.")
        self._boxes = np.stack([column[name] for name in "xywh"], axis=1)
        self._sizes = np.stack([column["image_w"], column["image_h"]], axis=1)
        self._at = _runs(table["image"])
        self._most = most
        self.path = Path(regions)

    @property
    def dimension(self) -> int:
        """The length D of a feature vector."""
        return int(self.features.shape[1])

    def __contains__(self, image: str) -> bool:
        return image in self._at

    def __len__(self) -> int:
        return len(self._at)

    def boxes(self, image: str) -> np.ndarray:
        """The boxes [k, 4] of the regions of ``image``, as :class:`ImageRegions` has them."""
        return self._boxes[slice(*self._rows_of(image))]

    def _rows_of(self, image: str) -> tuple[int, int]:
        if image not in self._at:
            raise InputError(f"{self.path} has no regions of image {image}: extract its features first.")
        start, end = self._at[image]
        return start, min(end, start + self._most)

    def __getitem__(self, image: str) -> Regions:
        """The regions of ``image``; InputError where it has none."""
        start, end = self._rows_of(image)
        size = (float(self._sizes[start, 0]), float(self._sizes[start, 1]))
        vectors = np.asarray(self.features[self._rows[start:end]], np.float32)
        return Regions(vectors, geometry(self._boxes[start:end], size))


def _runs(column: pa.ChunkedArray) -> dict[str, tuple[int, int]]:
    """Where the rows of each value of a sorted column are."""
    names: Sequence[str] = column.to_pylist()
    ends: dict[str, tuple[int, int]] = {}
    start = 0
    for row, name in enumerate(names):
        if row + 1 == len(names) or names[row + 1] != name:
            ends[name] = (start, row + 1)
            start = row + 1
    return ends
