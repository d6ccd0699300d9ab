"""Which images a model was trained on, and the check that it is asked about none of them; and by which names, where it
was taught to name what is in them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from compvqa import tables
from compvqa.errors import InputError

SEEN = tables.Schema("seen", pa.schema([("image", pa.string())]), key=("image",))
NAMED = "named"  # in the file's metadata: the words, as JSON


def write_seen(path: Path, images: Iterable[str], named: Collection[str] = ()) -> int:
    """Write the images that had a part in a model's training, held-out ones too; give their number.

    ``named`` are the words that it was taught to tell by what the images show: nouns and attributes of an encoder.
    """
    words = {NAMED: json.dumps(sorted(set(named)), ensure_ascii=False)} if named else {}
    told = replace(SEEN, metadata=words)
    return tables.write(path, told, pa.table({"image": pa.array(sorted(set(images)), pa.string())}))


def named_in(path: Path) -> frozenset[str]:
    """The words that the model of the table ``path`` was taught to tell of its images."""
    return frozenset(json.loads(tables.metadata(path, SEEN).get(NAMED, "[]")))


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
