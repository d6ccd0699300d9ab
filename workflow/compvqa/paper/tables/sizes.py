"""The splits: how many questions their parts have, and how many answers of their test train never gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb

from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.splits import PART, Split, read_splits

SETUPS = ("iid", "few-shot", "zero-shot")
COLUMNS = ("Train", "Dev without it", "Dev with it", "Test with it", "Of these: answer not in train")
PARTS = ("train", "dev_iid", "dev_comp", PART)
WHOLE = {"dev_iid": "dev", PART: "test"}  # what the i.i.d. split, which holds nothing out, has in their place


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a split, by setup and title; one that was not made says so."""
    dataset = one(inputs, "dataset")
    rows: list[Row] = []
    with duckdb.connect() as db:
        for setup in SETUPS:
            splits = sorted(read_splits(inputs, setup), key=lambda split: (split.title, split.name))
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
    sizes = dict(split.sizes)
    sizes |= {part: sizes[whole] for part, whole in WHOLE.items() if whole in sizes}
    absent = None if WHOLE[PART] in sizes else 0
    return [*(sizes.get(part, absent) for part in PARTS), _unknown(db, split.file, dataset)]


def _unknown(db: duckdb.DuckDBPyConnection, split: Path, dataset: Path) -> int:
    """How many test questions have an answer that no question of train has."""
    sql = """with of as (
            select parts.part, lower(trim(answer)) as answer
            from read_parquet($split) parts join read_parquet($dataset) using (question_id)
        )
        select count(*) from of where part in ($part, $whole)
            and answer not in (select answer from of where part = 'train')"""
    given = {"split": str(split), "dataset": str(dataset), "part": PART, "whole": WHOLE[PART]}
    return db.execute(sql, given).fetchall()[0][0]
