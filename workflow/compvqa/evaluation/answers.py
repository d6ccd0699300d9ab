"""Which questions each run answers right, on the parts of splits that are scored: all that no run is fitted on.

A run is named ``<model>.<split>.<variant>.<seed>``: what was trained, on which split, and on which of its
parts, as the split's setup says. A run trained on the split ``iid`` is
scored on every split, any other on its own, so that all are scored on the same questions. A question is asked
by its generated text, and once more by its paraphrase where it has one. Answers are compared without regard to
case and surrounding blanks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.dataset import Dataset
from pyarrow.dataset import dataset as open_dataset

from compvqa import tables
from compvqa.errors import InputError
from compvqa.evaluation.intervals import Resampled
from compvqa.models.baseline import GENERATED, PARAPHRASED, PREDICTIONS
from compvqa.questions.dataset import GROUP, language_of
from compvqa.questions.tables import PARAPHRASES
from compvqa.splits.setups import FIT

IID = "iid"


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
        model, split, variant, seed = fields
        return Run(model, split, variant, int(seed))


def open_predictions(paths: Sequence[Path]) -> Dataset | pa.Table:
    """The tables of predictions at ``paths`` as one that is read in streams."""
    for path in paths:
        tables.check(path, PREDICTIONS)
    fields = PREDICTIONS.fields
    return open_dataset([str(path) for path in paths], fields, "parquet") if paths else fields.empty_table()


def grade(
    db: duckdb.DuckDBPyConnection,
    predictions: Dataset | pa.Table,
    dataset: Path,
    parts: pa.Table,
    paraphrases: Path | None = None,
    resample: Resampled | None = None,
) -> int:
    """Make the table ``graded`` in ``db``: run, split, part, held_out, text, question_id, unit, correct (0 or 1).

    ``predictions`` are rows as in :data:`PREDICTIONS`, ``parts`` those of splits, and ``paraphrases`` is the table of
    questions that have one. ``unit`` is what intervals draw anew (``resample``): the question, also where it is None,
    or all that are about the same images, or of the same group where the dataset has groups
    (:mod:`compvqa.questions.dataset`). The view ``drawn`` tells what can be drawn besides: question_id, wording (its
    text) and images. Gives the number of parts, each of its two texts apart, of which a run has no prediction: they are
    left out. One of which it has only some, a question answered twice, or a run's name that can't be read raise
    :class:`InputError`.
    """
    language_of(dataset)
    db.register("predictions", predictions)
    names = [name for (name,) in db.sql("select distinct run from predictions order by run").fetchall()]
    db.register("runs", pa.table({"run": names, "trained_on": [Run.parse(name).split for name in names]}, _RUNS))
    db.register("questions", tables.read(dataset, columns=["question_id", "answer", *_unit_columns(dataset, resample)]))
    db.register("parts", parts)
    db.register("paraphrased", tables.read_all([paraphrases] if paraphrases else [], PARAPHRASES, ["question_id"]))
    db.register("whole", open_dataset(str(dataset), format="parquet"))
    db.execute(
        f"create view drawn as select question_id, q.text as wording, {_unit(dataset, 'images')} as images from whole q"
    )
    _refuse_twice(db)
    unit = _unit(dataset, resample)
    db.execute(
        f"""create view asked as
        with texts as (
            select question_id, '{GENERATED}' as text from questions
            union all select question_id, '{PARAPHRASED}' from paraphrased
        )
        select run, split_name as split, part, held_out, text, question_id, {unit} as unit, q.answer,
            p.answer as predicted
        from runs join parts on (trained_on = '{IID}' or trained_on = split_name)
        join questions q using (question_id) join texts using (question_id)
        left join predictions p using (run, question_id, text)
        where role <> '{FIT}'"""
    )
    db.execute(
        """create table covered as
        select run, split, part, text, count(*) as n, count(predicted) as answered from asked group by all"""
    )
    _refuse_partial(db)
    db.execute(
        """create table graded as
        select run, split, part, held_out, text, question_id, unit,
            (lower(trim(predicted)) = lower(trim(answer)))::tinyint as correct
        from asked semi join (from covered where answered > 0) using (run, split, part, text)"""
    )
    return int(db.sql("select count(*) from covered where answered = 0").fetchall()[0][0])


def _unit_columns(dataset: Path, resample: Resampled | None) -> list[str]:
    """The columns that tell the unit of a question, the first that it has."""
    grouped = GROUP in pq.read_schema(dataset).names
    return [*[GROUP] * grouped, "scene_ids"] if resample == "images" else []


def _unit(dataset: Path, resample: Resampled | None) -> str:
    told = {GROUP: f"q.{GROUP}", "scene_ids": "to_json(list_sort(q.scene_ids))::varchar"}
    columns = _unit_columns(dataset, resample)
    return f"coalesce({', '.join(told[name] for name in columns)})" if columns else "question_id"


_RUNS = pa.schema([("run", pa.string()), ("trained_on", pa.string())])


def _refuse_twice(db: duckdb.DuckDBPyConnection) -> None:
    twice = db.sql(
        """select run, question_id from predictions group by run, question_id, text
        having count(*) > 1 order by all limit 1"""
    ).fetchall()
    if twice:
        raise InputError("run {} answers question {} twice: keep one answer.".format(*twice[0]))


def _refuse_partial(db: duckdb.DuckDBPyConnection) -> None:
    partial = db.sql(
        """select run, answered, n, text, part, split from covered where answered not in (0, n)
        order by run, split, part, text limit 1"""
    ).fetchall()
    if partial:
        message = "run {} answers only {} of the {} {} questions in part {} of split {}: predict them all."
        raise InputError(message.format(*partial[0]))
