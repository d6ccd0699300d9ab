"""Q-type mode: the majority answer of a question's type, the function that gives its answer (CLEVR, section 4.1)."""

from __future__ import annotations

import pyarrow as pa

from compvqa.models.maj import majority
from compvqa.programs.rows import from_json

COLUMNS = ("question_id", "answer", "program")


def predict(train: pa.Table, test: pa.Table, seed: int) -> tuple[list[str], list[float]]:
    """For each row of ``test`` an answer and its probability.

    The answer is the most frequent one in ``train`` of questions whose program ends in the same function, or of all of
    ``train`` where none does, or the question has no program. Nothing here is random.
    """
    of_type: dict[str | None, list[str]] = {}
    for program, answer in zip(train["program"].to_pylist(), train["answer"].to_pylist(), strict=True):
        of_type.setdefault(_type(program), []).append(answer)
    best = {kind: majority(answers) for kind, answers in of_type.items() if kind}
    overall = majority(train["answer"].to_pylist())
    found = [best.get(_type(program), overall) for program in test["program"].to_pylist()]
    return [answer for answer, _ in found], [p for _, p in found]


def _type(program: str | None) -> str:
    """The last function of a program; empty where there is none."""
    return from_json(program)[-1].operation if program else ""
