"""Which images a model was trained on, and the check that it is asked about none of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from compvqa import tables
from compvqa.errors import InputError

SEEN = tables.Schema("seen", pa.schema([("image", pa.string())]), key=("image",))


def write_seen(path: Path, images: Iterable[str]) -> int:
    """Write the images that had a part in a model's training, held-out ones too; give their number."""
    return tables.write(path, SEEN, pa.table({"image": pa.array(sorted(set(images)), pa.string())}))


def check_unseen(path: Path, images: Iterable[str]) -> int:
    """The number of ``images``; InputError names one that is in the table ``path``."""
    asked = set(images)
    both = asked.intersection(tables.read(path, SEEN)["image"].to_pylist())
    if both:
        raise InputError(
            f"{path.parent} was trained on image {min(both)}, about which it is asked: what a model says of an image "
            "that it saw is worth nothing, so train it on others."
        )
    return len(asked)
