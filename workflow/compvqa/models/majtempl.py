"""MAJTEMPL: the majority answer of a question's template, which an oracle tells (COVR, section 5)."""

from __future__ import annotations

import pyarrow as pa

from compvqa.models.maj import majority
from compvqa.programs.rows import from_json
from compvqa.seeds import generator

COLUMNS = ("question_id", "answer", "template", "program")


def predict(train: pa.Table, test: pa.Table, seed: int) -> tuple[list[str], list[float]]:
    """For each row of ``test`` an answer and its probability.

    An "X or Y" question gets one of its two choices by lot, keyed by its id. Any other gets the most frequent
    answer of its template in ``train``, or of all of ``train`` if that has no question of the template. Both
    tables hold at least :data:`COLUMNS`; ``test``'s answers are not looked at.
    """
    overall = majority(train["answer"].to_pylist())
    of_template: dict[str, list[str]] = {}
    for template, answer in zip(train["template"].to_pylist(), train["answer"].to_pylist(), strict=True):
        of_template.setdefault(template, []).append(answer)
    best = {template: majority(answers) for template, answers in of_template.items()}
    result = []
    for question_id, template, program in zip(
        *(test[column].to_pylist() for column in ("question_id", "template", "program")), strict=True
    ):
        options = choices(program)
        if options:
            pick = generator(seed, "majtempl", question_id).choice(options)
            result.append((pick, 1 / len(options)))
        else:
            result.append(best.get(template, overall))
    return [answer for answer, _ in result], [p for _, p in result]


def choices(program: str) -> tuple[str, ...]:
    """The answers that an "X or Y" question names; none for other questions."""
    last = from_json(program)[-1]
    return last.arguments if last.operation.startswith("Choose") else ()
