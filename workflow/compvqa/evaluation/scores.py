"""Accuracy of runs on the parts of splits, and the contrasts that are made of accuracies.

:mod:`compvqa.evaluation.answers` says what a run is and which of its answers are right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pydantic import Field

from compvqa import query, tables
from compvqa.evaluation.answers import Run, grade, open_predictions
from compvqa.evaluation.contrasts import CONTRASTS, contrast_rows
from compvqa.evaluation.facets import ALL, facets_of
from compvqa.evaluation.intervals import Resampling, accuracy_interval, clustered_interval
from compvqa.evaluation.tallies import TALLIES, tally, tally_rows
from compvqa.programs import wings
from compvqa.questions.dataset import language_of
from compvqa.splits.held import tell_held
from compvqa.splits.seen_before import SEEN_BEFORE
from compvqa.tables import Schema

SCORES = Schema(
    "scores",
    pa.schema(
        [
            ("run", pa.string()),
            ("model", pa.string()),
            ("split", pa.string()),  # whose part is scored
            ("variant", pa.string()),
            ("seed", pa.int64()),
            ("part", pa.string()),
            ("text", pa.string()),  # what was asked: the generated text, or its paraphrase
            ("facet", pa.string()),  # by what the questions were chosen: all, template, property …
            ("value", pa.string()),  # and the value that they have: COUNT, HAS-QUANT …; "" of all
            ("n", pa.int64()),
            ("right", pa.int64()),
            ("low", pa.float64()),  # bootstrap interval of the accuracy, right / n
            ("high", pa.float64()),
            # examples of the run's pretraining that have what its split holds out; null: nothing is, or it is not told
            ("asked_before", pa.int64()),
        ]
    ),
    key=("run", "split", "part", "text", "facet", "value"),
)
FILES = {"scores.parquet": SCORES, "contrasts.parquet": CONTRASTS, "tallies.parquet": TALLIES}  # of an evaluation


class ScoreSettings(Resampling):
    """Intervals of accuracies, by what these are told, and which contrasts are made of them."""

    facets: tuple[str, ...] = Field(
        (), description="facets of the questions' language that accuracies are told by, beside template and property"
    )

    contrasts: tuple[str, ...] = Field(
        ("generalization",), description="modules of evaluation/contrasts: numbers made of several accuracies"
    )


def score(
    predictions: Sequence[Path],
    dataset: Path,
    splits: Sequence[Path],
    scores: Path,
    contrasts: Path,
    settings: ScoreSettings | None = None,
    seed: int = 0,
    paraphrases: Path | None = None,
    scenes: Path | None = None,
    seen: Sequence[Path] = (),
    tallies: Path | None = None,
) -> dict[str, int]:
    """Write the tables of scores, of contrasts and, where they are wanted, of tallies of the runs in the files
    ``predictions``.

    Scores are of each run by part and text: over all questions, and over those that have a value of a facet
    (:mod:`compvqa.evaluation.facets`). ``scenes`` is the scenes table; the tables beside it are read only if a facet
    looks at questions' scenes. ``seen`` are the guard's tables of what models have seen of splits
    (:mod:`compvqa.splits.seen_before`).
    """
    settings = settled(settings or ScoreSettings(), dataset)
    with query.connect(scores.parent) as db:
        parts = pa.concat_tables(tables.read(path) for path in splits)
        skipped = grade(db, open_predictions(predictions), dataset, parts, paraphrases, settings.resample)
        told = tables.read_all(seen, SEEN_BEFORE).to_pylist()
        before = {(row["model"], row["split"], row["variant"]): row["asked"] for row in told}
        rows = [row | _before(row, before) for row in score_rows(db, dataset, settings, seed, scenes)]
        tell_held(db, splits)
        compared = contrast_rows(settings.contrasts, db, settings, seed)
        if tallies:
            tables.write(tallies, TALLIES, tally_rows(db))
        asked = db.sql("select count(*) from graded").fetchall()[0][0]
    tables.write(scores, SCORES, rows)
    tables.write(contrasts, CONTRASTS, compared)
    dropped = {"dropped: run has no prediction of the part": skipped}
    return {"in": asked, "out": len(rows), "contrasts": len(compared), **dropped}


def gather(folders: Sequence[Path], made: Mapping[str, Path]) -> dict[str, int]:
    """Write the tables of :data:`FILES` of several chains, in ``folders``, as one each, to the paths in ``made``."""
    written = {}
    for name, path in made.items():
        tables_of = [tables.read(folder / name, FILES[name]) for folder in folders]
        written[name.removesuffix(".parquet")] = tables.write(path, FILES[name], pa.concat_tables(tables_of))
    return {"in": len(folders), "out": written.pop("scores"), **written}


def settled(settings: ScoreSettings, dataset: Path) -> ScoreSettings:
    """The settings with what the language of the dataset's questions says where they leave it open: what is drawn."""
    drawn = settings.resample or wings.language(language_of(dataset)).resampled
    return settings.model_copy(update={"resample": drawn})


def _before(row: Mapping[str, Any], before: Mapping[tuple[str, str, str], int | None]) -> dict[str, int | None]:
    """What the pretraining of a row's run asked of what its split holds out; one of another split has none to hold."""
    run = Run.parse(row["run"])
    kind = run.variant.rstrip("0123456789")
    return {"asked_before": before.get((run.model, run.split, kind)) if run.split == row["split"] else None}


def score_rows(
    db: duckdb.DuckDBPyConnection, dataset: Path, settings: ScoreSettings, seed: int, scenes: Path | None = None
) -> list[dict[str, Any]]:
    """The rows of the scores of what is ``graded`` in ``db``; ``dataset`` tells the questions' facets, with the tables
    beside ``scenes``."""
    asked = db.sql("select distinct question_id from graded").to_arrow_table()["question_id"].combine_chunks()
    db.register("facets", facets_of(dataset, asked, settings.facets, scenes))
    db.execute(
        f"""create view by_facet as
        select run, split, part, text, '{ALL}' as facet, '' as value, unit, correct from graded
        union all
        select run, split, part, text, facet, value, unit, correct from graded join facets using (question_id)"""
    )
    tally(db, settings.resample)
    found = db.sql(
        """select run, split, part, text, facet, value, sum(n * units)::bigint, sum("right" * units)::bigint,
            list(("right", n, units)) from tallied group by all"""
    ).fetchall()
    return [_score_row(row[:8], _interval(row[6:], settings, seed)) for row in found]


def _interval(told: tuple[Any, ...], settings: Resampling, seed: int) -> tuple[float, float]:
    """The interval of an accuracy of n questions, so many right, in units of these patterns."""
    n, right, patterns = told
    if settings.resample == "questions":
        return accuracy_interval(right, n, settings, seed)
    return clustered_interval(patterns, settings, seed)


def _score_row(row: tuple[Any, ...], between: tuple[float, float]) -> dict[str, Any]:
    name, split, part, text, facet, value, n, right = row
    run = Run.parse(name)
    low, high = between
    return {
        "run": name, "model": run.model, "split": split, "variant": run.variant, "seed": run.seed, "part": part,
        "text": text, "facet": facet, "value": value, "n": n, "right": right, "low": low, "high": high,
    }  # fmt: skip


def over_seeds(accuracies: Iterable[float]) -> tuple[float, float | None]:
    """Mean and sample standard deviation over seeds; the deviation is None for one seed."""
    values = np.array(list(accuracies), dtype=float)
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None
