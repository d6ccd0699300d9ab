"""What each run of a vision-language model was: requests, tokens, and replies that gave no answer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.asking.parsing import UNPARSED
from compvqa.asking.replies import REPLIES
from compvqa.evaluation.answers import Run
from compvqa.paper.asked import NONE_ASKED
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

COLUMNS = ("Requests", "Shots each", "Tokens in", "Tokens out", "Tokens a request", "No answer")
NOTES = (
    "Tokens as the model's server counts them; a dash: it does not say. No answer: replies of which nothing could be "
    "told, which count as wrong.",
)


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a run, by split and variant; reads the tables of replies."""
    rows = [_row(path) for path in inputs.get("replies", ())]
    rows.sort(key=lambda row: row.label)
    notes = (*[NONE_ASKED] * (not rows), *NOTES, *reference.notes)
    return Table(reference.title, reference.citation, "Run", COLUMNS, tuple(rows), notes)


def _row(path: Path) -> Row:
    replies, run = tables.read(path, REPLIES), Run.parse(path.name.removesuffix(".replies.parquet"))
    asked, shots = len(replies), pc.max(pc.list_value_length(replies["shots"])).as_py() or 0
    given, made = (pc.sum(replies[f"{which}_tokens"]).as_py() for which in ("input", "output"))
    each = (given + made) / asked if given is not None and made is not None else None
    unread = pc.sum(pc.is_in(replies["how"], pa.array(UNPARSED))).as_py() or 0
    counts = [Cell(value, form="count") for value in (asked, shots, given, made)]
    cells = (*counts, Cell(each and round(each), form="count"), Cell(unread, form="count"))
    return Row(f"{run.model} on {run.split}, {run.variant}", cells)
