"""The presence of subgraphs in images, by what is seen rather than annotated (COVR, section 3.2 and App.
B)."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.errors import InputError
from compvqa.filters import presence
from compvqa.settings import Settings
from compvqa.tables import Schema

PRESENCE = Schema(
    "presence",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("subgraph_key", pa.int64()),  # a simple subgraph
            ("masked", pa.bool_()),  # asked with the boxes of the annotated instances zeroed
            ("p", pa.float32()),  # the probability that the subgraph is in the image
            ("fold", pa.int8()),  # the fold whose model gave it
        ]
    ),
    key=("scene_id", "subgraph_key", "masked"),
)


class PresenceSettings(Settings):
    """How the presence of subgraphs in images is scored."""

    method: str = Field("none", description="Module in compvqa.filters.presence that gives the scores")


class Method(Protocol):
    """A module of ``compvqa.filters.presence``."""

    def score(self, candidates: Path, seeds: Path, settings: PresenceSettings) -> pa.Table | pa.RecordBatchReader:
        """The rows of the presence table; a stream must come sorted by its key."""


def score_presence(candidates: Path, seeds: Path, out: Path, settings: PresenceSettings) -> dict[str, int]:
    """Write the presence of the seeds' simple subgraphs in their candidate images, as far as the method
    asks."""
    rows = tables.write(out, PRESENCE, _method(settings.method).score(candidates, seeds, settings))
    return {"out": rows}


def _method(name: str) -> Method:
    known = sorted(module.name for module in pkgutil.iter_modules(presence.__path__))
    if name not in known:
        raise InputError(f"presence.method: there is no {name!r}; use one of {', '.join(known)}.")
    return importlib.import_module(f"compvqa.filters.presence.{name}")
