"""What was read from each source, what was refused and why, and what is left after the sources are merged."""

from __future__ import annotations

from pathlib import Path

import duckdb

from compvqa.paper.data import Inputs, many, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

KINDS = ("scene", "object", "relation")


def make(inputs: Inputs, reference: Reference) -> Table:
    """``sources``: the folders of the sources' scene tables, named by source; ``scenes``: the merged folder.

    A source's row is followed by one row a reason of refusal. "In" counts the records of the raw file, the
    refused among them; "out" what is in the merged tables.
    """
    merged = {kind: _by_source(one(inputs, "scenes") / f"{kind}s.parquet") for kind in KINDS}
    rows: list[Row] = []
    for folder in many(inputs, "sources"):
        rows += _rows(folder, merged, first=not rows)
    columns = tuple(f"{kind.capitalize()}s {way}" for kind in KINDS for way in ("in", "out")) + ("Left out",)
    notes = (
        'In: records of the raw files but those that a source\'s rules leave out, as GQA\'s "to the left" ("dropped" '
        'in its source.prov.json, whose "in" has them); of a scene that is left out, the scene alone. '
        "Out: rows in the merged tables. An image keeps one scene, that of the first source which has it.",
        *reference.notes,
    )
    return Table(reference.title, reference.citation, "Source", columns, tuple(rows), notes)


def _rows(folder: Path, merged: dict[str, dict[str, int]], first: bool) -> list[Row]:
    """A source's row and those of its reasons."""
    name = folder.name
    reasons = _query(
        "select reason, rtrim(split_part(record, ' ', 1), 's'), count(*) from read_parquet(?)"
        " group by all order by all",
        folder / "rejects.parquet",
    )
    cells = []
    for kind in KINDS:
        read = sum(_by_source(folder / f"{kind}s.parquet").values())
        refused = sum(count for _, of, count in reasons if of == kind)
        cells += [Cell(read + refused, form="count"), Cell(merged[kind].get(name, 0), form="count")]
    taken = cells[0].value - sum(n for _, of, n in reasons if of == "scene") - cells[1].value
    if taken:
        reasons.append(("its image has a scene of a source before it", "scene", taken))
    total = sum(count for *_, count in reasons)
    rows = [Row(name, (*cells, Cell(total, form="count")), rule_above=not first)]
    empty = (Cell(form="none"),) * (2 * len(KINDS))
    for reason in dict.fromkeys(reason for reason, *_ in reasons):
        count = sum(n for why, _, n in reasons if why == reason)
        rows.append(Row(reason, (*empty, Cell(count, form="count")), minor=True))
    return rows


def _by_source(path: Path) -> dict[str, int]:
    """The number of rows of each source in a scene table."""
    sql = "select split_part(scene_id, ':', 1), count(*) from read_parquet(?) group by 1"
    return dict(_query(sql, path))


def _query(sql: str, path: Path) -> list[tuple]:
    with duckdb.connect() as connection:
        return connection.execute(sql, [str(path)]).fetchall()
