"""Replies that another harness got, read as answers that can be scored as anyone's predictions."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from compvqa import tables
from compvqa.asking.parsing import UNPARSED, Parser
from compvqa.asking.replies import NOTHING
from compvqa.errors import InputError
from compvqa.given import read_given


def read(replies: Path, columns: tuple[str, str], dataset: Path, cue: str, out: Path) -> dict[str, int]:
    """Write a CSV of ``question_id`` and ``answer`` of the ``replies``, whose ``columns`` are ids and texts; counts.

    :class:`InputError` for a question that the dataset has not, and for one with two replies.
    """
    if out.suffix != ".csv":
        raise InputError(f"{out} is written as CSV: end its name in .csv.")
    rows = tables.read(dataset, columns=["question_id", "text", "answer"]).to_pylist()
    texts, parser = {row["question_id"]: row["text"] for row in rows}, Parser({row["answer"] for row in rows})
    answers, how = {}, Counter[str]()
    for where, (question, reply) in read_given(replies, columns):
        if question not in texts:
            raise InputError(f"{where}: the dataset has no question {question}: export its tasks anew.")
        if question in answers:
            raise InputError(f"{where}: question {question} has a reply already; keep one.")
        found = parser.parse(reply, texts[question], cue)
        answers[question] = found.answer or NOTHING
        how[found.how] += 1
    with tables.replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([("question_id", "answer"), *sorted(answers.items())])
    return {"out": len(answers), **{f"no answer: {why}": how[why] for why in UNPARSED if how[why]}}
