"""Table 4: what the splits of a setup hold out, by example."""

from __future__ import annotations

from compvqa.covr.paper.composition import composition
from compvqa.paper.data import Inputs, plain
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.splits import Split, read_splits


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a split of ``options.setup``, the paper's in its order, then others made here; of random draws of one title
    the first.

    Columns are train questions of ours and a test question that has what they have only apart, as
    :func:`compvqa.covr.paper.splits.composition` finds them.
    """
    splits: dict[str, Split] = {}
    for split in read_splits(inputs, reference.options["setup"]):
        if plain(split.title) not in splits or splits[plain(split.title)].empty:
            splits[plain(split.title)] = split
    made = [split.title for split in splits.values() if split.file]
    others = [title for title in made if reference.label(title) not in reference.rows]
    rows: list[Row] = []
    lacking: dict[str, list[str]] = {}
    for label in [*reference.rows, *others]:
        found = splits.get(plain(label))
        shown = composition(inputs, found) if found else None
        train = "\n".join(row["text"] for row in shown.train) if shown else None
        ours = dict(zip(reference.columns, (train, shown.test["text"] if shown else None), strict=True))
        cells = (Cell(ours[c], paper=reference.value(label, c), form="text") for c in reference.columns)
        rows.append(Row(label, tuple(cells), rule_above=bool(rows)))
        if not shown:
            lacking.setdefault(found.empty if found else "it was not made", []).append(label)
    reasons = (f"No example of ours, since {why}: {', '.join(labels)}." for why, labels in lacking.items())
    notes = ("Random draws of one kind of split are shown by the first.", *reasons, *reference.notes)
    return Table(reference.title, reference.citation, "Split", reference.columns, tuple(rows), notes, True)
