"""Paraphrases of questions' texts that people wrote (COVR, section 3.4), from a file to a table."""

from __future__ import annotations

from pathlib import Path

from compvqa import tables
from compvqa.errors import InputError
from compvqa.given import read_given
from compvqa.questions.tables import PARAPHRASES


def read_paraphrases(file: Path, dataset: Path, out: Path) -> dict[str, int]:
    """Write the table of the paraphrases in ``file`` (columns question_id, text) of questions in ``dataset``.

    Rows without a text are not written yet. Those of questions that the dataset does not hold are counted and left
    out. Raises :class:`InputError` where a question has two paraphrases, or where none is of the dataset.
    """
    found: dict[str, str] = {}
    unwritten = 0
    for where, (question_id, text) in read_given(file, PARAPHRASES.fields.names):
        if not text.strip():
            unwritten += 1
        elif question_id in found:
            raise InputError(f"{where}: question {question_id} has another paraphrase already; keep one.")
        else:
            found[question_id] = text.strip()
    asked = set(tables.read(dataset, columns=["question_id"])["question_id"].to_pylist())
    rows = [{"question_id": question_id, "text": text} for question_id, text in found.items() if question_id in asked]
    if found and not rows:
        raise InputError(
            f"{file} paraphrases no question of {dataset} (its first is {next(iter(found))}): take the ids from there."
        )
    tables.write(out, PARAPHRASES, rows)
    return {
        "in": len(found) + unwritten,
        "out": len(rows),
        "dropped: not written yet": unwritten,
        "dropped: no such question": len(found) - len(rows),
    }
