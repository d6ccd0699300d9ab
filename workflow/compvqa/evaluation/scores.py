"""Accuracy of runs on the parts of splits, and the generalization score (COVR, section 5).

A run is named ``<model>.<split>.<variant>.<seed>``: what was trained, on which split, and on which of its
parts: ``iid`` (all of train), ``size`` (train_size, VB_iid-size), ``comp`` (train, VB_M and VB_0), ``text``
(all of train, images zeroed, VBText) or another that a model has. A run trained on the split ``iid`` is
scored on every split, any other on its own, so that all are scored on the same questions. Answers are
compared as strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pydantic import Field, PositiveInt

from compvqa import tables
from compvqa.errors import InputError
from compvqa.models.baseline import PREDICTIONS
from compvqa.seeds import stable_hash
from compvqa.settings import Settings
from compvqa.tables import Schema

IID = "iid"
EVALUATED = ("dev", "test", "dev_iid", "dev_comp", "test_comp")
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
            ("template", pa.string()),  # "" for all templates
            ("property", pa.string()),  # "" for all questions
            ("n", pa.int64()),
            ("accuracy", pa.float64()),  # from 0 to 1
            ("low", pa.float64()),  # bootstrap interval of the accuracy
            ("high", pa.float64()),
        ]
    ),
    key=("run", "split", "part", "template", "property"),
)
GENERALIZATION = Schema(
    "generalization",
    pa.schema(
        [
            ("model", pa.string()),
            ("split", pa.string()),
            ("part", pa.string()),
            ("n", pa.int64()),
            ("seeds", pa.int64()),  # runs with the variant comp
            ("text", pa.float64()),  # accuracies from 0 to 1, mean over seeds
            ("comp", pa.float64()),
            ("size", pa.float64()),
            ("score", pa.float64()),  # null where it is undefined, as are low and high
            ("low", pa.float64()),
            ("high", pa.float64()),
        ]
    ),
    key=("model", "split", "part"),
)


class ScoreSettings(Settings):
    """Intervals of accuracies and generalization scores."""

    resamples: PositiveInt = Field(2000, description="bootstrap resamples of the questions")
    level: float = Field(0.95, gt=0, lt=1, description="share of the resamples inside the interval")


@dataclass(frozen=True)
class Run:
    """What a run's name says."""

    model: str
    split: str
    variant: str
    seed: int

    @staticmethod
    def parse(name: str) -> Run:
        """The run called ``name``; raises :class:`InputError` if that is no run's name."""
        fields = name.split(".")
        if len(fields) != 4 or not all(fields) or not fields[3].isdecimal():
            raise InputError(f"{name!r} is no name of a run: write <model>.<split>.<variant>.<seed>.")
        return Run(*fields[:3], int(fields[3]))


def score(
    predictions: Sequence[Path],
    dataset: Path,
    splits: Sequence[Path],
    out: Path,
    settings: ScoreSettings | None = None,
    seed: int = 0,
) -> dict[str, int]:
    """Write the scores table: accuracy of each run by part, over all templates and by template.

    A part of which a run has no prediction is left out and counted; one of which it has only some, a question
    predicted twice, or a run's name that can't be read raise :class:`InputError`.
    """
    settings = settings or ScoreSettings()
    with duckdb.connect() as db:
        skipped = _load(db, predictions, dataset, splits)
        rows = db.sql(
            """select run, split, part, coalesce(template, '') as template, count(*) as n,
                sum(correct) as correct
            from judged group by grouping sets ((run, split, part), (run, split, part, template))"""
        ).fetchall()
        asked = db.sql("select count(*) from judged").fetchall()[0][0]
    table = [_score_row(row, settings, seed) for row in rows]
    tables.write(out, SCORES, table)
    return {"in": asked, "out": len(table), "dropped: run has no prediction of the part": skipped}


def _load(db: duckdb.DuckDBPyConnection, predictions: Sequence[Path], dataset: Path, splits: Sequence[Path]) -> int:
    """The table ``judged`` (run, split, part, question_id, template, correct: 0 or 1).

    Gives the number of parts of splits that a run has no prediction of.
    """
    given = tables.read_all(predictions, PREDICTIONS, ["run", "question_id", "answer"])
    runs = {name: Run.parse(name) for name in given["run"].unique().to_pylist()}
    db.register("predictions", given)
    db.register("runs", pa.table({"run": list(runs), "trained_on": [run.split for run in runs.values()]}))
    db.register("questions", tables.read(dataset, columns=["question_id", "template", "answer"]))
    db.register("parts", pa.concat_tables(tables.read(path) for path in splits))
    twice = db.sql(
        "select run, question_id from predictions group by all having count(*) > 1 order by all limit 1"
    ).fetchall()
    if twice:
        raise InputError("run {} answers question {} twice: keep one answer.".format(*twice[0]))
    db.execute(
        f"""create table asked as
        select run, split_name as split, part, question_id, template, q.answer, p.answer as predicted
        from runs join parts on (trained_on = '{IID}' or trained_on = split_name)
        join questions q using (question_id) left join predictions p using (run, question_id)
        where part in {EVALUATED}"""
    )
    db.execute(
        """create table covered as
        select run, split, part, count(*) as n, count(predicted) as answered from asked group by all"""
    )
    partial = db.sql(
        """select run, answered, n, part, split from covered where answered not in (0, n)
        order by run, split, part limit 1"""
    ).fetchall()
    if partial:
        message = "run {} answers only {} of the {} questions in part {} of split {}: predict them all."
        raise InputError(message.format(*partial[0]))
    db.execute(
        """create table judged as
        select a.run, a.split, a.part, question_id, template, (predicted = a.answer)::integer as correct
        from asked a join covered c on a.run = c.run and a.split = c.split and a.part = c.part
        where answered > 0"""
    )
    return db.sql("select count(*) from covered where answered = 0").fetchall()[0][0]


def _score_row(row: tuple, settings: ScoreSettings, seed: int) -> dict:
    name, split, part, template, n, correct = row
    run = Run.parse(name)
    outcomes = np.array([[1.0], [0.0]])
    means = _resampled(outcomes, np.array([correct, n - correct]), settings, seed, *row[:4])
    low, high = interval(means[:, 0], settings.level)
    return {
        "run": name, "model": run.model, "split": split, "variant": run.variant, "seed": run.seed,
        "part": part, "template": template, "property": "", "n": n, "accuracy": correct / n,
        "low": low, "high": high,
    }  # fmt: skip


def generalize(
    predictions: Sequence[Path],
    dataset: Path,
    splits: Sequence[Path],
    out: Path,
    settings: ScoreSettings | None = None,
    seed: int = 0,
) -> dict[str, int]:
    """Write the generalization scores of all models that have runs of the variants text, comp and size.

    Accuracies are means over seeds; the interval resamples the questions, the same ones for all three.
    """
    settings = settings or ScoreSettings()
    with duckdb.connect() as db:
        _load(db, predictions, dataset, splits)
        db.execute(
            """create table averaged as
            select split_part(run, '.', 1) as model, split, part, split_part(run, '.', 3) as variant,
                question_id, avg(correct) as correct, count(*) as seeds
            from judged where part in ('dev_comp', 'test_comp') group by all"""
        )
        patterns = db.sql(
            """with questions_of as (
                select model, split, part, question_id, max(seeds) filter (variant = 'comp') as seeds,
                    max(correct) filter (variant = 'text') as text,
                    max(correct) filter (variant = 'comp') as comp,
                    max(correct) filter (variant = 'size') as size
                from averaged group by all
            )
            select model, split, part, text, comp, size, count(*) as n, max(seeds) as seeds
            from questions_of where text is not null and comp is not null and size is not null
            group by all order by all"""
        ).fetchall()
    groups: dict[tuple, list[tuple]] = {}
    for row in patterns:
        groups.setdefault(row[:3], []).append(row[3:])
    rows = [_generalization_row(key, group, settings, seed) for key, group in groups.items()]
    tables.write(out, GENERALIZATION, rows)
    return {"in": sum(row["n"] for row in rows), "out": len(rows)}


def _generalization_row(key: tuple, patterns: list[tuple], settings: ScoreSettings, seed: int) -> dict:
    """One row from the distinct outcomes (text, comp, size, number of questions, seeds) of the questions."""
    outcomes = np.array([row[:3] for row in patterns], dtype=float)
    counts = np.array([row[3] for row in patterns])
    text, comp, size = (counts @ outcomes / counts.sum()).tolist()
    value = generalization_score(text, comp, size)
    low, high = None, None
    if value is not None:
        drawn = [generalization_score(*m) for m in _resampled(outcomes, counts, settings, seed, *key).tolist()]
        defined = [d for d in drawn if d is not None]
        low, high = interval(np.array(defined), settings.level) if defined else (None, None)
    model, split, part = key
    return {
        "model": model, "split": split, "part": part, "n": int(counts.sum()), "seeds": patterns[0][4],
        "text": text, "comp": comp, "size": size, "score": value, "low": low, "high": high,
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


def bootstrap(correct: Sequence[bool] | np.ndarray, settings: ScoreSettings, seed: int, *key) -> tuple[float, float]:
    """The bootstrap interval of the mean of ``correct``, keyed by ``seed`` and ``key``."""
    values, counts = np.unique(np.asarray(correct, dtype=float), return_counts=True)
    return interval(_resampled(values[:, None], counts, settings, seed, *key)[:, 0], settings.level)


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
