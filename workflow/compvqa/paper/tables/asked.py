"""Vision-language models beside trained ones: a row a split, part and model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compvqa.evaluation.answers import IID
from compvqa.paper.asked import NONE_ASKED, Model, models_of
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Printed, Reference, Shown
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.scores import Results, beside, contrast_doubt
from compvqa.paper.splits import Split, read_splits, setups_of
from compvqa.splits.setups import find_setup

COLUMNS = ("From", "Blind", "All", "Without it", "With it", "Score")
TRAINED = ("text", IID, "comp", "size", "generalization")  # what the paper's columns show, in this order
IN_CONTEXT = "in_context_generalization"
NOTES = (
    "Accuracy in percent on the parts that a split tests on. Blind: without pictures. All: asked without shots or "
    "with those of all of train; trained on all of it. Without it: with shots of, or trained on, what the split keeps. "
    "With it: each shot has what the split holds out; trained on as many questions, drawn from all.",
    "Score: the share of the gap between Blind and With it that Without it closes; no gap: With it is no better.",
)


@dataclass(frozen=True)
class Ours:
    """What the cells are made of: all scores, and the contrasts."""

    results: Results
    contrasts: Path
    reference: Reference

    def cells(self, model: Model, own: str, split: str, part: str, printed: Mapping[str, Printed]) -> tuple[Cell, ...]:
        """A model's cells on a part of a split; ``own`` is the variant that is kept from what the split holds out."""
        kept = "" if own == IID or model.shots == 0 else own
        variants = ("text", IID, kept, kept and ("size" if model.shots is None else "shown"))
        scores = [self.results.score(Shown(model=model.name, variant=name), split, part) for name in variants]
        if model.shots == 0:  # where it is asked split by split, that is its only run with pictures
            scores[1] = scores[1] or self.results.score(Shown(model=model.name, variant=own), split, part)
        beside_it = [beside(*pair, self.reference) for pair in zip(scores, map(printed.get, TRAINED), strict=False)]
        return (Cell(model.told, form="none"), *beside_it, self.score(model, kept, split, part, printed))

    def score(self, model: Model, kept: str, split: str, part: str, printed: Mapping[str, Printed]) -> Cell:
        """The contrast of a model on a part of a split, with its interval where the config names it."""
        name = TRAINED[-1] if model.shots is None else IN_CONTEXT
        value, asked = replace(self.results, model=model.name).contrast(name, split, part) if kept else (None, 0)
        told = contrast_doubt(self.contrasts, name, model.name, [split], part) if value is not None else None
        doubt: dict[str, Any] = {"interval": told.interval, "n": told.n} if told else {}
        comparable = not self.reference.apart
        return Cell(value, paper=printed.get(TRAINED[-1]), form="score", comparable=comparable, asked=asked, **doubt)


def make(inputs: Inputs, reference: Reference) -> Table:
    """The table, of the splits of ``options.setup`` alone if there is one.

    With a paper's rows (``rows_from``) its numbers stand beside those of the trained models whose names start with
    ``options.prefer``, or in a row of their own. Reads scores, contrasts, the splits' tables and definitions, and the
    models' files.
    """
    ours = Ours(Results.load(one(inputs, "scores"), {}), one(inputs, "contrasts"), reference)
    models = models_of(inputs, ours.results.rows["model"])
    setups = [reference.options["setup"]] if "setup" in reference.options else sorted(setups_of(inputs))
    rows = [row for name in setups for split in read_splits(inputs, name) for row in _rows(ours, models, name, split)]
    notes = (*[NONE_ASKED] * all(model.shots is None for model in models), *NOTES, *reference.notes)
    return Table(reference.title, reference.citation, "Split and model", COLUMNS, tuple(rows), notes)


def _rows(ours: Ours, models: list[Model], setup: str, split: Split) -> Iterator[Row]:
    own = next(iter(find_setup(setup).variants))
    printed, prefer = _printed(ours.reference, split), ours.reference.options.get("prefer")
    theirs = {model.name for model in models if prefer and model.shots is None and model.name.startswith(prefer)}
    for part in [part.name for part in split.tested] or [""]:
        label = split.title if len(split.tested) < 2 else f"{split.title}, {part}"
        found = [(m.name, ours.cells(m, own, split.name, part, printed if m.name in theirs else {})) for m in models]
        made = {name: cells for name, cells in found if any(cell.value is not None for cell in cells[1:])}
        if printed and not theirs & {*made}:
            made["the paper's"] = _papers(printed)
        for name, cells in made.items():
            yield Row(f"{label}: {name}", cells, rule_above=name == next(iter(made)))


def _papers(printed: Mapping[str, Printed]) -> tuple[Cell, ...]:
    """The paper's numbers alone."""
    cells = [Cell(paper=printed.get(name), form="score" if name == TRAINED[-1] else "percent") for name in TRAINED]
    return (Cell("trained", form="none"), *cells)


def _printed(reference: Reference, split: Split) -> dict[str, Printed]:
    """The paper's numbers of a split, by the variant or contrast that they are of."""
    shown = {column: reference.shown(column) for column in reference.columns}
    found = {of.variant or of.contrast: reference.value(split.title, column) for column, of in shown.items()}
    return {name: value for name, value in found.items() if name and value is not None}
