"""What CLEVR-HOPE's pages share: the runs on held-out pairs, the paper's means as if they were runs, models and sizes.

The paper's numbers are those of its Tables 3 to 10, whose rows a page has as ``<model> <part>: <pair>``
(``rows_from``). All that is made of accuracies is made of these in the same way, so that a page needs no number of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from compvqa import tables
from compvqa.clevr.hope.gaps import (
    DIVERGED,
    GAPS,
    GROUPS_RIGHT,
    YES,
    Held,
    Measure,
    Tested,
    grouped,
    having,
    mean_of,
    tested,
)
from compvqa.clevr.hope.resampled import Bootstrap, Estimate
from compvqa.clevr.hope.sets import vocabulary_of
from compvqa.clevr.splits.setups.controlled_pair import ControlledPair
from compvqa.clevr.splits.setups.held_out_pair import HeldOutPair
from compvqa.clevr.words import read_words
from compvqa.errors import InputError
from compvqa.evaluation.facets import ALL
from compvqa.evaluation.tallies import TALLIES
from compvqa.files import read_yaml
from compvqa.paper.data import Inputs, many, one, plain
from compvqa.paper.reference import Printed, Reference
from compvqa.paper.render import Cell
from compvqa.paper.scores import of_any_size
from compvqa.paper.splits import files_of
from compvqa.scenes.pairs import Vocabulary
from compvqa.scenes.worlds.clevr.settings import Look
from compvqa.splits.splitters import read_definition

BASELINES = ("executor", "maj", "majtempl", "qtype")  # of which no gap is drawn
TRAINED_ON = ("small", "medium", "large")  # variants, in order
INTERVALS = (
    "In brackets: our interval, by a bootstrap that draws pairs (with their draws), of each its runs, and of each run "
    "its scenes or groups of questions."
)
FEWEST = 5  # pairs, with their draws, of which an interval tells anything of others
OF_PAIRS = f"{INTERVALS} Then n, its pairs with their draws: of fewer than {FEWEST} it tells little of others."
OF_RUNS = f"{INTERVALS} Then n, the pair's runs."
TOGETHER = "All models"
PRINTED = 100  # the paper's percentages have two digits after the point


@dataclass(frozen=True)
class Model:
    """A model that a page shows: what it is called, the runs of ours, and the paper's means."""

    label: str
    runs: list[Tested]
    paper: list[Tested]

    def of(self, variant: str) -> list[Tested]:
        """The runs of ours of a size."""
        return [run for run in self.runs if run.variant == variant]

    def papers(self, variant: str) -> list[Tested]:
        """The paper's means of a size."""
        return [run for run in self.paper if run.variant == variant]

    @property
    def largest(self) -> str:
        """The largest size that ours were trained on, or else the paper's."""
        there = {run.variant for run in self.runs or self.paper}
        return next((variant for variant in reversed(TRAINED_ON) if variant in there), "")


def together(models: Sequence[Model]) -> Model:
    """All models as one, whose runs weigh the same."""
    ours, paper = ([run for model in models for run in getattr(model, of)] for of in ("runs", "paper"))
    return Model(TOGETHER, ours, paper)


@dataclass(frozen=True)
class Results:
    """The runs that a page is of, and the paper's."""

    runs: list[Tested]
    paper: list[Tested]
    reference: Reference
    bootstrap: Bootstrap
    vocabulary: Vocabulary

    @staticmethod
    def of(inputs: Inputs, reference: Reference) -> Results:
        """Those of a page with these inputs: of whole vocabularies, or, with ``options.controlled``, of cut ones; with
        ``options.pairs`` of these pairs alone."""
        vocabulary = vocabulary_of(read_words(one(inputs, "words")))
        rows = _tallies(one(inputs, "tallies"))
        held = held_out(many(inputs, "definitions"), {row["split"] for row in rows}, vocabulary)
        cut = bool(reference.options.get("controlled"))
        wanted = {frozenset(pair.split()) for pair in reference.options.get("pairs", [])}
        kept = {name: of for name, of in held.items() if bool(of.draw) == cut}
        ours, paper = (
            [run for run in runs if not wanted or frozenset(run.held.pair) in wanted]
            for runs in (tested(rows, kept), printed(reference))
        )
        bootstrap = Bootstrap(reference.options.get("resamples", Bootstrap.resamples))
        return Results(ours, paper, reference, bootstrap, vocabulary)

    def models(self) -> list[Model]:
        """Those of ``options.models`` that ran here, in any size, or that the paper has; then others that ran here."""
        told = self.reference.options.get("models", {})
        found = [self._model(name, label) for name, label in told.items()]
        shown = {run.model for model in found for run in model.runs}
        found += [self._model(name, name) for name in sorted({run.model for run in self.runs} - shown - {*BASELINES})]
        return [model for model in found if model.runs or model.paper]

    def model(self) -> Model:
        """The one model of a page (``options.model``), in any size."""
        return self._model(self.reference.options["model"], self.reference.options["model"])

    def _model(self, name: str, label: str) -> Model:
        ours = of_any_size(name, {run.model for run in self.runs})
        runs = [run for run in self.runs if run.model == ours]
        return Model(label, runs, [run for run in self.paper if run.model == name])

    def estimate(self, runs: Sequence[Tested], measure: Measure) -> Estimate | None:
        """A number over runs, with its interval."""
        return self.bootstrap.estimate(runs, measure)


def _tallies(path: Path) -> list[dict[str, Any]]:
    """The rows of tallies that any page asks for: of all questions, and of those whose answer is yes."""
    table = tables.read(path, TALLIES)
    chosen = pc.and_(pc.equal(table["facet"], YES.facet), pc.equal(table["value"], YES.value))
    return table.filter(pc.or_(pc.equal(table["facet"], ALL), chosen)).to_pylist()


def held_out(definitions: Sequence[Path], names: set[str], vocabulary: Vocabulary) -> dict[str, Held]:
    """What the splits called so hold out, of those that hold out a pair; of two files of a name the first counts. Files
    about values that the vocabulary has not are of another world."""
    found: dict[str, Held] = {}
    for path in files_of(definitions):
        data = read_yaml(path)
        name = data.get("name", path.stem)
        if "pair" in data and name in names and name not in found:
            definition = read_definition(data)
            if isinstance(definition, HeldOutPair):
                among = definition.among if isinstance(definition, ControlledPair) else None
                with suppress(InputError):
                    found[name] = Held.of(name, definition.pair, vocabulary, among)
    return found


def printed(reference: Reference) -> list[Tested]:
    """The paper's means: each pair, model and size a run of so many questions that printed percentages are exact. The
    paper's vocabulary is the world's own."""
    look = Look()
    vocabulary = {
        "size": [*look.sizes],
        "color": [*look.colors],
        "material": [*look.materials],
        "shape": [*look.shapes],
    }
    rows: dict[tuple[str, str, str, str], np.ndarray] = {}
    for label, values in reference.rows.items():
        name, _, pair = label.partition(": ")
        model, _, part = name.partition(" ")
        for column, value in zip(reference.columns, values, strict=True):
            if pair and part and isinstance(value, tuple):
                shown = reference.shown(column).variant or column
                rows[model, pair, shown, part] = np.array([[round(PRINTED * value[0]), 100 * PRINTED, 1]])
    found = []
    for model, pair, variant in dict.fromkeys(key[:3] for key in rows):
        first, _, second = pair.partition(" ")
        tallies = {(key[3], ALL, ""): of for key, of in rows.items() if key[:3] == (model, pair, variant)}
        held = Held.of(pair, (first, second), vocabulary)
        found.append(Tested(f"{model} {pair} {variant}", model, variant, 0, held, tallies, averaged=True))
    return found


def without_diverged(runs: Sequence[Tested]) -> list[Tested]:
    """The runs that learnt something."""
    return [run for run in runs if not run.diverged]


def diversities(runs: Sequence[Tested]) -> list[int]:
    """The diversities of the runs' pairs, the highest first."""
    return sorted({run.held.diversity for run in runs}, reverse=True)


def bits_of(runs: Sequence[Tested]) -> str:
    """What one value tells of the other in the runs' pairs, from the least to the most; empty of no run."""
    return _range({round(run.held.bits, 2) for run in runs}) if runs else ""


def beside(estimate: Estimate | None, paper: Printed, reference: Reference, form: str = "points") -> Cell:
    """An estimate over pairs beside the paper's value; of few pairs it has no colour."""
    if estimate is None:
        return Cell(paper=paper, form=form)
    known = estimate.pairs >= FEWEST and not reference.apart
    told: dict[str, Any] = {"interval": estimate.interval, "n": estimate.pairs, "comparable": known}
    return Cell(estimate.value, estimate.deviation, paper, form, **told)


def of_pair(estimate: Estimate | None, paper: Printed, reference: Reference) -> Cell:
    """An estimate over the runs of one pair beside the paper's value."""
    if estimate is None:
        return Cell(paper=paper, form="points")
    told: dict[str, Any] = {"interval": estimate.interval, "n": estimate.runs, "comparable": not reference.apart}
    return Cell(estimate.value, estimate.deviation, paper, "points", **told)


def named(variant: str) -> str:
    """A size of train in a sentence."""
    return f"trained on the {variant} train set"


def counted(runs: Sequence[Tested]) -> str:
    """Of how many runs and pairs, and draws of these, a number is."""
    pairs = {run.held.label for run in runs}
    drawn = {run.drawn for run in runs if run.held.draw}
    seeds = sorted({len(of) for of in grouped(runs, lambda run: (run.held.split, run.variant, run.model)).values()})
    each = f", {'–'.join(dict.fromkeys(map(str, (seeds[0], seeds[-1]))))} of each" if seeds else ""
    draws = f", {len(drawn)} draws of their cuts" if drawn else ""
    return f"{_many(len(runs), 'run')}{each}, of {_many(len(pairs), 'pair')}{draws}"


def _many(n: int, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"


def signed(value: float) -> str:
    """Points in a sentence."""
    return f"{value:+.1f}".replace("-", "−")


def between(estimate: Estimate) -> str:
    """Points with their interval in a sentence."""
    return f"{signed(estimate.value)} [{signed(estimate.interval[0])}, {signed(estimate.interval[1])}]"


def doubts(results: Results, models: Sequence[Model]) -> list[str]:
    """What every page says of its models besides its numbers, at the largest size: of how many runs it is, and how many
    of them diverged or say always no; the gap against complex-matched, the yes quarter, groups all right, and bits."""
    found = []
    for model in models:
        if model.runs:
            name = model.runs[0].model
            called = model.label if plain(model.label) == plain(name) else f"{model.label} (here {name})"
            found.append(f"{called}: {'; '.join(_told(results, model))}.")
    held = grouped((*results.runs, *results.paper), lambda run: run.held.diversity)
    if held:
        bits = ", ".join(f"{bits_of(held[many])} at {many}" for many in sorted(held))
        found.append(f"What one value tells of the other without the pair, a rival of diversity, in bits: {bits}.")
    return found


def _range(values: set[float]) -> str:
    return "–".join(f"{value:.2f}" for value in dict.fromkeys((min(values), max(values))))


def _diverged(model: Model, largest: Sequence[Tested]) -> str:
    """How many runs learnt nothing, and what the complex gap is without those of the largest size."""
    lost = sum(run.diverged for run in model.runs)
    if not lost:
        return "none diverged"
    said = f"{lost} diverged (less than {DIVERGED:g} % on complex-IID)"
    there, kept = having(largest, GAPS["complex"]), having(without_diverged(largest), GAPS["complex"])
    if len(kept) in (0, len(there)):
        return said
    both = (signed(mean_of(runs, GAPS["complex"])[0]) for runs in (kept, there))
    return f"{said}, without which the mean complex gap, {named(model.largest)}, is {', not '.join(both)}"


def _told(results: Results, model: Model) -> Iterator[str]:
    """What is said of one model, in pieces of a sentence."""
    runs = model.of(model.largest)
    yield counted(model.runs)
    yield _diverged(model, runs)
    told = []
    for words, measure in (("gap against complex-matched", GAPS["matched"]), ("minimal gap", GAPS["minimal"])):
        if estimate := results.estimate(runs, measure):
            told.append(f"{words} {between(estimate)}")
    for words, measure in (("the yes quarter of minimal-OOD", YES), ("its groups of four all right", GROUPS_RIGHT)):
        if there := having(runs, measure):
            told.append(f"{words} {mean_of(there, measure)[0]:.1f} %")
    if told:
        yield f"{named(model.largest)}: {', '.join(told)}"
    if quiet := sum(run.saturated for run in runs):
        yield f"{quiet} of {len(runs)} say always no on minimal-OOD"
