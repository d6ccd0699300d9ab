"""Tables 7 and 8, and those like them: compositional splits, few-shot and zero-shot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from compvqa.evaluation.scores import over_seeds
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import Inputs, frame, one, plain
from compvqa.paper.reference import Reference, Shown
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Doubt, Results, beside, contrast_doubt
from compvqa.paper.splits import Split, read_splits

SURE = 0.975  # share of the resamples in which a model is below what it should beat, from which on that is marked


@dataclass(frozen=True)
class Ours:
    """What the cells are made of: all scores, and how many questions train has where nothing is held out."""

    results: Results
    contrasts: Path
    text: str
    whole: int

    def cell(self, column: str, splits: Sequence[Split], paper, reference: Reference) -> Cell:
        """Our value for the splits of one row beside the paper's."""
        names = [split.name for split in splits]
        shown = reference.shown(column)
        part = next((part.name for split in splits for part in split.tested), "")
        if shown.left_out:
            filtered = [self.whole - sum(part.questions for part in s.fitted) for s in splits if s.fitted]
            mean, deviation = over_seeds(filtered) if filtered else (None, None)
            return Cell(mean, deviation, paper, form(shown))
        if shown.contrast:
            value, asked = self.results.contrast(shown.contrast, names, part, self.text)
            doubt = self.doubt(shown.contrast, names, part) if value is not None else None
            told: dict[str, Any] = (
                {"interval": doubt.interval, "n": doubt.n, "low": doubt.below >= SURE} if doubt else {}
            )
            return Cell(value, paper=paper, form=form(shown), comparable=not reference.apart, asked=asked, **told)
        return beside(self.results.score(shown, names, part, self.text), paper, reference)

    def doubt(self, contrast: str, names: Sequence[str], part: str) -> Doubt | None:
        """What is known of a contrast on a part of splits besides its value."""
        return contrast_doubt(self.contrasts, contrast, self.results.model, names, part, self.text)

    def without(self, splits: Mapping[str, Sequence[Split]], reference: Reference) -> Iterator[str]:
        """Of each split in how many resamples its contrasts are undefined, if in any."""
        named = dict.fromkeys(reference.shown(column).contrast for column in reference.columns)
        for contrast, same in product(filter(None, named), splits.values()):
            part = next((part.name for split in same for part in split.tested), "")
            found = self.doubt(contrast, [split.name for split in same], part)
            if found and found.undefined:
                yield f"{same[0].title} {100 * found.undefined:.0f} %"


def form(shown: Shown) -> str:
    """How the numbers of a column are written."""
    return "count" if shown.left_out else "score" if shown.contrast else "percent"


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a split of ``options.setup``: the paper's in its order, then those made here that the paper has not; splits
    of one title, random draws, in one row.

    Reads the scores, the splits' tables and definitions, and the dataset. A split that no model was trained
    on shows its size; one that was not made here shows the paper's numbers alone. ``options``: also the model, and
    the text (generated or paraphrased) that it was asked by.
    """
    text = reference.options.get("text", GENERATED)
    results = Results.load(one(inputs, "scores"), reference.options)
    whole = len(frame(one(inputs, "dataset"), ["question_id"], "train"))
    ours = Ours(results, one(inputs, "contrasts"), text, whole)
    splits: dict[str, list[Split]] = {}
    for split in read_splits(inputs, reference.options["setup"]):
        splits.setdefault(plain(split.title), []).append(split)
    made = [split for same in splits.values() for split in same if split.file]
    others = {split.title: None for split in made if reference.label(split.title) not in reference.rows}
    rows = tuple(_row(label, splits.get(plain(label), []), ours, reference) for label in [*reference.rows, *others])
    columns = tuple(reference.shown(column).title or column for column in reference.columns)
    without = ", ".join(ours.without(splits, reference))
    notes = (*_notes(reference, splits), results.missing(text)[1], *reference.notes)
    notes += (f"Resamples in which the score is undefined, which its interval leaves out: {without}.",) * bool(without)
    return Table(reference.title, reference.citation, "Split", columns, rows, tuple(filter(None, notes)))


def _notes(reference: Reference, splits: Mapping[str, Sequence[Split]]) -> list[str]:
    text_only, size = reference.showing("text"), reference.showing("size")
    notes = [
        "Accuracy in percent on the test questions with the tested property; ours: mean ± deviation.",
        f"Filtered: training questions left out. Gen. Score: the part of the gap between {text_only} and "
        f"{size} that the model closes, at least 0; no gap: {size} is no better than {text_only}. Red: the model is "
        f"below {text_only} in {100 * SURE:g} % of the resamples or more.",
    ]
    kept: dict[int, list[str]] = {}
    for same in splits.values():
        for split in same:
            if split.kept is not None:
                kept.setdefault(split.kept, []).append(split.name)
    if kept:
        notes.append(f"M here: {_numbers(kept)}.")
    for same in splits.values():
        empty = [s for s in same if s.file and s.empty]
        notes += [f"{s.title if len(same) == 1 else s.name} is empty: {s.empty}." for s in empty]
    return notes


def _numbers(named: Mapping[int, Sequence[str]]) -> str:
    """Numbers with the splits that have them; a number alone where all have it."""
    if len(named) == 1:
        return f"{next(iter(named)):,}"
    return "; ".join(f"{number:,} ({', '.join(names)})" for number, names in sorted(named.items(), reverse=True))


def _row(label: str, splits: Sequence[Split], ours: Ours, reference: Reference) -> Row:
    """The row of the splits of one title, ours beside the paper's."""
    papers = {column: reference.value(label, column) for column in reference.columns}
    if not any(split.file for split in splits):
        cells = [Cell(paper=paper, form=form(reference.shown(column))) for column, paper in papers.items()]
        return Row(label, tuple(cells), note="not made", note_from=0)
    cells = [ours.cell(column, splits, paper, reference) for column, paper in papers.items()]
    note = ""
    if all(cell.value is None for cell in cells[1:]):
        made = [split for split in splits if split.file]
        note = "empty" if all(split.empty for split in made) else ours.results.missing(ours.text)[0] or "not trained"
    return Row(label, tuple(cells), note=note, note_from=1)
