"""Tables 7 and 8: compositional splits, few-shot and zero-shot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compvqa import tables
from compvqa.evaluation.scores import over_seeds
from compvqa.files import read_yaml
from compvqa.paper.data import Inputs, frame, many, one, plain
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results

PART = "test_comp"


@dataclass(frozen=True)
class Split:
    """A split of ours: its name in tables, its title in the paper's words, the sizes of its parts."""

    name: str
    title: str
    sizes: Mapping[str, int]


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a split of ``options.setup``: the paper's in its order, then ours that the paper has not; splits of one
    title, random draws, in one row.

    Reads the scores, the splits' tables and definitions, and the dataset. A split that no model was trained
    on shows its size; one that is not defined here shows the paper's numbers alone.
    """
    results = Results.load(one(inputs, "scores"), reference.options.get("model"))
    whole = len(frame(one(inputs, "dataset"), ["question_id"], "train"))
    splits = read_splits(many(inputs, "definitions"), many(inputs, "splits"), reference.options["setup"])
    ours: dict[str, list[Split]] = {}
    for split in splits:
        ours.setdefault(plain(split.title), []).append(split)
    others = {s.title: None for s in splits if reference.label(s.title) not in reference.rows}
    labels = [*reference.rows, *others]
    rows = tuple(_row(label, ours.get(plain(label), []), whole, results, reference) for label in labels)
    notes = [
        "Accuracy in percent on the test questions with the tested property; ours: mean ± deviation.",
        "Filtered: training questions left out. Gen. Score: the part of the gap between VBText and "
        "VBiid-size that the model closes, at least 0; red: the model is below VBText.",
    ]
    notes += [f"{_called(split, ours)} is empty: {why}." for split in splits if (why := _empty(split))]
    columns = tuple("VB_M" if column == "VB250" else column for column in reference.columns)
    if "VB_M" in columns:
        notes.append("VB_M saw M training questions with the property: 250 in the paper, the split's M here.")
    return Table(reference.title, reference.citation, "Split", columns, rows, (*notes, *reference.notes))


def read_splits(definitions: Sequence[Path], files: Sequence[Path], setup: str) -> list[Split]:
    """The splits defined for a setup (``few-shot``, ``zero-shot``), with the sizes of those made."""
    sizes: dict[str, dict[str, int]] = {}
    for path in files:
        made = tables.read(path, columns=["split_name", "part"]).to_pandas()
        for (name, part), count in made.value_counts().items():
            sizes.setdefault(plain(name), {})[part] = int(count)
    found = []
    for path in definitions:
        data = read_yaml(path)
        if data.get("setup") == setup:
            name = data.get("name", path.stem)
            found.append(Split(name, data.get("title", name), sizes.get(plain(name), {})))
    return sorted(found, key=lambda split: split.name)


def _empty(split: Split) -> str:
    """Why there is nothing to train or test on; empty if there is."""
    if not split.sizes:
        return "no question of the data has its property, or it was not made"
    if not split.sizes.get(PART):
        return "no test question has its property"
    return "" if split.sizes.get("train") else "no training question is left"


def _called(split: Split, ours: Mapping[str, Sequence[Split]]) -> str:
    """The split's title, or its name where others share the title."""
    return split.title if len(ours[plain(split.title)]) == 1 else split.name


def _row(label: str, splits: Sequence[Split], whole: int, results: Results, reference: Reference) -> Row:
    """The row of the splits of one title, ours beside the paper's."""
    papers = [reference.value(label, column) for column in reference.columns]
    forms = _forms(reference)
    if not splits:
        cells = [Cell(paper=paper, form=form) for paper, form in zip(papers, forms, strict=True)]
        return Row(label, tuple(cells), note="not made", note_from=0)
    names = [split.name for split in splits]
    cells = []
    for column, paper, form in zip(reference.columns, papers, forms, strict=True):
        if form == "count":
            filtered = [whole - split.sizes["train"] for split in splits if "train" in split.sizes]
            mean, deviation = over_seeds(filtered) if filtered else (None, None)
            cells.append(Cell(mean, deviation, paper, form))
        elif form == "score":
            value, low = results.generalization(names, PART)
            cells.append(Cell(value, paper=paper, form=form, low=low))
        else:
            found = results.score(_who(column), names, PART)
            cells.append(Cell(found and found.mean, found and found.deviation, paper, form))
    untrained = all(cell.value is None for cell in cells[1:])
    note = ("empty" if all(map(_empty, splits)) else "not trained") if untrained else ""
    return Row(label, tuple(cells), note=note, note_from=1)


def _forms(reference: Reference) -> list[str]:
    return [{"Filtered": "count", "Gen. Score": "score"}.get(column, "percent") for column in reference.columns]


def _who(column: str) -> str:
    """``VB250`` and ``VB0`` are both the model trained on what the split keeps."""
    return "VB" if column.removeprefix("VB").isdigit() else column
