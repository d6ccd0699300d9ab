"""Features of whole pictures by a frozen network, shard by shard: grids, and pooled vectors, into the store.

Each shard writes its own matrices, and stays where a run is stopped: what is done is not done again. Gathering them
writes two small tables and moves no matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from os.path import relpath
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from PIL import Image

from compvqa import facts, tables
from compvqa.errors import InputError
from compvqa.features.grids import GRIDS
from compvqa.features.settings import PictureSettings
from compvqa.features.store import appending
from compvqa.features.vision import Vision, load
from compvqa.progress import track
from compvqa.scenes.images import Shown

PICTURES = tables.Schema(
    "pictures",
    pa.schema([("image", pa.string()), ("width", pa.float32()), ("height", pa.float32())]),  # pixels
    key=("image",),
)
GRID, POOLED = "grid", "pooled"  # the matrices of a shard
FILES = ("pictures.parquet", f"{GRID}.safetensors", f"{POOLED}.safetensors")  # of a shard
GATHERED = {GRID: "regions.parquet", POOLED: f"{POOLED}/regions.parquet"}  # the tables of the stores


@torch.no_grad()
def extract(shown: Sequence[Shown], out: Path, settings: PictureSettings) -> dict[str, int]:
    """Write the features of the pictures ``shown`` into the folder ``out``: the files of :data:`FILES`.

    A picture is squashed to a square (bicubic). Its features do not depend on the others of its shard.
    """
    torch.set_num_threads(settings.threads)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = load(settings).to(place)
    facts.tell(frozen_weights=settings.weights)
    batches = ((_features(net, pixels.to(place)), sizes) for pixels, sizes in _batches(shown, settings))
    first = next(batches, None)
    if first is None:
        raise InputError(f"{out} would have no picture: give fewer shards than there are pictures.")
    widths = [part.shape[-1] for part in first[0]]
    sizes: list[tuple[float, float]] = []
    with ExitStack() as stack:
        appends = [stack.enter_context(appending(out / n, w)) for n, w in zip(FILES[1:], widths, strict=True)]
        total = -(-len(shown) // settings.batch_size)
        for found, more in track(chain([first], batches), "pictures", total, "batch"):
            for append, part in zip(appends, found, strict=True):
                if not np.isfinite(kept := part[: len(more)]).all():
                    raise InputError(
                        f"features.pictures: the backbone {settings.backbone} gives numbers beyond 65,504 for "
                        f"{shown[len(sizes)].image}, or one after it, which float16 has not: take another."
                    )
                append(kept.reshape(-1, part.shape[-1]))
            sizes += more
    rows = [{"image": one.image, "width": w, "height": h} for one, (w, h) in zip(shown, sizes, strict=True)]
    tables.write(out / FILES[0], PICTURES, rows)
    return {"pictures": len(rows), "cells": settings.cells**2, **dict(zip((GRID, POOLED), widths, strict=True))}


def _batches(
    shown: Sequence[Shown], settings: PictureSettings
) -> Iterator[tuple[torch.Tensor, list[tuple[float, float]]]]:
    """Pixels [batch, 3, S, S], 0 to 1, and the sizes of the pictures; the last batch is filled up with zeros, since a
    network may take other kernels for batches of another size, whose last bits are others."""
    for at in range(0, len(shown), settings.batch_size):
        part = shown[at : at + settings.batch_size]
        pixels = np.zeros((settings.batch_size, settings.side, settings.side, 3), np.float32)
        sizes = []
        for number, one in enumerate(part):
            with Image.open(one.path) as file:
                sizes.append((float(file.width), float(file.height)))
                seen = file.convert("RGB").resize((settings.side, settings.side), Image.Resampling.BICUBIC)
            pixels[number] = np.asarray(seen, np.float32) / 255
        yield torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous(), sizes


def _features(net: Vision, pixels: torch.Tensor) -> list[np.ndarray]:
    """The grids [n, cells, D] and pooled vectors [n, 1, P] of pictures, as wide as the store keeps them."""
    grid, pooled = net(pixels)
    return [part.half().cpu().numpy() for part in (grid, pooled[:, None])]


def gather(shards: Sequence[Path], out: Path, settings: PictureSettings) -> dict[str, int]:
    """Write the tables of the stores in the folder ``out``, of grids and of pooled vectors, over the matrices of
    ``shards``, folders that :func:`extract` filled; give the number of pictures."""
    told = [(shard, tables.read(shard / FILES[0], PICTURES).to_pylist()) for shard in shards]
    for name, file, cells in zip(GATHERED.values(), FILES[1:], (settings.cells, 1), strict=True):
        table = out / name
        rows = [
            {
                "image": row["image"],
                "file": Path(relpath(shard / file, table.parent)).as_posix(),
                "row": number * cells**2,
                "cells": cells,
                "image_w": row["width"],
                "image_h": row["height"],
            }
            for shard, pictures in told
            for number, row in enumerate(pictures)
        ]
        tables.write(table, GRIDS, rows)
    return {"pictures": sum(len(pictures) for _, pictures in told), "shards": len(shards)}
