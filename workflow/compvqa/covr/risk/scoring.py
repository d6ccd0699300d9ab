"""What speaks for and against a claim: what the image filter's folds saw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE, Knowledge, PresenceSettings, score_pairs
from compvqa.covr.subgraphs.simple import closest_subgraphs
from compvqa.covr.subgraphs.subgraph import Held, Reference, Subgraph

Asked = tuple[str, Reference, bool]  # a scene, a reference, and whether the annotated instances are masked


@dataclass(frozen=True)
class Scorer:
    """Scores claims about the scenes of ``given``; what is in no table of presence ``known`` is asked of the folds."""

    given: Knowledge
    settings: PresenceSettings
    known: Sequence[Path] = ()

    def scores(self, asked: Sequence[Asked], beside: Path) -> np.ndarray:
        """The score of each claim [n]: the least presence, by text alone as well, of the simple subgraphs that say
        most of its reference; NaN where one has none. Tables are written ``beside`` for a while."""
        seen = {
            masked: self._presence(_parts(asked, masked), masked, beside / f"masked-{masked}.parquet")
            for masked in (False, True)
        }
        found = np.full(len(asked), np.nan)
        for number, (scene_id, g, masked) in enumerate(asked):
            p = [seen[masked].get((scene_id, part.key), np.nan) for part in _closest(g)]
            found[number] = np.min(p)  # NaN, if any is
        return found

    def _presence(
        self, pairs: dict[tuple[str, int], Subgraph], masked: bool, out: Path
    ) -> dict[tuple[str, int], float]:
        result: dict[tuple[str, int], float] = {}
        for path in self.known:
            result |= _wanted(tables.read(path, PRESENCE), masked, pairs)
        left = ((scene_id, part) for (scene_id, key), part in pairs.items() if (scene_id, key) not in result)
        score_pairs(left, masked, out, self.given, self.settings)
        return result | _wanted(tables.read(out, PRESENCE), masked, pairs)


def _closest(g: Reference) -> list[Subgraph]:
    """The simple subgraphs that say most of what is referred to, and of what holds it."""
    if not isinstance(g, Held):
        return list(closest_subgraphs(g))
    held = [part for part in closest_subgraphs(g.edge.target) if part.edges]
    return [*closest_subgraphs(g.whole), *held]


def _parts(asked: Iterable[Asked], masked: bool) -> dict[tuple[str, int], Subgraph]:
    """The pairs of a scene and a simple subgraph's key that are asked about, with the subgraphs."""
    of = ((scene_id, g) for scene_id, g, hidden in asked if hidden == masked)
    return {(scene_id, part.key): part for scene_id, g in of for part in _closest(g)}


def _wanted(table: pa.Table, masked: bool, pairs: dict[tuple[str, int], Subgraph]) -> dict[tuple[str, int], float]:
    table = table.filter(pc.equal(table["masked"], masked))
    columns = (table[name].to_pylist() for name in ("scene_id", "subgraph_key", "p", "by_text"))
    rows = (row for row in zip(*columns, strict=True) if row[:2] in pairs)
    return {(scene, key): p if by_text is None else min(p, by_text) for scene, key, p, by_text in rows}
