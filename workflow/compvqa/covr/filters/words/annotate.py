"""Labelling of pairs of names in a terminal, a key a pair; every answer is in the file before the next question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from compvqa.covr.filters.words.labels import COLUMNS, EXCLUSIVE, OVERLAPPING, read_rows, write_rows
from compvqa.covr.filters.words.pairs import DIRECTED

ANSWERS = {"e": EXCLUSIVE, "o": OVERLAPPING}
KEYS = "e exclusive, o overlapping, s skip, u undo, q quit"
QUESTION = {
    "noun": "Could one thing be called both {x!r} and {y!r}?",
    "attribute": "Could one thing be both {x!r} and {y!r}?",
    "relation": "Where somebody annotated {y!r}, might {x!r} be true as well?",
}


def annotate(path: Path, annotator: str, ask: Callable[[], str], say: Callable[[str], None]) -> dict[str, int]:
    """Ask for the label of each pair in the CSV file ``path`` that has none, and write each answer to it at once.

    ``ask`` gives the next key (e, o, s, u or q) and ``say`` shows a line. Skipped pairs stay without a label and are
    asked again next time. Gives the numbers of labels given here and of pairs still without one.
    """
    rows = [row for _, row in read_rows(path, COLUMNS)]
    columns = list(rows[0]) if rows else list(COLUMNS)
    waiting = [number for number, row in enumerate(rows) if not row["label"].strip()]
    answered: list[int] = []
    at = 0
    while at < len(waiting):
        row = rows[waiting[at]]
        say(_question(row, at + 1, len(waiting)))
        key = ask()
        if key == "q":
            break
        if key in ANSWERS:
            _label(row, ANSWERS[key], annotator)
            answered.append(at)
            at += 1
        elif key == "s":
            at += 1
        elif key == "u" and answered:
            at = answered.pop()
            _label(rows[waiting[at]], "", "")
        else:
            say("Nothing to undo yet." if key == "u" else f"The keys are: {KEYS}.")
            continue
        write_rows(path, columns, rows)
    return {"labelled": len(answered), "without a label": sum(not row["label"].strip() for row in rows)}


def _label(row: dict[str, str], label: str, annotator: str) -> None:
    row["label"], row["annotator"] = label, annotator


def _question(row: dict[str, str], number: int, total: int) -> str:
    x, y, kind = row["x"], row["y"], row["kind"]
    lines = [f"\n{number} of {total}   {kind}: {x} {'→' if DIRECTED.get(kind) else '–'} {y}"]
    if row.get("contexts"):
        lines.append(f"  seen as: {row['contexts']}")
    if kind in QUESTION:
        lines.append(f"  {QUESTION[kind].format(x=x, y=y)} (yes: overlapping, no: exclusive)")
    return "\n".join(lines)
