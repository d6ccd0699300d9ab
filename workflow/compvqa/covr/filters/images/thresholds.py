"""Thresholds of presence, set on annotated pairs of a scene and a subgraph (COVR, section 3.2 and App. B).

The pairs are a table with the columns of :data:`ANNOTATED`: candidate images of a subgraph, what differs there (object,
relation or attribute), and whether somebody found the subgraph in the image after all (1) or not (0).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.covr.filters.floors import LEVEL, area
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.subgraphs.keys import KINDS
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.given import read_given
from compvqa.settings import Settings

ANNOTATED = tables.Schema(
    "annotated",
    pa.schema([("scene_id", pa.string()), ("tree", pa.string()), ("differs", pa.string()), ("label", pa.int8())]),
    key=("scene_id", "tree", "differs"),
    unique=False,  # people may look at an image twice
)


THRESHOLDS = tables.Schema(
    "thresholds",
    pa.schema(
        [
            ("kind", pa.string()),  # of the differing node: object, relation or attribute
            ("pairs", pa.int64()),  # annotated
            ("present", pa.int64()),  # of these, with the subgraph in the image after all
            ("area", pa.float64()),  # under the ROC curve; null where a class is missing, as are low and high
            ("low", pa.float64()),
            ("high", pa.float64()),
            ("threshold", pa.float64()),
            ("kept_lacking", pa.float64()),  # of the images kept, share that truly lack the subgraph
            ("lost", pa.float64()),  # of the good images, share that is dropped
            ("found", pa.float64()),  # of the others, share that is dropped
            ("off", pa.string()),  # why the filter is switched off for the kind; "" where it is on
            ("images", pa.int64()),  # that the pairs are of
            ("images_present", pa.int64()),  # of these, with a subgraph in it after all
        ]
    ),
    key=("kind",),
)


class ThresholdSettings(Settings):
    """How thresholds are set."""

    target: float = Field(
        0.95, gt=0, le=1, description="share of the images kept that truly lack the subgraph, at least (paper: 0.95)"
    )
    most_lost: float = Field(
        0.1, ge=0, lt=1, description="share of the good images that may be dropped to come above the target"
    )
    least_area: float = Field(
        0.6,
        ge=0.5,
        le=1,
        description="the filter is switched off for a kind if the area under its ROC curve is less, or not surely more "
        "than a constant's 0.5",
    )
    level: float = Field(LEVEL, gt=0, lt=1, description="of the interval by which that is sure")
    least_found: float = Field(
        0.05, ge=0, le=1, description="it is also switched off if the threshold finds a smaller share of the bad images"
    )


@dataclass(frozen=True)
class Annotated:
    """A candidate image of a subgraph, and whether the subgraph is there."""

    scene_id: str
    graph: Subgraph
    differs: str
    present: bool


def read_annotated(path: Path) -> list[Annotated]:
    """The annotated pairs in a table (CSV, JSON lines or Parquet); InputError names the line that is wrong."""
    return [_checked(where, *row) for where, row in read_given(path, ANNOTATED.fields.names)]


def _checked(where: str, scene_id: str, tree: str, differs: str, label: str) -> Annotated:
    try:
        graph = parse(tree)
    except (ValueError, TypeError):
        raise InputError(f"{where}: {tree!r} is no subgraph's tree: copy it from seeds.") from None
    if differs not in KINDS or label not in ("0", "1"):
        raise InputError(f"{where}: differs must be one of {', '.join(KINDS)}, and label 0 or 1.")
    return Annotated(scene_id, graph, differs, label == "1")


def write_annotated(path: Path, found: Iterable[Annotated]) -> None:
    """Write pairs as :func:`read_annotated` reads them, as Parquet."""
    rows = ((item.scene_id, item.graph.json(), item.differs, int(item.present)) for item in found)
    tables.write(path, ANNOTATED, [dict(zip(ANNOTATED.fields.names, row, strict=True)) for row in rows])


def pairs_of(found: Iterable[Annotated]) -> Iterable[tuple[str, Subgraph]]:
    """What a classifier has to be asked about annotated pairs: each scene with the subgraph's simple subgraphs."""
    return ((item.scene_id, part) for item in found for part in simple_subgraphs(item.graph))


def set_thresholds(
    annotated: Path, presence: Path, out: Path, settings: ThresholdSettings, table: Path | None = None
) -> dict[str, int]:
    """Write the threshold of each kind of differing node as JSON, by the scores of ``presence``.

    An image is kept if the least score of the simple subgraphs is at most the threshold. A kind for which the filter is
    no better than a constant, or finds hardly any bad image, gets null, and a warning says why: its images are not
    filtered. Kinds without annotated pairs are left out. All that is measured goes into ``table``. Counts: pairs, and
    per mille what is kept right, what is lost of the good and found of the others.
    """
    rows = tables.read(presence, PRESENCE).to_pylist()
    p = {(row["scene_id"], row["subgraph_key"]): row["p"] for row in rows if not row["masked"]}
    found: dict[str, list[tuple[float, bool, str]]] = {kind: [] for kind in KINDS}
    for item in read_annotated(annotated):
        scores = [p.get((item.scene_id, part.key), 0.0) for part in simple_subgraphs(item.graph)]
        found[item.differs].append((min(scores), item.present, item.scene_id))
    counts = {"in": sum(map(len, found.values()))}
    rows = [_judged(kind, pairs, settings) for kind, pairs in found.items() if pairs]
    for row in rows:
        counts |= {f"{row['kind']}: {what}": value for what, value in _told(row).items()}
        if row["off"]:
            warnings.warn(
                f"the image filter is switched off where {row['kind']}s differ: on {row['pairs']} annotated pairs"
                f" ({row['present']} with the subgraph, in {row['images_present']} images) {row['off']};"
                " annotate more of them, train it on more examples, or lower presence.calibration.least_area and"
                " least_found.",
                stacklevel=2,
            )
    if table is not None:
        tables.write(table, THRESHOLDS, rows)
    write_json(out, {row["kind"]: None if row["off"] else row["threshold"] for row in rows})
    return counts


def _judged(kind: str, pairs: list[tuple[float, bool, str]], settings: ThresholdSettings) -> dict:
    """The row of a kind: its threshold, what that does, and whether it is worth using."""
    scores, present, images = (np.array(column) for column in zip(*pairs, strict=True))
    tau = threshold(scores, present, settings)
    measured, kept = area(scores, present, settings.level, images), scores <= tau
    found = float((~kept & present).sum() / max(present.sum(), 1))
    off = measured.shortfall(settings.least_area, "the area under its ROC curve")
    if not off and found < settings.least_found:
        off = f"its threshold finds {found:.2f} of the bad images, below the floor of {settings.least_found:g}"
    return {
        "kind": kind,
        "pairs": len(scores),
        "present": int(present.sum()),
        "area": measured.value,
        "low": measured.low,
        "high": measured.high,
        "threshold": tau,
        "kept_lacking": float((kept & ~present).sum() / max(kept.sum(), 1)),
        "lost": float((~kept & ~present).sum() / max((~present).sum(), 1)),
        "found": found,
        "off": off,
        "images": len(np.unique(images)),
        "images_present": len(np.unique(images[present])),
    }


def threshold(scores: np.ndarray, present: np.ndarray, settings: ThresholdSettings) -> float:
    """The threshold for images with these ``scores`` [n], of which some have the subgraph (``present``, bool [n]).

    The one that finds most of these without losing more than ``most_lost`` of the others, if what it keeps is right
    often enough; else the largest that keeps enough right; 0 where none does.
    """
    order = np.argsort(scores, kind="stable")
    ordered, good = scores[order], ~present[order]
    last = np.append(ordered[1:] != ordered[:-1], True)  # the last of equal scores: all of them are kept or none
    kept = np.cumsum(good)[last]
    right, lost = kept / (np.flatnonzero(last) + 1), (good.sum() - kept) / max(good.sum(), 1)
    taus, enough = ordered[last], right >= settings.target
    cheap = np.flatnonzero(enough & (lost <= settings.most_lost))
    if len(cheap):
        return float(taus[cheap[0]])
    return float(taus[np.flatnonzero(enough)[-1]]) if enough.any() else 0.0


def _told(row: dict) -> dict[str, int]:
    shares = {
        "threshold": row["threshold"],
        "kept that lack it": row["kept_lacking"],
        "good lost": row["lost"],
        "others found": row["found"],
    }
    told = {f"{what}, per mille": round(1000 * share) for what, share in shares.items()}
    return {"pairs": row["pairs"]} | told | ({"switched off": 1} if row["off"] else {})
