"""The store of grids: a table with a row a picture, and the matrices of the shards that it was written in.

A grid is the vectors of a picture's cells, all of one size, row by row; one cell is the whole picture. Boxes follow
from that, so that 100,000 pictures of 14 x 14 cells need no table of twenty million. Matrices are those of
:mod:`compvqa.features.store`, one a shard, read from the disk as they are asked for: 40 GB need no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.store import Regions, RegionStore, geometry, mapped

GRIDS = tables.Schema(
    "grids",
    pa.schema(
        [
            ("image", pa.string()),
            ("file", pa.string()),  # of the matrix, as seen from the table
            ("row", pa.int64()),  # of the picture's first cell in it
            ("cells", pa.int16()),  # of the grid's side
            ("image_w", pa.float32()),  # pixels
            ("image_h", pa.float32()),
        ]
    ),
    key=("image",),
)


class GridStore:
    """The grids of any picture, with what :class:`RegionStore` has of regions.

    A grid has no order by which some of it could be left out: where models are to see at most ``most`` regions, and it
    has more cells, that is an InputError.
    """

    def __init__(self, regions: Path | str, most: int | None = None):
        self.path, self._most = Path(regions), most
        table = tables.read(self.path, GRIDS)
        files, sides = (table[name].unique().to_pylist() for name in ("file", "cells"))
        if len(sides) != 1:
            raise InputError(f"{self.path} has grids of {len(sides)} sizes, not of one: run the stage pictures again.")
        (self.side,) = sides
        if most is not None and self.side**2 > most:
            raise InputError(
                f"{self.path} has grids of {self.side}x{self.side} cells, and models are to see {most} regions: write "
                f"`training: {{most_regions: {self.side**2}}}` in the file of the model."
            )
        self._matrices = [mapped(self.path.parent / name) for name in files]
        number = {name: at for at, name in enumerate(files)}
        self._file = np.array([number[name] for name in table["file"].to_pylist()], np.int64)
        self._row = table["row"].to_numpy()
        self._size = np.stack([table["image_w"].to_numpy(), table["image_h"].to_numpy()], axis=1)
        self._at = {name: at for at, name in enumerate(table["image"].to_pylist())}
        ends = np.array([len(matrix) for matrix in self._matrices])
        if (self._row + self.side**2 > ends[self._file]).any():
            raise InputError(f"{self.path} has pictures that its matrices lack: run the stage pictures again.")

    def __reduce__(self) -> tuple:
        """A process that loads data opens the files anew."""
        return GridStore, (self.path, self._most)

    @property
    def dimension(self) -> int:
        """The length D of a cell's vector."""
        return int(self._matrices[0].shape[1])

    def __contains__(self, image: str) -> bool:
        return image in self._at

    def __len__(self) -> int:
        return len(self._at)

    def boxes(self, image: str) -> np.ndarray:
        """The boxes [k, 4] of the cells of ``image``: x, y, w, h in pixels."""
        return self._shares * np.tile(self._size[self._number(image)], 2)

    def __getitem__(self, image: str) -> Regions:
        """The cells of ``image``; InputError where it has none."""
        number = self._number(image)
        first = self._row[number]
        return Regions(self._matrices[self._file[number]][first : first + self.side**2], self._geometry)

    def _number(self, image: str) -> int:
        if image not in self._at:
            raise InputError(f"{self.path} has no grid of image {image}: make its features first.")
        return self._at[image]

    @cached_property
    def _shares(self) -> np.ndarray:
        """The boxes of all cells as shares of the picture, float32 [k, 4]."""
        y, x = np.divmod(np.arange(self.side**2), self.side)
        return (np.stack([x, y, np.ones_like(x), np.ones_like(y)], axis=1) / self.side).astype(np.float32)

    @cached_property
    def _geometry(self) -> np.ndarray:
        return geometry(self._shares, (1.0, 1.0))


def open_store(files: Sequence[Path | str], most: int | None = None) -> RegionStore | GridStore:
    """The store whose table is the first of ``files``, of regions, whose matrix is the second, or of grids."""
    regions, *matrices = files
    if is_grids(regions):
        return GridStore(regions, most)
    return RegionStore(regions, matrices[0], most)


def is_grids(regions: Path | str) -> bool:
    """Whether a table of regions is one of grids."""
    return tables.metadata(regions).get("schema") == GRIDS.name


def files_of(folder: Path) -> list[Path]:
    """The files of the store in a folder: its table, and then its matrices."""
    table = folder / "regions.parquet"
    if not (table.exists() and is_grids(table)):
        return [table, folder / "features.safetensors"]
    names = tables.read(table, GRIDS, ["file"])["file"].unique().to_pylist()
    return [table, *(folder / name for name in sorted(names))]
