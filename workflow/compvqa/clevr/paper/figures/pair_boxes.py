"""CLEVR-HOPE's box plots: how accuracy on a test differs between held-out pairs, by the size of train."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.clevr.hope.gaps import Measure, Tested, having, over_pairs
from compvqa.clevr.paper.held import TRAINED_ON, Model, Results, doubts
from compvqa.paper import style
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference

WIDTH = 3.9  # inches of a panel
BOX = 0.3


def make(inputs: Inputs, reference: Reference) -> Figure:
    """A panel a model, and a box a size, ours in color beside the paper's in grey; each pair is the mean of its runs.
    ``options``: the part, a line where an accuracy is marked, and whether pairs are shown as points."""
    results, measure = Results.of(inputs, reference), Measure(reference.options["part"])
    models = [model for model in results.models() if having((*model.runs, *model.paper), measure)]
    figure, axes = style.new(max(WIDTH * len(models), 7), 4.4, columns=max(len(models), 1), sharey=True)
    if not models:
        style.nothing_to_show(axes[0], "no model was tested on such pairs")
        return figure
    for ax, model in zip(axes, models, strict=True):
        ax.set_title(model.label)
        _panel(ax, model, measure, reference)
    axes[0].set_ylabel("accuracy (%)")
    whose = {"ours": (results.runs, style.BLUE), "paper": (results.paper, style.PAPER)}
    there = [(name, color) for name, (runs, color) in whose.items() if runs]
    marks = [axes[0].plot([], [], "s", ms=7, color=color, label=name)[0] for name, color in there]
    figure.legend(handles=marks, loc="outside upper center", ncols=len(marks), fontsize=9)
    style.below(figure, doubts(results, models), int(18 * figure.get_figwidth()))
    return figure


def _panel(ax: Axes, model: Model, measure: Measure, reference: Reference) -> None:
    if "line" in reference.options:
        ax.axhline(reference.options["line"], color=style.SOFT, lw=0.9, ls=":")
    for place, variant in enumerate(TRAINED_ON):
        both = ((model.of(variant), style.BLUE), (model.papers(variant), style.PAPER))
        drawn = [(runs, color) for runs, color in both if having(runs, measure)]
        for number, (runs, color) in enumerate(drawn):
            aside = (number - (len(drawn) - 1) / 2) * (BOX + 0.08)
            _box(ax, place + aside, runs, measure, color, bool(reference.options.get("points")))
    ax.set_xticks(range(len(TRAINED_ON)), TRAINED_ON)
    ax.set_xlim(-0.6, len(TRAINED_ON) - 0.4)
    ax.set_xlabel("train set")


def _box(ax: Axes, at: float, runs: list[Tested], measure: Measure, color: str, points: bool) -> None:
    """A box of the pairs' means, with the median, and whiskers as far as 1.5 boxes reach."""
    means = list(over_pairs(runs, measure).values())
    line: dict[str, Any] = {"color": color, "lw": 1.1}
    face = {**line, "facecolor": "white"}
    ax.boxplot(
        [means],
        positions=[at],
        widths=BOX,
        patch_artist=True,
        boxprops=face,
        medianprops=line | {"lw": 2},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": "o", "ms": 3.5, "mec": color, "mfc": "none"},
        showfliers=not points,
        manage_ticks=False,
    )
    if points:
        ax.plot([at] * len(means), means, "o", ms=3, color=color, alpha=0.6, mew=0)
