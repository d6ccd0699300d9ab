"""What the authors' own word filters predicted, as they released it (COVR's adversarial_groups.yaml): a table of pairs.

A list of predictions has the pairs of one label alone; what two names are that stand in the lists of a kind, but not
together, is the other one. Of names that stand in none of them nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from compvqa import tables
from compvqa.covr.filters.words.labels import EXCLUSIVE, OVERLAPPING, PREDICTED, RELEASED, canonical
from compvqa.errors import InputError
from compvqa.files import read_yaml
from compvqa.tables import Schema

PAIRS = Schema(
    "released_pairs",
    pa.schema(
        [
            ("kind", pa.string()),  # noun, attribute or relation
            ("x", pa.string()),  # of nouns and attributes, the first of the two by alphabet
            ("y", pa.string()),
            ("by", pa.string()),  # people or model
            ("label", pa.string()),  # exclusive or overlapping
        ]
    ),
    key=("kind", "x", "y", "by"),
)
PEOPLE, MODEL = "people", "model"
M = {EXCLUSIVE: 1.0, OVERLAPPING: 0.0}
OTHER = {EXCLUSIVE: OVERLAPPING, OVERLAPPING: EXCLUSIVE}


def predicted(name: str) -> str:
    """What the list of predictions is called beside people's list ``name``: contradicting_predicted_nouns."""
    label, _, kind = name.rpartition("_")
    return f"{label}{PREDICTED}{kind}"


def read_released(path: Path, out: Path) -> dict[str, int]:
    """Write the pairs in people's lists and in the model's of the YAML file ``path``; a pair that is in lists of both
    labels, and what is no pair of names, is counted and left out."""
    lists = read_yaml(path, "give COVR's adversarial_groups.yaml")
    if not any(lists.get(predicted(name)) for name in RELEASED):
        known = ", ".join(map(predicted, RELEASED))
        raise InputError(
            f"{path} has no list of predictions: give COVR's adversarial_groups.yaml, with some of {known}."
        )
    found: dict[tuple[str, str, str, str], set[str]] = {}
    counts: Counter[str] = Counter({"in": 0, "dropped: no pair of names": 0, "dropped: in lists of both labels": 0})
    for name, (kind, label) in RELEASED.items():
        for by, listed in ((PEOPLE, lists.get(name)), (MODEL, lists.get(predicted(name)))):
            for pair in _pairs(listed or (), counts):
                found.setdefault((*canonical(kind, *pair), by), set()).add(label)
    rows = [
        dict(zip(PAIRS.fields.names, (*key, min(labels)), strict=True))
        for key, labels in sorted(found.items())
        if len(labels) == 1
    ]
    counts["dropped: in lists of both labels"] = len(found) - len(rows)
    counts.update(f"{row['kind']} pairs by {row['by']}" for row in rows)
    return {**counts, "out": tables.write(out, PAIRS, rows)}


def _pairs(listed: Sequence[object], counts: Counter[str]) -> Iterator[tuple[str, str]]:
    for pair in listed:
        counts["in"] += 1
        names = [name.strip() for name in pair.split(",")] if isinstance(pair, str) else []
        if len(names) == 2 and all(names) and names[0] != names[1]:
            yield names[0], names[1]
        else:
            counts["dropped: no pair of names"] += 1


def predictions(table: Path, kind: str) -> Callable[[Sequence[str], Sequence[str]], list[float | None]]:
    """A function that gives m of the pairs (xs[i], ys[i]): 1 or 0; None where the lists do not know a name."""
    rows = [row for row in tables.read(table, PAIRS).to_pylist() if row["kind"] == kind]
    names = {row[side] for row in rows for side in "xy"}
    of_model = {(row["x"], row["y"]): row["label"] for row in rows if row["by"] == MODEL}
    labels = set(of_model.values())
    other = OTHER[min(labels)] if len(labels) == 1 else None  # lists of both labels leave the rest open

    def one(x: str, y: str) -> float | None:
        label = of_model.get(canonical(kind, x, y)[1:], other)
        return M[label] if label is not None and x in names and y in names else None

    return lambda xs, ys: [one(x, y) for x, y in zip(xs, ys, strict=True)]
