"""CLEVR-HOPE's Figure 23: gaps by the types of the pair's values, complex above the diagonal and minimal below it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.clevr.hope.gaps import GAPS, Tested, having, mean_of
from compvqa.clevr.paper.held import Results, doubts
from compvqa.paper import style
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference

WORST = -25.0  # points, from which on a cell is as dark as can be


def make(inputs: Inputs, reference: Reference) -> Figure:
    """For each model a panel of ours, and below it one of the paper's means, at the largest size of ours."""
    results = Results.of(inputs, reference)
    models = results.models()
    across = max(len(models), 1)
    rows = 1 + bool(results.runs and results.paper)
    figure, axes = style.new(max(4.2 * across, 7), 3.6 * rows + 1, columns=across, rows=rows)
    for ax in axes:
        ax.set_axis_off()
    if not models:
        style.nothing_to_show(axes[0], "no model was tested on such pairs")
        return figure
    kinds = sorted(results.vocabulary, key=lambda kind: len(results.vocabulary[kind]))
    for column, model in enumerate(models):
        shown = [("ours", model.of(model.largest)), ("paper", model.papers(model.largest))]
        for row, (whose, runs) in enumerate(shown if rows > 1 else [one for one in shown if one[1]]):
            if runs:
                _panel(axes[row * across + column], runs, kinds, f"{model.label}, {whose}")
    style.below(figure, doubts(results, models), int(18 * figure.get_figwidth()))
    return figure


def _panel(ax: Axes, runs: list[Tested], kinds: list[str], title: str) -> None:
    values = np.full((len(kinds), len(kinds)), np.nan)
    for run in runs:
        one, other = sorted(kinds.index(kind) for kind in run.held.types)
        of = [other_run for other_run in runs if set(other_run.held.types) == set(run.held.types)]
        for place, gap in (((one, other), "complex"), ((other, one), "minimal")):
            if there := having(of, GAPS[gap]):
                values[place] = mean_of(there, GAPS[gap])[0]
    ax.set_axis_on()
    ax.grid(visible=False)
    ax.imshow(values, cmap="Blues_r", vmin=WORST, vmax=0)
    for row, column in np.argwhere(~np.isnan(values)):
        dark = values[row, column] < 0.55 * WORST
        text = f"{values[row, column]:.1f}".replace("-", "−")
        ax.text(column, row, text, ha="center", va="center", color="white" if dark else style.INK, fontsize=10)
    ax.set_title(title)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(range(len(kinds)), kinds)
    ax.tick_params(length=0, labelsize=9)
