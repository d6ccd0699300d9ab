"""Scenes on disk with their subgraphs and an overlap table, to search in."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.subgraphs.enumerate import SubgraphSettings, enumerate_scenes
from compvqa.covr.subgraphs.search import GraphFiles, SearchSettings, find_candidates
from compvqa.covr.subgraphs.tables import CANDIDATES, OVERLAP_COLUMNS, SEEDS
from compvqa.scenes.graph import SceneGraph
from compvqa.tables import Schema
from unit.covr.subgraphs.graph_worlds import ATTRIBUTE_NAMES, NOUNS, RELATION_NAMES, of_world, write_scenes

OVERLAP = Schema(
    "overlap",
    pa.schema(
        [
            ("kind", pa.string()),
            ("x", pa.string()),
            ("y", pa.string()),
            ("m", pa.float32()),
            ("model", pa.string()),
        ]
    ),
    ("kind", "x", "y"),
)
EVERYTHING = {
    "seeds_per_subgraph": 10**6,
    "seeds_per_scene": 10**6,
    "per_key": 10**6,
    "considered": 10**6,
    "group_size": 10**6,
}
NO_LISTS = SubgraphSettings(ignore_nouns=(), ignore_relations=(), dull_nouns=(), min_box_area=0, max_per_scene=10**9)
Pairs = dict[tuple[str, str, str], float]


def split_of(scene_id: str) -> str:
    return "val" if scene_id.endswith(("3", "7")) else "train"


class Store:
    """Scenes with their subgraphs and an overlap table on disk, to search in."""

    def __init__(self, folder: Path, graphs: list[SceneGraph], overlap: Pairs, shards: int = 1, full: bool = False):
        self.folder = folder
        self.scenes = write_scenes(folder / "scenes", graphs, split_of)
        self.files = [(folder / f"subgraphs{i}.parquet", folder / f"occurrences{i}.parquet") for i in range(shards)]
        enumerating = NO_LISTS.model_copy(update={"full_grammar": full})
        for shard, files in enumerate(self.files):
            enumerate_scenes(self.scenes, shard, shards, *files, enumerating)
        rows = [dict(zip(OVERLAP_COLUMNS, (*pair, m), strict=True)) | {"model": "test"} for pair, m in overlap.items()]
        self.overlap = folder / "overlap.parquet"
        tables.write(self.overlap, OVERLAP, rows)

    @property
    def graph(self) -> GraphFiles:
        return GraphFiles(self.scenes, *map(list, zip(*self.files, strict=True)))

    def search(self, shards: int = 1, seed: int = 0, **options) -> tuple[list[dict], list[dict], dict[str, int]]:
        """Rows of seeds and of candidates, of all shards, and the counts."""
        out = [(self.folder / f"seeds{i}.parquet", self.folder / f"candidates{i}.parquet") for i in range(shards)]
        counts = find_candidates(self.graph, self.overlap, out, SearchSettings(**options), seed)
        seeds = [row for path, _ in out for row in tables.read(path, SEEDS).to_pylist()]
        candidates = [row for _, path in out for row in tables.read(path, CANDIDATES).to_pylist()]
        return sorted(seeds, key=lambda r: r["seed"]), sorted(candidates, key=str), counts


VOCABULARY = {"noun": NOUNS, "attribute": ATTRIBUTE_NAMES, "relation": RELATION_NAMES}
PAIRS = [(kind, x, y) for kind, names in VOCABULARY.items() for x in names for y in names if x != y]
OVERLAPS = [None, 0.1, 0.5, 0.9, 0.9]


@st.composite
def overlaps(draw) -> Pairs:
    """Some pairs of names judged, in either direction by itself, others not at all."""
    return {pair: m for pair in PAIRS if (m := draw(st.sampled_from(OVERLAPS))) is not None}


def drawn_overlap(number: int) -> Pairs:
    """The overlap of the ``number``-th drawn world; most of its names exclude each other."""
    rng = random.Random(f"overlap {number}")
    drawn = {pair: rng.choice([*OVERLAPS, 0.9, 0.9, 0.9]) for pair in PAIRS}
    return {(kind, of_world(number, x), of_world(number, y)): m for (kind, x, y), m in drawn.items() if m is not None}
