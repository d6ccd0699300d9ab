"""The presence of subgraphs in images, by what is seen rather than annotated (COVR, section 3.2 and App.
B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa
from pydantic import Field

from compvqa import plugins, tables
from compvqa.covr.filters.images.asked import ask_candidates, ask_pairs
from compvqa.covr.subgraphs.store import StoreSettings
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.tables import Schema

PRESENCE = Schema(
    "presence",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("subgraph_key", pa.int64()),  # a simple subgraph
            ("masked", pa.bool_()),  # asked with the boxes of the annotated instances zeroed
            ("p", pa.float32()),  # the probability that the subgraph is in the image
            ("by_text", pa.float32()),  # the same by the text alone; null: a method tells nothing else
            ("fold", pa.int8()),  # the fold whose model gave it
        ]
    ),
    key=("scene_id", "subgraph_key", "masked"),
)


class ScoringSettings(StoreSettings):
    """How the presence of subgraphs in images is scored."""

    method: str = Field("none", description="Module in compvqa.covr.filters.images.methods that gives the scores")
    without_boxes: Literal["accept", "refuse"] = Field(
        "accept", description="What becomes of a scene whose annotated instances have no boxes to be masked by"
    )
    least_overlap: float = Field(
        0.3, gt=0, le=1, description="A region is masked if its intersection over union with an instance is so large"
    )
    least_covered: float = Field(
        0.7, gt=0, le=1, description="A region is masked if so large a share of it lies in an instance"
    )
    batch_size: int = Field(256, ge=1, description="Pairs that are scored at once; no score of float64 depends on it")
    precision: Literal["auto", "float64", "float32", "bfloat16"] = Field(
        "auto", description="Of the models' layers; auto: bfloat16 where a GPU is, else float64"
    )
    workers: int = Field(0, ge=0, description="Processes that load regions")
    threads: int = Field(1, ge=1, description="Threads of torch and of DuckDB")


class PresenceSettings(ScoringSettings):
    """The same, with what other stages' settings say of it."""

    folds: int = Field(5, ge=2, description="Parts of the images, each with a model of its own")
    tried: int = Field(30, ge=1, description="Candidates of a seed and key that are asked about, at most")


@dataclass(frozen=True)
class Knowledge:
    """What a method may look at: the folders of scene tables, of region features, and of the folds' models."""

    scenes: Path
    features: Path
    models: Path


Ask = Callable[[Path, Path], int]


class Method(Protocol):
    """A module of ``compvqa.covr.filters.images.methods``."""

    def score(
        self,
        ask: Ask,
        masked: bool,
        given: Knowledge | None,
        settings: PresenceSettings,
        out: Path,
        counts: Counter[str],
    ) -> Iterator[pa.RecordBatch]:
        """The rows of the presence table ``out``, in whole row groups sorted by its key; counts on in ``counts``.

        ``ask(asked, trees)`` writes the pairs that are asked about, and their subgraphs (filters.asked), and gives
        their number. ``masked``: with the boxes of the annotated instances zeroed.
        """


def score_candidates(
    seeds: Path, candidates: Path, out: Path, given: Knowledge | None, settings: PresenceSettings
) -> dict[str, int]:
    """Write the presence of the seeds' simple subgraphs in their candidate images: all that the filter of related
    images may ask."""
    return _scored(out, False, given, settings, partial(ask_candidates, seeds, candidates, settings.tried))


def score_pairs(
    pairs: Iterable[tuple[str, Subgraph]], masked: bool, out: Path, given: Knowledge | None, settings: PresenceSettings
) -> dict[str, int]:
    """Write, for ``pairs`` of a scene and a simple subgraph, its presence; ``masked``: whether others than the
    annotated instances are there."""
    return _scored(out, masked, given, settings, partial(ask_pairs, pairs))


def _scored(
    out: Path, masked: bool, given: Knowledge | None, settings: PresenceSettings, asker: Callable[..., int]
) -> dict[str, int]:
    counts: Counter[str] = Counter()
    rows = method(settings.method).score(partial(asker, settings=settings), masked, given, settings, out, counts)
    written = tables.write(out, PRESENCE, pa.RecordBatchReader.from_batches(PRESENCE.fields, rows))
    return {"in": counts.pop("in", 0), "out": written, **counts}


def method(name: str) -> Method:
    """The method called ``name``; InputError tells which there are."""
    return plugins.find("compvqa.covr.filters.images.methods", name, "score", "presence.method")
