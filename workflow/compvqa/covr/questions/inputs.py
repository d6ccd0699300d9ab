"""The question stage's inputs, read side by side: each seed with its related scenes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.covr.questions.easy import Draws
from compvqa.covr.questions.readings import Readings
from compvqa.covr.questions.seed import Memory, Negative, Others, Seed
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.errors import InputError
from compvqa.scenes.graph import SceneGraph

POSITIVE, MULTIPLE = "pos", "mult"
SEED_COLUMNS = ("seed", "subgraph_key", "scene_id", "split", "tree", "n_instances")
RELATED_COLUMNS = ("seed", "key", "scene_id", "rank", "nodes", "names")
PRESENCE_COLUMNS = ("scene_id", "subgraph_key", "masked", "p")
BATCH = 4_096  # rows read at a time
BLOCK = 25_000  # seeds held at a time
_parsed = lru_cache(maxsize=20_000)(parse)  # of one subgraph there are several seeds


@dataclass(frozen=True)
class Start:
    """Where a seed is from: the split of its scene, its subgraph's JSON and key."""

    split: str
    tree: str
    subgraph_key: int


def read_seeds(
    seeds: Path,
    related: Path,
    scene: Callable[[str], SceneGraph],
    others: Others | None,
    draws: Draws | None = None,
    readings: Readings | None = None,
) -> Iterator[tuple[Seed, Start]]:
    """The seeds that have related scenes; with ``draws``, also random ones.

    ``readings`` tells them what else their names may be read as. Both tables must be sorted by seed. A block of seeds
    comes in the order of their subgraphs' JSON, which begins with the root: neighbours share scenes, whose graphs are
    built once, and what was found of references in them.
    """
    found = _read_seeds(seeds, related, scene, others, draws, Memory(scene, readings))
    while block := sorted(islice(found, BLOCK), key=lambda item: item[1].tree, reverse=True):
        while block:
            yield block.pop()  # a seed grows while it is asked about


def _read_seeds(
    seeds: Path,
    related: Path,
    scene: Callable[[str], SceneGraph],
    others: Others | None,
    draws: Draws | None,
    memory: Memory,
) -> Iterator[tuple[Seed, Start]]:
    """The same in the order of the tables."""
    groups = groupby(_rows(related, RELATED_COLUMNS), key=itemgetter("seed"))
    current = next(groups, None)
    for row in _rows(seeds, SEED_COLUMNS):
        while current is not None and current[0] < row["seed"]:
            current = next(groups, None)
        if current is None:
            return
        if current[0] == row["seed"]:
            start = Start(row["split"], row["tree"], row["subgraph_key"])
            yield _seed(row, list(current[1]), scene, others, draws, memory), start


def _seed(
    row: dict,
    found: list[dict],
    scene: Callable[[str], SceneGraph],
    others: Others | None,
    draws: Draws | None,
    memory: Memory,
) -> Seed:
    found.sort(key=itemgetter("key", "rank"))
    negatives: dict[str, list[Negative]] = {}
    for item in found:
        if item["key"] not in (POSITIVE, MULTIPLE):
            negative = Negative(item["scene_id"], tuple(item["nodes"]), tuple(item["names"]))
            negatives.setdefault(item["key"], []).append(negative)
    positives, multiples = ([item["scene_id"] for item in found if item["key"] == key] for key in (POSITIVE, MULTIPLE))
    return Seed(
        row["seed"],
        _parsed(row["tree"]),
        row["scene_id"],
        row["n_instances"],
        positives,
        negatives,
        scene,
        others,
        multiples,
        draws.of(row["seed"], row["split"]) if draws else None,
        memory,
    )


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict]:
    """The rows of a table, a batch at a time."""
    try:
        file = pq.ParquetFile(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: run the stage that makes it first.") from None
    with file:
        missing = [name for name in columns if name not in file.schema_arrow.names]
        if missing:
            raise InputError(f"{path} lacks the column {missing[0]}: give the table of the stage before.")
        for batch in file.iter_batches(BATCH, columns=list(columns)):
            names = batch.schema.names
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield dict(zip(names, values, strict=True))


def read_others(presence: Path | None, threshold: float) -> Others | None:
    """The "others exist" check: whether a subgraph seems to be there with its annotated instances masked."""
    if presence is None:
        return None
    table = tables.read(presence, columns=PRESENCE_COLUMNS)
    table = table.filter(pc.and_(table["masked"], pc.greater(table["p"], threshold)))
    found = set(zip(table["scene_id"].to_pylist(), table["subgraph_key"].to_pylist(), strict=True))
    if not found:
        return None
    return lambda scene_id, part: (scene_id, part.key) in found
