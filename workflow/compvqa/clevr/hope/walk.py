"""A held-out pair's walk over pools of scenes: from each list, by number of objects, it takes what fits in its order
(section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import duckdb
import pyarrow as pa

from compvqa import query, tables
from compvqa.clevr.hope.sets import SETS, PairSettings, Taken, among_of, sets_of, vocabulary_of
from compvqa.clevr.words import Words
from compvqa.errors import InputError
from compvqa.scenes.pairs import Pair
from compvqa.scenes.values import WITH_PAIR, open_scenes
from compvqa.scenes.worlds.clevr_pools import shares, tag_in, tag_of
from compvqa.tables import Schema

TAKEN = Schema(
    "taken",
    pa.schema([("pool", pa.string()), ("place", pa.int64()), ("scene_id", pa.string())]),
    key=("pool", "place"),
)


def walk(scenes: Path, settings: PairSettings, words: Words, out: Path, memory: str = "1GB") -> dict[str, int]:
    """Write which scenes of a folder of scene tables a pair takes, by pool and in order; gives counts.

    InputError where a pool has too few.
    """
    vocabulary, rows, counts = vocabulary_of(words), [], {}
    with query.connect(out.parent, memory) as connection:
        open_scenes(connection, scenes)
        for name in sets_of(settings):
            found, pool = SETS[name], SETS[name].pool
            if f"out: {pool}" in counts:
                continue
            tag = tag_of(settings.pair, vocabulary, among_of(settings, name))
            wanted = settings.hope.pools[pool]
            lists = fitting(connection, wanted.sides, settings.pair, found.has == "pair", tag)
            taken = in_turn(lists, pool, wanted)
            rows += [{"pool": pool, "place": place, "scene_id": scene} for place, scene in enumerate(taken)]
            counts[f"out: {pool}"] = len(taken)
    tables.write(out, TAKEN, rows)
    return {"out": len(rows)} | counts


def fitting(
    connection: duckdb.DuckDBPyConnection, sides: Sequence[str], pair: Pair, present: bool, tag: str
) -> dict[int, list[str]]:
    """The scenes of some sides that have a pair, or have it not, by their number of objects; those of the first side
    come first, and each side's by their ids. ``tag`` is that of the vocabulary."""
    sql = f"""SELECT scene_id, split, count(*), scene_id IN ({WITH_PAIR}) FROM scenes JOIN objects USING (scene_id)
        WHERE list_contains($sides, split) GROUP BY ALL ORDER BY scene_id"""
    rows = connection.execute(sql, {"sides": list(sides), "x": pair[0], "y": pair[1]}).fetchall()
    lists: dict[int, list[str]] = {}
    for scene, _, many, has in sorted(rows, key=lambda row: sides.index(row[1])):
        if tag_in(scene) == tag:
            of = lists.setdefault(many, [])
            of += [scene] if has == present else []
    return lists


def in_turn(lists: dict[int, list[str]], pool: str, wanted: Taken) -> list[str]:
    """The first scenes of each list, the same number of each as far as it can be, one of each list in turn."""
    numbers = sorted(lists)
    if not numbers:
        raise InputError(f"the pool {pool} has no scene that fits: draw the world's scenes for this pair.")
    parts = dict(zip(numbers, shares(wanted.scenes, len(numbers)), strict=True))
    if short := [many for many, part in parts.items() if len(lists[many]) < part]:
        many = short[0]
        raise InputError(
            f"the pool {pool} has {len(lists[many]):,} scenes of {many} objects that fit, of {parts[many]:,} that are "
            "to be taken: draw more scenes, or take fewer (dataset.pools)."
        )
    turns = zip_longest(*(lists[many][: parts[many]] for many in numbers))
    return [scene for turn in turns for scene in turn if scene is not None]


def taken_of(path: Path, pool: str) -> list[str]:
    """The scenes that a pair takes of a pool, in their order."""
    return [row["scene_id"] for row in tables.read(path, TAKEN).to_pylist() if row["pool"] == pool]
