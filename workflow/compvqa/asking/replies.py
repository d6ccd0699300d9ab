"""What a model replied, and the predictions that are made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from compvqa import tables
from compvqa.asking.parsing import UNPARSED, Parser
from compvqa.asking.questions import Asked
from compvqa.models.baseline import PREDICTIONS
from compvqa.tables import Schema

NOTHING = "no answer"  # where a reply gives none: it is wrong, and counted apart
REPLIES = Schema(
    "replies",
    pa.schema(
        [
            ("run", pa.string()),
            ("question_id", pa.string()),
            ("text", pa.string()),  # which of its texts was asked
            ("reply", pa.string()),
            ("answer", pa.string()),  # what it means; "": nothing that can be told
            ("how", pa.string()),  # how that was found, or why there is none (asking/parsing.py)
            ("input_tokens", pa.int64()),  # as the model's server counts them; null: it does not say
            ("output_tokens", pa.int64()),
            ("shots", pa.list_(pa.string())),  # the questions that went before with their answers, in their order
        ]
    ),
    key=("run", "question_id", "text"),
)


def read_replies(
    replied: Iterable[tuple[Asked, str, int | None, int | None]], run: str, parser: Parser, cue: str
) -> list[dict[str, Any]]:
    """The rows of :data:`REPLIES`, of each question, its reply, and the tokens that went in and came out."""
    rows = []
    for asked, reply, given, made in replied:
        found = parser.parse(reply, asked.shown.question, cue)
        said = {"reply": reply, "answer": found.answer, "how": found.how, "input_tokens": given, "output_tokens": made}
        shots = [shot.question_id for shot in asked.shots]
        rows.append({"run": run, "question_id": asked.question_id, "text": asked.text, **said, "shots": shots})
    return rows


def write_replies(rows: list[dict[str, Any]], predictions: Path, replies: Path) -> dict[str, int]:
    """Write the replies and what they predict; counts, those of replies that give no answer by why among them."""
    tables.write(replies, REPLIES, rows)
    told = [{**row, "answer": row["answer"] or NOTHING, "p": None} for row in rows]
    made = tables.write(
        predictions, PREDICTIONS, ({name: row[name] for name in PREDICTIONS.fields.names} for row in told)
    )
    unparsed = Counter(row["how"] for row in rows if row["how"] in UNPARSED)
    return {
        "out": made,
        "no answer": unparsed.total(),
        **{f"no answer: {why}": n for why, n in sorted(unparsed.items())},
    }
