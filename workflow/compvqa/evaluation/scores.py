"""Accuracy of runs on the parts of splits, and the generalization score (COVR, section 5).

:mod:`compvqa.evaluation.answers` says what a run is and which of its answers are right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pydantic import Field, PositiveInt

from compvqa import query, tables
from compvqa.evaluation.answers import Run, judge, open_predictions
from compvqa.evaluation.facets import ALL, facets_of
from compvqa.seeds import stable_hash
from compvqa.settings import Settings
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
            ("facet", pa.string()),  # by what the questions were chosen: all, template, property
            ("value", pa.string()),  # and the value that they have: COUNT, HAS-QUANT; "" of all
            ("n", pa.int64()),
            ("right", pa.int64()),
            ("low", pa.float64()),  # bootstrap interval of the accuracy, right / n
            ("high", pa.float64()),
        ]
    ),
    key=("run", "split", "part", "text", "facet", "value"),
)
GENERALIZATION = Schema(
    "generalization",
    pa.schema(
        [
            ("model", pa.string()),
            ("split", pa.string()),
            ("part", pa.string()),
            ("text", pa.string()),  # as in the scores
            ("n", pa.int64()),
            ("seeds", pa.int64()),  # runs with the variant comp
            ("text_only", pa.float64()),  # accuracies from 0 to 1, mean over seeds
            ("comp", pa.float64()),
            ("size", pa.float64()),
            ("score", pa.float64()),  # null where it is undefined, as are low and high
            ("low", pa.float64()),
            ("high", pa.float64()),
        ]
    ),
    key=("model", "split", "part", "text"),
)


class ScoreSettings(Settings):
    """Intervals of accuracies and generalization scores."""

    resamples: PositiveInt = Field(2000, description="bootstrap resamples of the questions")
    level: float = Field(0.95, gt=0, lt=1, description="share of the resamples inside the interval")


def score(
    predictions: Sequence[Path],
    dataset: Path,
    splits: Sequence[Path],
    scores: Path,
    generalization: Path,
    settings: ScoreSettings | None = None,
    seed: int = 0,
    paraphrases: Path | None = None,
) -> dict[str, int]:
    """Write the tables of scores and of generalization scores of the runs in the files ``predictions``.

    Scores are of each run by part and text: over all questions, and over those that have a value of a facet
    (:mod:`compvqa.evaluation.facets`). Of generalization there
    is a row for each model with runs of the variants text, comp and size: accuracies are means over seeds, and the
    interval resamples the questions, the same ones for all three.
    """
    settings = settings or ScoreSettings()
    with query.connect(scores.parent) as db:
        parts = pa.concat_tables(tables.read(path) for path in splits)
        skipped = judge(db, open_predictions(predictions), dataset, parts, paraphrases)
        rows = score_rows(db, dataset, settings, seed)
        compared = generalization_rows(db, settings, seed)
        asked = db.sql("select count(*) from judged").fetchall()[0][0]
    tables.write(scores, SCORES, rows)
    tables.write(generalization, GENERALIZATION, compared)
    dropped = {"dropped: run has no prediction of the part": skipped}
    return {"in": asked, "out": len(rows), "generalization scores": len(compared), **dropped}


def score_rows(db: duckdb.DuckDBPyConnection, dataset: Path, settings: ScoreSettings, seed: int) -> list[dict]:
    """The rows of the scores of what is ``judged`` in ``db``; ``dataset`` tells the questions' facets."""
    asked = db.sql("select distinct question_id from judged").to_arrow_table()["question_id"].combine_chunks()
    db.register("facets", facets_of(dataset, asked))
    found = db.sql(
        f"""select run, split, part, text, '{ALL}' as facet, '' as value, count(*) as n, sum(correct) as "right"
        from judged group by all
        union all
        select run, split, part, text, facet, value, count(*), sum(correct)
        from judged join facets using (question_id) group by all"""
    ).fetchall()
    return [_score_row(row, settings, seed) for row in found]


def _score_row(row: tuple, settings: ScoreSettings, seed: int) -> dict:
    name, split, part, text, facet, value, n, right = row
    run = Run.parse(name)
    low, high = accuracy_interval(right, n, settings, seed)
    return {
        "run": name, "model": run.model, "split": split, "variant": run.variant, "seed": run.seed, "part": part,
        "text": text, "facet": facet, "value": value, "n": n, "right": right, "low": low, "high": high,
    }  # fmt: skip


def generalization_rows(db: duckdb.DuckDBPyConnection, settings: ScoreSettings, seed: int) -> list[dict]:
    """The rows of the generalization scores of what is ``judged`` in ``db``."""
    patterns = db.sql(
        """with averaged as (
            select split_part(run, '.', 1) as model, split, part, text, split_part(run, '.', 3) as variant,
                question_id, avg(correct) as correct, count(*) as seeds
            from judged where part in ('dev_comp', 'test_comp') group by all
        ), questions_of as (
            select model, split, part, text, question_id, max(seeds) filter (variant = 'comp') as seeds,
                max(correct) filter (variant = 'text') as text_only,
                max(correct) filter (variant = 'comp') as comp,
                max(correct) filter (variant = 'size') as size
            from averaged group by all
        )
        select model, split, part, text, text_only, comp, size, count(*) as n, max(seeds) as seeds
        from questions_of where text_only is not null and comp is not null and size is not null
        group by all order by all"""
    ).fetchall()
    groups: dict[tuple, list[tuple]] = {}
    for row in patterns:
        groups.setdefault(row[:4], []).append(row[4:])
    return [_generalization_row(key, group, settings, seed) for key, group in groups.items()]


def _generalization_row(key: tuple, patterns: list[tuple], settings: ScoreSettings, seed: int) -> dict:
    """One row from the distinct outcomes (text_only, comp, size, number of questions, seeds) of the questions."""
    outcomes = np.array([row[:3] for row in patterns], dtype=float)
    counts = np.array([row[3] for row in patterns])
    text_only, comp, size = (counts @ outcomes / counts.sum()).tolist()
    value = generalization_score(text_only, comp, size)
    low, high = None, None
    if value is not None:
        drawn = [generalization_score(*m) for m in _resampled(outcomes, counts, settings, seed, *key).tolist()]
        defined = [d for d in drawn if d is not None]
        low, high = interval(np.array(defined), settings.level) if defined else (None, None)
    model, split, part, text = key
    return {
        "model": model, "split": split, "part": part, "text": text, "n": int(counts.sum()), "seeds": patterns[0][4],
        "text_only": text_only, "comp": comp, "size": size, "score": value, "low": low, "high": high,
    }  # fmt: skip


def generalization_score(text: float, comp: float, size: float) -> float | None:
    """The share of the gap between VBText and VB_iid-size that the model closes: 0 at least, maybe above 1.

    None where there is no gap, that is, where VB_iid-size is no better than VBText.
    """
    return max(0.0, (comp - text) / (size - text)) if size > text else None


def over_seeds(accuracies: Iterable[float]) -> tuple[float, float | None]:
    """Mean and sample standard deviation over seeds; the deviation is None for one seed."""
    values = np.array(list(accuracies), dtype=float)
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None


@cache
def accuracy_interval(correct: int, n: int, settings: ScoreSettings, seed: int) -> tuple[float, float]:
    """The bootstrap interval of the accuracy on ``n`` questions of which ``correct`` are answered right.

    The draws depend on these numbers and the seed alone, so that rows of the same questions have the same interval.
    """
    outcomes, counts = np.array([[1.0], [0.0]]), np.array([correct, n - correct])
    return interval(_resampled(outcomes, counts, settings, seed, correct, n)[:, 0], settings.level)


def interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """The middle ``level`` of ``values``."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resampled(
    outcomes: np.ndarray, counts: np.ndarray, settings: ScoreSettings, seed: int, *key: object
) -> np.ndarray:
    """Means [resamples, k] of bootstrap resamples of questions.

    ``counts`` [m] questions have the ``outcomes`` [m, k]. Drawing how often each outcome occurs is the same
    as drawing the questions, and far cheaper.
    """
    random = np.random.default_rng(stable_hash(seed, "bootstrap", *key) & 0xFFFFFFFF)
    n = int(counts.sum())
    return random.multinomial(n, counts / n, size=settings.resamples) @ outcomes / n
