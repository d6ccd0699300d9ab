"""The pixels of regions, each cut out of its picture and scaled to a square."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def cut(path: Path, boxes: np.ndarray, side: int, margin: float) -> np.ndarray:
    """The pixels of ``boxes`` [k, 4] (x, y, w, h) in the picture at ``path``, each with a ``margin`` around it, a share
    of its sides, scaled to a square; uint8 [k, 3, side, side]. What shows through a picture is white."""
    with Image.open(path) as file:
        image = Image.new("RGB", file.size, "white")
        picture = file.convert("RGBA")
        image.paste(picture, mask=picture)
    result = np.empty((len(boxes), 3, side, side), np.uint8)
    for number, (x, y, w, h) in enumerate(boxes.tolist()):
        dx, dy = margin * w, margin * h
        window = (max(x - dx, 0), max(y - dy, 0), min(x + w + dx, image.width), min(y + h + dy, image.height))
        part = image.resize((side, side), Image.Resampling.BILINEAR, box=window, reducing_gap=2.0)
        result[number] = np.asarray(part).transpose(2, 0, 1)
    return result
