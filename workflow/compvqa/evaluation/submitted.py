"""Scores of anyone's predictions: files of answers by question id, whatever model gave them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from compvqa import tables
from compvqa.errors import InputError
from compvqa.evaluation import facets
from compvqa.evaluation.answers import grade
from compvqa.evaluation.contrasts import contrast_rows
from compvqa.evaluation.scores import ScoreSettings, score_rows, settled
from compvqa.given import read_given
from compvqa.models.baseline import GENERATED, PARAPHRASED, PREDICTIONS
from compvqa.questions.dataset import DATASET
from compvqa.questions.tables import PARAPHRASES
from compvqa.splits.held import tell_held
from compvqa.splits.setups import ALL, FIT, TEST
from compvqa.splits.splitters import SPLITS
from compvqa.tables import Schema

ID, INDEX = "question_id", "question_index"  # how a file may name questions
MOST_TOLD = 3  # answers that are named as examples
STRANGE = 0.1  # share of a file's answers that may be none of the dataset's before that is told
SUBMITTED = Schema(
    "submitted",
    pa.schema(
        [
            ("split", pa.string()),
            ("part", pa.string()),
            ("text", pa.string()),  # what was asked: generated, or paraphrased
            ("measure", pa.string()),  # accuracy, or a contrast: generalization
            ("facet", pa.string()),  # as in the scores: all, template, property, or one of the language
            ("value", pa.string()),  # "" of all
            ("n", pa.int64()),
            ("score", pa.float64()),  # null where a contrast is undefined, as are low and high
            ("low", pa.float64()),  # bootstrap interval
            ("high", pa.float64()),
        ]
    ),
    key=("split", "part", "text", "measure", "facet", "value"),
)


def score_file(
    file: Path,
    split: Path,
    dataset: Path,
    parts: Sequence[str] = (),
    paraphrases: Path | None = None,
    baselines: tuple[Path, Path] | None = None,
    settings: ScoreSettings | None = None,
    seed: int = 0,
    scenes: Path | None = None,
    names: Path | None = None,
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The rows of :data:`SUBMITTED` for the answers in ``file`` (columns question_id, answer), and counts.

    ``split`` and ``dataset`` are tables. ``parts`` of the split must be answered whole; none named are those of which
    the file answers any question. With the table ``paraphrases`` the answers are to these, of the questions that have
    one. ``baselines`` are files on the same questions of a model without images, and of one trained on as many
    questions drawn from all: with them there is a generalization score. ``scenes``: the scenes table, beside which the
    others lie that a facet may look at. ``names``: a table of what the file that the questions were read from called
    them (:data:`INDEX`); the files then name questions so, of ``parts``, or of those that are tested. Raises
    :class:`InputError` where answers are missing, to unknown questions, or given twice.
    """
    files = {"comp": file} | (dict(zip(("text", "size"), baselines, strict=True)) if baselines else {})
    asked = _asked(split, paraphrases)
    known = _known(dataset) if names is None else _named(names, asked, parts, split)
    answers = {variant: _read(path, known, names or dataset, INDEX if names else ID) for variant, path in files.items()}
    asked = _of_parts(asked, _chosen(asked, parts, file, answers["comp"], split))
    for variant, path in files.items():
        _refuse_missing(path, answers[variant], asked, split)
        _tell_strange(path, answers[variant], dataset)
    if baselines and not pc.any(pc.equal(asked["held_out"], ALL)).as_py():
        raise InputError(
            f"a generalization score is of a part whose questions all have what is held out, and {file} answers none "
            f"of {split}: answer such a part, or leave out the answers of the baselines."
        )
    predictions = _predictions(answers, PARAPHRASED if paraphrases else GENERATED)
    settings = settled(settings or ScoreSettings(), dataset)
    rows = _rows(predictions, dataset, asked, paraphrases, settings, seed, scenes)
    scored = set(asked["question_id"].to_pylist())
    counts = {"in": len(answers["comp"]), "scored": len(scored), "not asked": len(answers["comp"].keys() - scored)}
    return sorted(rows, key=lambda row: [row[column] for column in SUBMITTED.key]), counts


def save(rows: list[dict[str, Any]], out: Path) -> None:
    """Write the rows as Parquet or, if ``out`` ends so, as CSV."""
    if out.suffix == ".csv":
        recipe = pa.array([tables.running()] * len(rows))
        with tables.replacing(out) as temporary:
            csv.write_csv(SUBMITTED.from_rows(rows).append_column("recipe", recipe), temporary)
    else:
        tables.write(out, SUBMITTED, rows)


def _known(dataset: Path) -> dict[str, str]:
    """The ids of the dataset's questions, by which files name them."""
    return {question_id: question_id for question_id in tables.read(dataset, DATASET, [ID])[ID].to_pylist()}


def _named(names: Path, asked: pa.Table, parts: Sequence[str], split: Path) -> dict[str, str]:
    """The ids of the questions of some parts of a split, by what the file that they were read from called them."""
    chosen = _of_parts(asked, parts) if parts else asked.filter(pc.equal(asked["role"], TEST))
    table = tables.read(names, columns=[ID, INDEX])
    if missing := {ID, INDEX} - {*table.column_names}:
        raise InputError(f"{names} lacks the column {min(missing)}: give the origins.parquet of the dataset.")
    table = table.filter(pc.and_(pc.is_in(table[ID], chosen[ID].combine_chunks()), pc.is_valid(table[INDEX])))
    found = dict(zip(map(str, table[INDEX].to_pylist()), table[ID].to_pylist(), strict=True))
    if len(found) < len(table):
        raise InputError(
            f"in {names} several questions of {split} have one {INDEX}: name one part whose questions are of one file."
        )
    return found


def _read(path: Path, known: Mapping[str, str], where_from: Path, column: str) -> dict[str, str]:
    """The answers in a file by question id; ``known``: that of each question by what the file's ``column`` has."""
    answers: dict[str, str] = {}
    unknown = []
    for where, (name, answer) in read_given(path, (column, "answer")):
        question_id = known.get(name, name)
        if question_id in answers:
            raise InputError(f"{where}: question {name} is answered already; keep one answer.")
        if not answer.strip():
            raise InputError(f"{where}: question {name} has no answer; give one.")
        if name not in known:
            unknown.append(name)
        answers[question_id] = answer.strip()
    if unknown:
        raise InputError(
            f"{path} answers {len(unknown):,} question{'s' * (len(unknown) > 1)} that {where_from} does not hold "
            f"(the first is {unknown[0]!r}): take the ids from there."
        )
    return answers


def _tell_strange(path: Path, answers: Mapping[str, str], dataset: Path) -> None:
    """A line on standard error where many answers of a file, or all, are none of the dataset's, hence wrong."""
    ours = set(tables.read(dataset, columns=["answer"])["answer"].to_pylist())
    known = {answer.strip().lower() for answer in ours}  # as answers are compared
    strange = [answer for answer in answers.values() if answer.lower() not in known]
    if len(strange) <= STRANGE * len(answers):
        return
    said, meant = (", ".join(map(repr, sorted(names)[:MOST_TOLD])) for names in ({*strange}, ours))
    many = "No answer" if len(strange) == len(answers) else f"{len(strange):,} of {len(answers):,} answers"
    found = "is one" if len(strange) == len(answers) else "are none"
    sys.stderr.write(f"{many} in {path} ({said} …) {found} of {dataset} ({meant} …), so that they count as wrong.\n")


def _asked(split: Path, paraphrases: Path | None) -> pa.Table:
    """The rows of the split's parts that are scored, of questions with a paraphrase if these are asked."""
    asked = tables.read(split, SPLITS)
    asked = asked.filter(pc.not_equal(asked["role"], FIT))
    if paraphrases is None:
        return asked
    said = tables.read(paraphrases, PARAPHRASES, ["question_id"])["question_id"]
    return asked.filter(pc.is_in(asked["question_id"], said.combine_chunks()))


def _of_parts(asked: pa.Table, parts: Sequence[str]) -> pa.Table:
    return asked.filter(pc.is_in(asked["part"], pa.array(parts, pa.string())))


def _chosen(asked: pa.Table, parts: Sequence[str], file: Path, answers: Mapping[str, str], split: Path) -> list[str]:
    """The parts to score."""
    there = sorted(set(asked["part"].to_pylist()))
    if wrong := sorted(set(parts) - set(there)):
        raise InputError(f"{split} has no questions in a part {wrong[0]}: choose of {', '.join(there) or 'another'}.")
    given = pc.is_in(asked["question_id"], pa.array(list(answers), pa.string()))
    found = parts or sorted(set(asked.filter(given)["part"].to_pylist()))
    if not found:
        raise InputError(f"{file} answers no question of {split}, parts {', '.join(there)}: score another split.")
    return list(found)


def _refuse_missing(path: Path, answers: Mapping[str, str], asked: pa.Table, split: Path) -> None:
    rows = zip(asked["part"].to_pylist(), asked["question_id"].to_pylist(), strict=True)
    missing = [(part, question_id) for part, question_id in rows if question_id not in answers]
    if missing:
        part, first = missing[0]
        lacking = sum(part == other for other, _ in missing)
        total = sum(part == other for other in asked["part"].to_pylist())
        raise InputError(
            f"{path} lacks {lacking:,} of the {total:,} questions in part {part} of {split} (the first is {first}): "
            "answer them all, or name other parts."
        )


def _rows(
    predictions: pa.Table,
    dataset: Path,
    asked: pa.Table,
    paraphrases: Path | None,
    settings: ScoreSettings,
    seed: int,
    scenes: Path | None,
) -> list[dict[str, Any]]:
    with duckdb.connect() as db:
        grade(db, predictions, dataset, asked, paraphrases, settings.resample)
        scores = [row for row in score_rows(db, dataset, settings, seed, scenes) if row["variant"] == "comp"]
        tell_held(db, ())  # nothing says which runs were kept from a pair
        compared = contrast_rows(settings.contrasts, db, settings, seed)
    rows = [{**row, "measure": "accuracy", "score": row["right"] / row["n"]} for row in scores]
    rows += [{**row, "measure": row["contrast"], "facet": facets.ALL, "value": ""} for row in compared]
    return [{column: row[column] for column in SUBMITTED.fields.names} for row in rows]


def _predictions(answers: Mapping[str, Mapping[str, str]], text: str) -> pa.Table:
    """The answers as predictions of runs trained on all questions, which are scored on any split."""
    return PREDICTIONS.from_rows(
        {"run": f"given.iid.{variant}.0", "question_id": question_id, "text": text, "answer": answer, "p": None}
        for variant, of in answers.items()
        for question_id, answer in of.items()
    )
