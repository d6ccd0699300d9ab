"""CLEVR-HOPE's Tables 15 to 20: a model's systematicity gap by the diversity of pairs, and the size of train."""

from __future__ import annotations

from collections.abc import Sequence

from compvqa.clevr.hope.gaps import GAPS, Measure, Tested, over_pairs
from compvqa.clevr.paper.held import (
    OF_PAIRS,
    TRAINED_ON,
    Model,
    Results,
    beside,
    between,
    bits_of,
    diversities,
    doubts,
    named,
    without_diverged,
)
from compvqa.evaluation.ranks import rank_correlation
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

OVERALL = "all"  # the row of all pairs, whatever their diversity


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a diversity, the highest first, and one of all pairs; where runs diverged, also without them; last how much
    the gap at the highest diversity exceeds that at the lowest. ``options``: the model and the gap."""
    results = Results.of(inputs, reference)
    model, measure = results.model(), GAPS[reference.options["gap"]]
    sizes = reference.columns or TRAINED_ON
    printed = [int(label) for label in reference.rows if label.isdecimal()]
    rows = []
    for many in sorted({*diversities(model.runs), *printed}, reverse=True):
        runs = [run for run in model.runs if run.held.diversity == many]
        rows += _rows(str(many), runs, results, measure, sizes)
    rows += _rows(OVERALL, model.runs, results, measure, sizes)
    if rise := rise_of(model.runs):
        label, high, low = rise
        cells = [_rise(results, measure, high, low, reference.shown(size).variant or size) for size in sizes]
        rows.append(Row(label, (Cell(form="none"), *cells), rule_above=True))
    notes = ["Points by which accuracy with the pair exceeds that without it; mean ± population deviation over runs."]
    notes += [*_trends(results, model, measure), *doubts(results, [model])]
    told = (*notes, *reference.notes)
    columns = ("Bits", *sizes)
    return Table(reference.title, reference.citation, "Diversity", columns, tuple(rows), told, doubt=OF_PAIRS)


def _rows(label: str, runs: Sequence[Tested], results: Results, measure: Measure, sizes: Sequence[str]) -> list[Row]:
    """The row of some runs, and if any diverged the same without them."""
    reference, told = results.reference, bits_of(runs) if label != OVERALL else ""
    both = [(label, runs, False)]
    if any(run.diverged for run in runs):
        both.append((f"{label}, without diverged runs", without_diverged(runs), True))
    found = []
    for name, of, minor in both:
        cells = [Cell(told, form="none")]
        for size in sizes:
            chosen = [run for run in of if run.variant == (reference.shown(size).variant or size)]
            paper = None if minor else reference.value(label, size)
            cells.append(beside(results.estimate(chosen, measure), paper, reference))
        found.append(Row(name, tuple(cells), rule_above=label == OVERALL and not minor, minor=minor))
    return found


def rise_of(runs: Sequence[Tested]) -> tuple[str, list[Tested], list[Tested]] | None:
    """Runs of the highest and the lowest diversity, with what their difference is called; None of one diversity."""
    many = diversities(runs)
    if len(many) < 2:
        return None
    high, low = ([run for run in runs if run.held.diversity == end] for end in (many[0], many[-1]))
    return f"{many[0]} above {many[-1]}", high, low


def _rise(results: Results, measure: Measure, high: list[Tested], low: list[Tested], size: str) -> Cell:
    top, bottom = ([run for run in runs if run.variant == size] for runs in (high, low))
    return beside(results.bootstrap.difference(top, bottom, measure, paired=False), None, results.reference)


def _trends(results: Results, model: Model, measure: Measure) -> list[str]:
    """How the gap goes with diversity, and with the size of train, at the largest size."""
    found, largest = [], model.largest
    runs = model.of(largest)
    means = over_pairs(runs, measure)
    many = {run.drawn: run.held.diversity for run in runs}
    if told := rank_correlation([many[pair] for pair in means], list(means.values())):
        found.append(
            f"Spearman's rank correlation of diversity and gap over {told.n} pairs, {named(largest)}: {told.rho:.2f} "
            f"(as high in {100 * told.p:.2g} % of permutations)."
        )
    smallest = next((variant for variant in TRAINED_ON if model.of(variant)), largest)
    change = results.bootstrap.difference(runs, model.of(smallest), measure, paired=True)
    if change and smallest != largest:
        points = between(change)
        found.append(f"From the {smallest} to the {largest} train set it changes by {points} in the same pairs.")
    return found
