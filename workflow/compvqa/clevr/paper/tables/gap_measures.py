"""What CLEVR-HOPE's sections 4.1 to 4.3 say of all pairs, a number a model, from ours and from the paper's means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compvqa.clevr.hope.gaps import GAPS, GROUPS_RIGHT, YES, Measure, Tested
from compvqa.clevr.hope.resampled import Bootstrap, Estimate
from compvqa.clevr.paper.held import (
    OF_PAIRS,
    TRAINED_ON,
    Model,
    Results,
    beside,
    doubts,
    named,
    together,
    without_diverged,
)
from compvqa.clevr.paper.tables.diversity_gaps import rise_of
from compvqa.evaluation.ranks import correlated
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

ALWAYS_NO = 75.0  # percent on minimal_ood
OOD = Measure("minimal_ood")
Number = Callable[[Bootstrap, "Model"], Estimate | None]


@dataclass(frozen=True)
class Line:
    """A row: how its number is made of a model's runs, and how it is written."""

    number: Number
    form: str = "points"


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a number, a column a model, each trained on the largest train set that it has, and one of all together."""
    results = Results.of(inputs, reference)
    models = results.models()
    shown = (*models, together(models))
    rows = [Row(label, tuple(_cell(line, model, results) for model in shown)) for label, line in LINES.items()]
    notes = [f"{model.label} is {named(model.largest)}." for model in models if model.runs]
    notes += [*doubts(results, models), *reference.notes]
    columns = tuple(model.label for model in shown)
    title, citation = reference.title, reference.citation
    return Table(title, citation, "Number", columns, tuple(rows), tuple(notes), doubt=OF_PAIRS)


def _cell(line: Line, model: Model, results: Results) -> Cell:
    ours = line.number(results.bootstrap, Model(model.label, model.runs, []))
    paper = line.number(Bootstrap(resamples=1), Model(model.label, model.paper, []))
    printed = None if paper is None else round(paper.value, 2)
    return beside(ours, printed, results.reference, line.form)


def _over_runs(measure: Measure, kept: Callable[[list[Tested]], list[Tested]] = list) -> Number:
    """The mean over the runs."""
    return lambda bootstrap, model: bootstrap.estimate(kept(model.of(model.largest)), measure)


def _over_pairs(measure: Measure, of: Callable[[np.ndarray, np.ndarray], np.ndarray], fewest: int = 2) -> Number:
    """What ``of`` makes of the means of pairs; nothing of fewer."""

    def number(bootstrap: Bootstrap, model: Model) -> Estimate | None:
        found = bootstrap.over_pairs(model.of(model.largest), measure, of)
        return found if found and found.pairs >= fewest else None

    return number


def _grown(measure: Measure, less: str) -> Number:
    """How much it exceeds that of the same pairs at a smaller size."""

    def number(bootstrap: Bootstrap, model: Model) -> Estimate | None:
        if TRAINED_ON.index(model.largest or less) <= TRAINED_ON.index(less):
            return None
        return bootstrap.difference(model.of(model.largest), model.of(less), measure, paired=True)

    return number


def _risen(measure: Measure) -> Number:
    """How much it is higher at the highest diversity than at the lowest."""

    def number(bootstrap: Bootstrap, model: Model) -> Estimate | None:
        rise = rise_of(model.of(model.largest))
        return bootstrap.difference(rise[1], rise[2], measure, paired=False) if rise else None

    return number


def _above(values: np.ndarray, _: np.ndarray) -> np.ndarray:
    shares: np.ndarray = 100 * (values > ALWAYS_NO).mean(axis=1)
    return shares


def _spread(values: np.ndarray, _: np.ndarray) -> np.ndarray:
    spreads: np.ndarray = values.max(axis=1) - values.min(axis=1)
    return spreads


LINES = {
    "Pairs above 75 % on minimal-OOD (%)": Line(_over_pairs(OOD, _above)),
    "Minimal-OOD: best pair above worst": Line(_over_pairs(OOD, _spread)),
    "Yes quarter of minimal-OOD": Line(_over_runs(YES)),
    "Groups of four all right": Line(_over_runs(GROUPS_RIGHT)),
    **{
        label.format(name): line
        for name in ("complex", "minimal")
        for label, line in {
            "Mean {} gap": Line(_over_runs(GAPS[name])),
            "Mean {} gap, without diverged runs": Line(_over_runs(GAPS[name], without_diverged)),
            "Mean {} gap, change from small to large": Line(_grown(GAPS[name], "small")),
            "Mean {} gap, change from medium to large": Line(_grown(GAPS[name], "medium")),
            "Rank correlation of diversity and {} gap": Line(_over_pairs(GAPS[name], correlated, fewest=3), "score"),
            "Mean {} gap, highest above lowest diversity": Line(_risen(GAPS[name])),
        }.items()
    },
    "Mean gap against complex-matched": Line(_over_runs(GAPS["matched"])),
}
