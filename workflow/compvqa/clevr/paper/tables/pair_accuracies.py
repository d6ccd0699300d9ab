"""CLEVR-HOPE's Tables 3 to 14: a model's accuracy on one of the tests of each held-out pair, by the size of train."""

from __future__ import annotations

from compvqa.clevr.hope.gaps import Measure
from compvqa.clevr.paper.held import OF_RUNS, TRAINED_ON, Results, doubts, of_pair
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a pair: the paper's in its order, then others that ran here, the most diverse first. ``options``: the model
    and the part."""
    results = Results.of(inputs, reference)
    model, measure = results.model(), Measure(reference.options["part"])
    sizes = reference.columns or TRAINED_ON
    ours = {frozenset(run.held.pair): run.held for run in sorted(model.runs, key=lambda run: run.held.split)}
    labels = {frozenset(label.split()): label for label in reference.rows}
    others = sorted((of for pair, of in ours.items() if pair not in labels), key=lambda of: -of.diversity)
    labels |= {frozenset(of.pair): of.label for of in others}
    rows = []
    for pair, label in labels.items():
        runs = [run for run in model.runs if frozenset(run.held.pair) == pair]
        cells = [Cell(ours[pair].diversity if pair in ours else None, form="count" if pair in ours else "none")]
        for size in sizes:
            of = [run for run in runs if run.variant == (reference.shown(size).variant or size)]
            cells.append(of_pair(results.estimate(of, measure), reference.value(label, size), reference))
        rows.append(Row(label, tuple(cells), note="" if runs else "not run", note_from=1))
    notes = ["Accuracy in percent; mean ± population deviation over runs.", *doubts(results, [model])]
    columns = ("Diversity", *sizes)
    told = (*notes, *reference.notes)
    return Table(reference.title, reference.citation, "Pair", columns, tuple(rows), told, doubt=OF_RUNS)
