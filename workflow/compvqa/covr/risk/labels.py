"""The stage risk_labels: claims about images that somebody looked at, and what the image filter saw of them."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compvqa import tables
from compvqa.covr.filters.images.presence import Knowledge, PresenceSettings
from compvqa.covr.risk.calibration import LABELLED, NO_MORE, Labelled, labelled
from compvqa.covr.risk.scoring import Scorer
from compvqa.covr.risk.settings import RiskSettings
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.lexicon import Lexicon


class LabelSettings(PresenceSettings, RiskSettings):
    """How many claims are labelled, and how presence is scored."""


@dataclass(frozen=True)
class Apart:
    """Images apart from all folds: their seeds and candidates, their scene tables as annotated, and complete."""

    seeds: Sequence[Path]
    candidates: Sequence[Path]
    annotated: Path
    complete: Path


def label(
    apart: Apart, lexicon: Path, given: Knowledge, out: Path, settings: LabelSettings, seed: int
) -> dict[str, int]:
    """Write the claims by which risks are calibrated, with their scores by the folds' models of ``given``.

    ``lexicon``: by which people would call things. Counts: claims, and by cause those that are wrong.
    """
    stores = SceneStore(apart.annotated), SceneStore(apart.complete)
    drawn = list(labelled(apart.seeds, apart.candidates, *stores, Lexicon.load(lexicon), settings.labelled, seed))
    asked = [(item.scene_id, item.graph, item.claim == NO_MORE) for item in drawn]
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as beside:
        aside = Knowledge(apart.annotated, given.features, given.models)
        scores = Scorer(aside, settings).scores(asked, Path(beside))
    rows = tables.write(out, LABELLED, sorted(map(_row, drawn, scores.tolist()), key=_key))
    wrong = Counter(f"wrong: {item.cause}" for item in drawn if item.cause)
    return {"in": len(drawn), "out": rows, **dict(sorted(wrong.items()))}


def _row(item: Labelled, score: float) -> dict:
    return {
        "claim": item.claim, "scene_id": item.scene_id, "tree": item.graph.json(),
        "score": None if np.isnan(score) else score, "cause": item.cause,
    }  # fmt: skip


def _key(row: Mapping) -> tuple:
    return tuple(row[name] for name in LABELLED.key)
