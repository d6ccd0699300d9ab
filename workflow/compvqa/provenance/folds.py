"""The proof that no image was scored by a model that was trained on it (COVR, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from compvqa.provenance.history import History, Record

SCORERS = ("presence", "others")
SAW, ENCODER_SAW = "saw.parquet", "encoder_saw.parquet"

_SCORED = """
    with scored as (
        select image, count(*) as pairs from presence join scenes using (scene_id)
        where $fold is null or fold = $fold group by image
    )
    select count(*), coalesce(sum(pairs), 0)::bigint, count(saw.image), (select count(*) from saw), min(saw.image)
    from scored left join saw on scored.image = saw.image"""


def scored(history: History, records: Sequence[Record]) -> list[dict]:
    """For each table of presence and each fold, what the fold's model was asked about, and how much of it it had seen.

    Each has ``table``, ``model``, ``images`` and ``pairs`` that it scored, ``saw`` (the images of its training),
    ``both`` (0 where nothing is wrong), ``first`` (an image among these), and ``missing``: the files, no longer there,
    without which nothing can be said.
    """
    found = []
    for record in records:
        if record.stage not in SCORERS:
            continue
        scenes = [path for path in record.inputs if path.endswith("scenes/scenes.parquet")]
        seen = [path for path in record.inputs if Path(path).name in (SAW, ENCODER_SAW)]
        for table in record.outputs:
            found += [_fold(history.root, table, scenes[0], path) for path in sorted(seen)]
    return found


def _fold(root: Path, table: str, scenes: str, saw: str) -> dict:
    """One table and one model; the encoder of the regions' features was asked about the images of all folds."""
    row = {"table": table, "model": Path(saw).parent.as_posix(), "missing": []}
    row["missing"] = [path for path in (table, scenes, saw) if not (root / path).is_file()]
    if row["missing"]:
        return row
    fold = None if Path(saw).name == ENCODER_SAW else int(Path(saw).parent.name)
    with duckdb.connect() as connection:
        for name, path in {"presence": table, "scenes": scenes, "saw": saw}.items():
            connection.read_parquet(str(root / path)).create_view(name)
        (values,) = connection.execute(_SCORED, {"fold": fold}).fetchall()
    return row | dict(zip(("images", "pairs", "both", "saw", "first"), values, strict=True))
