"""How well the image filter tells annotated images apart, its thresholds, and for which kinds it is switched off."""

from __future__ import annotations

import pandas as pd

from compvqa.covr.subgraphs.keys import KINDS
from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

COLUMNS = [
    "kind",
    "pairs",
    "present",
    "area",
    "low",
    "high",
    "threshold",
    "kept_lacking",
    "lost",
    "found",
    "off",
    "images_present",
]
HEAD = (
    "Annotated", "With it", "In images", "AUC (%)", "Interval", "Filter", "Threshold (%)", "Kept ones that lack it (%)",
    "Good lost (%)", "Bad found (%)",
)  # fmt: skip


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a kind; what is kept is compared with the paper's aim, and why a kind is off stands in the notes."""
    found = frame(one(inputs, "thresholds"), COLUMNS).set_index("kind")
    known = [kind for kind in KINDS if kind in found.index]
    rows = [_row(kind, found.loc[kind], reference.facts["aim"].value) for kind in known]
    off = [f"Off for {kind}s: {found.loc[kind]['off']}." for kind in known if found.loc[kind]["off"]]
    missing = [f"Nobody annotated images that differ in {kind}s: the config's threshold holds." for kind in KINDS]
    missing = [note for kind, note in zip(KINDS, missing, strict=True) if kind not in known]
    notes = (*off, *missing, f"{reference.facts['aim'].text}.", *reference.notes)
    return Table(reference.title, reference.citation, "Differs in", HEAD, tuple(rows), notes)


def _row(kind: str, row: pd.Series, aim: float | None) -> Row:
    known = not pd.isna(row["area"])
    interval = f"{100 * row['low']:.1f} – {100 * row['high']:.1f}" if known else ""
    cells = [
        Cell(int(row["pairs"]), form="count"),
        Cell(int(row["present"]), form="count"),
        Cell(int(row["images_present"]), form="count"),
        Cell(100 * row["area"] if known else None),
        Cell(interval, form="none"),
        Cell("off" if row["off"] else "on", form="none"),
    ]
    if row["off"]:
        return Row(f"{kind.capitalize()}s", (*cells, *[Cell()] * 4))
    cells += [Cell(100 * row["threshold"]), Cell(100 * row["kept_lacking"], paper=aim)]
    return Row(f"{kind.capitalize()}s", (*cells, Cell(100 * row["lost"]), Cell(100 * row["found"])))
