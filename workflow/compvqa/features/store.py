"""The store of region features: a table of boxes and one memory-mapped matrix (safetensors), float16 or float32.

Any detector's regions fit: the sprites world's (:mod:`compvqa.features.extract`) or those of released files
(:mod:`compvqa.features.released`). Grids of whole pictures, whose boxes need no table, are kept in such matrices too
(:mod:`compvqa.features.grids`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from safetensors import SafetensorError, safe_open

from compvqa import tables
from compvqa.errors import InputError

REGIONS = tables.Schema(
    "regions",
    pa.schema(
        [
            ("image", pa.string()),
            ("region", pa.int16()),  # from 0, in the detector's order
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
MATRIX = "features"
TYPES = {"float16": "F16", "float32": "F32"}  # as safetensors calls them
NAMES = {kind: name for name, kind in TYPES.items()}
MOST_REGIONS = np.iinfo(np.int16).max + 1  # that the table can count; how many models see, settings say
HEADER = 248  # bytes; with the 8 that say so, rows start where memory is aligned


class ImageRegions(NamedTuple):
    """The regions of one image."""

    image: str
    boxes: np.ndarray  # float32 [k, 4]: x, y, w, h in pixels
    size: tuple[float, float]  # the image's width and height in pixels
    features: np.ndarray  # [k, D]


class Regions(NamedTuple):
    """What a model sees of one image."""

    features: np.ndarray  # [k, D], a view of the memory map, of its type
    geometry: np.ndarray  # float32 [k, 5], see :func:`geometry`


def geometry(boxes: np.ndarray, size: tuple[float, float] | np.ndarray) -> np.ndarray:
    """Left, top, right and bottom edge and area of ``boxes`` [k, 4], all as shares of the image's ``size``, one for all
    or one each [k, 2]; float32 [k, 5]."""
    scaled = boxes.astype(np.float32) / np.tile(np.asarray(size, np.float32), 2)
    x, y, w, h = scaled.T
    return np.stack([x, y, x + w, y + h, w * h], axis=1).astype(np.float32)


def write(
    regions: Path,
    features: Path,
    images: Iterable[ImageRegions],
    dimension: int,
    total: int | None = None,
    dtype: str = "float16",
) -> int:
    """Write the regions of ``images`` (each image once) to the table ``regions``, sorted by image, and, in the order in
    which they come, to the matrix ``features`` [regions, dimension] of ``dtype``; give the number of images.

    Features are written as they come; boxes are held until the end. Raises ValueError where an image has more than
    ``MOST_REGIONS`` regions, where one comes twice, or where there are not ``total`` regions in all, if given.
    """
    names, counts, places, sizes = [], [], [], []
    with appending(features, dimension, dtype) as append:
        for image, boxes, size, vectors in images:
            if len(boxes) > MOST_REGIONS:
                raise ValueError(f"image {image} has {len(boxes)} regions, more than {MOST_REGIONS}")
            if vectors.shape != (len(boxes), dimension):
                raise ValueError(f"image {image} has features {vectors.shape}, not {(len(boxes), dimension)}")
            append(vectors)
            names.append(image)
            counts.append(len(boxes))
            places.append(np.asarray(boxes, np.float32))
            sizes.append(size)
        if total is not None and sum(counts) != total:
            raise ValueError(f"{sum(counts)} regions came where {total} were announced")
    tables.write(regions, REGIONS, _table(names, counts, places, sizes))
    return len(names)


@contextmanager
def appending(path: Path, dimension: int, dtype: str = "float16") -> Iterator[Callable[[np.ndarray], None]]:
    """A function that writes rows [k, dimension] below those before, into the matrix ``path``, which is there in the
    end."""
    rows = 0
    with tables.replacing(path) as temporary, temporary.open("wb") as file:
        _write_header(file, dtype, (0, dimension))

        def append(part: np.ndarray) -> None:
            nonlocal rows
            file.write(np.ascontiguousarray(part, dtype).data)
            rows += len(part)

        yield append
        _write_header(file, dtype, (rows, dimension))


def _write_header(file: BinaryIO, dtype: str, shape: tuple[int, int]) -> None:
    """Begin ``file`` as safetensors does, which writes no matrix piece by piece, in the same room for any shape."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    matrix = {"dtype": TYPES[dtype], "shape": shape, "data_offsets": (0, size)}
    header = json.dumps({"__metadata__": {tables.RECIPE.decode(): tables.running()}, MATRIX: matrix})
    file.seek(0)
    file.write(HEADER.to_bytes(8, "little") + header.encode().ljust(HEADER))


def _table(names: list[str], counts: list[int], boxes: list[np.ndarray], sizes: list[tuple]) -> pa.Table:
    """The regions table of images given one after the other, in the order of the feature matrix."""
    at = np.repeat(np.arange(len(names)), np.array(counts, np.int64))
    columns: dict[str, object] = {"image": pa.array(names, pa.string()).take(pa.array(at))}
    columns["region"] = np.concatenate([np.arange(n, dtype=np.int16) for n in counts] or [np.zeros(0, np.int16)])
    edges = np.concatenate(boxes or [np.zeros((0, 4), np.float32)])
    columns |= {name: edges[:, i] for i, name in enumerate("xywh")}
    size = np.repeat(np.array(sizes, np.float32).reshape(-1, 2), counts, axis=0)
    columns |= {"image_w": size[:, 0], "image_h": size[:, 1], "row": np.arange(len(edges), dtype=np.int64)}
    return pa.table({name: columns[name] for name in REGIONS.fields.names}, schema=REGIONS.fields)


def mapped(path: Path) -> np.ndarray:
    """The matrix [regions, D] in the file at ``path``, read from the disk as it is asked for."""
    try:
        with safe_open(path, framework="numpy") as file:
            matrix = file.get_slice(MATRIX)
            dtype, shape = np.dtype(NAMES[matrix.get_dtype()]), matrix.get_shape()
        if not shape[0]:
            return np.zeros(shape, dtype)
        start = path.stat().st_size - shape[0] * shape[1] * dtype.itemsize  # it is all that is in the file
        rows = np.memmap(path, dtype, "r", start, tuple(shape))
        return rows.view(np.ndarray)  # of which a view is made much faster
    except (OSError, SafetensorError, KeyError) as error:
        raise InputError(f"{path} is no feature matrix ({error}): run the stage features again.") from None


class RegionStore:
    """The regions of any image, read from a regions table and its memory-mapped feature matrix.

    ``most`` keeps the first so many regions of each image; None: all, such as the 196 of a 14 x 14 grid. Raises
    InputError where the two files do not fit together.
    """

    def __init__(self, regions: Path | str, features: Path | str, most: int | None = None):
        table = tables.read(regions, REGIONS)
        self.features = mapped(Path(features))
        column = {name: table[name].to_numpy() for name in table.column_names if name != "image"}
        names, ends = _runs(table["image"])
        starts = np.concatenate([[0], ends])[:-1].astype(np.int64)
        rows = column["row"]
        if len(rows) and rows.max() >= len(self.features):
            raise InputError(f"{features} has too few rows for {regions}: run the stage features again.")
        if not np.array_equal(rows, np.repeat(rows[starts] - starts, ends - starts) + np.arange(len(rows))):
            raise InputError(f"{regions} has an image whose rows are apart: run the stage features again.")
        self._row = rows[starts]
        self._starts, self._counts = starts, np.minimum(ends - starts, most or MOST_REGIONS)
        self._at = dict(zip(names, range(len(names)), strict=True))
        self._boxes = np.stack([column[name] for name in "xywh"], axis=1)
        sizes = np.stack([column["image_w"], column["image_h"]], axis=1)
        self._geometry, self._size = geometry(self._boxes, sizes), sizes[starts]
        self._most = most
        self.path, self._matrix = Path(regions), Path(features)

    def __reduce__(self) -> tuple:
        """A process that loads data opens the files anew where it would else be sent their content."""
        return RegionStore, (self.path, self._matrix, self._most)

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
        return self._of(self._boxes, self._number(image))

    def __getitem__(self, image: str) -> Regions:
        """The regions of ``image``; InputError where it has none."""
        number = self._number(image)
        first, count = self._row[number], self._counts[number]
        return Regions(self.features[first : first + count], self._of(self._geometry, number))

    def all(self) -> Iterator[ImageRegions]:
        """All regions of each image, as they were written."""
        for image in self._at:
            number = self._number(image)
            first, count = self._row[number], self._counts[number]
            width, height = self._size[number].tolist()
            yield ImageRegions(image, self.boxes(image), (width, height), self.features[first : first + count])

    def _number(self, image: str) -> int:
        if image not in self._at:
            raise InputError(f"{self.path} has no regions of image {image}: extract its features first.")
        return self._at[image]

    def _of(self, rows: np.ndarray, number: int) -> np.ndarray:
        """The rows of one image, of an array with one for each region."""
        return rows[self._starts[number] : self._starts[number] + self._counts[number]]


def _runs(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """The values of a sorted column, each once, and where the rows of each end."""
    runs = pc.run_end_encode(column.combine_chunks(), run_end_type=pa.int64())
    return runs.values.to_pylist(), runs.run_ends.to_numpy()
