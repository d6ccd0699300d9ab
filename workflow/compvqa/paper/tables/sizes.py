"""The splits: how many questions their parts have, and how many answers of their test train never gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb

from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.splits import Split, read_splits, setups_of
from compvqa.splits.setups import ALL, ANY, CHOOSE, NO

SETUPS = ("iid", "few-shot", "zero-shot")  # the paper's, in this order; others after them
COLUMNS = ("Train", "Dev without it", "Dev with it", "Test with it", "Of these: answer not in train")


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a split, by setup and title; of the paper's setups one that was not made says so, others are left out."""
    dataset = one(inputs, "dataset")
    rows: list[Row] = []
    with duckdb.connect() as db:
        for setup in [*SETUPS, *sorted(setups_of(inputs) - {*SETUPS})]:
            found = [split for split in read_splits(inputs, setup) if split.file or setup in SETUPS]
            splits = sorted(found, key=lambda split: (split.title, split.name))
            shared = Counter(split.title for split in splits)
            for place, split in enumerate(splits):
                label = split.name if shared[split.title] > 1 else split.title
                cells = tuple(Cell(value, form="count") for value in _values(db, split, dataset))
                note = "" if split.file else "not made"
                rows.append(Row(label, cells, note, rule_above=bool(rows) and not place))
    notes = ("Questions; “it” is the property that a split holds out.", *reference.notes)
    return Table(reference.title, reference.citation, "Split", COLUMNS, tuple(rows), notes)


def _values(db: duckdb.DuckDBPyConnection, split: Split, dataset: Path) -> list[int | None]:
    if not split.file:
        return [None] * len(COLUMNS)
    held_out = (split.fitted, split.of(CHOOSE, NO, ANY), split.of(CHOOSE, ALL), split.tested)
    sizes: list[int | None] = [sum(part.questions for part in parts) for parts in held_out]
    if split.parts and not split.holds_out:
        sizes = [size or None for size in sizes]
    return [*sizes, _unknown(db, split, dataset)]


def _unknown(db: duckdb.DuckDBPyConnection, split: Split, dataset: Path) -> int:
    """How many test questions have an answer that no question of what the split keeps of train has."""
    sql = """with of as (
            select parts.part, lower(trim(answer)) as answer
            from read_parquet($split) parts join read_parquet($dataset) using (question_id)
        )
        select count(*) from of where list_contains($tested, part)
            and answer not in (select answer from of where list_contains($fitted, part))"""
    parts = {side: [part.name for part in of] for side, of in (("tested", split.tested), ("fitted", split.fitted))}
    given = {"split": str(split.file), "dataset": str(dataset), **parts}
    return db.execute(sql, given).fetchall()[0][0]
