"""CLEVR-HOPE's figures of a gap, or an accuracy, by the size of train: a line all pairs, a diversity, or a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.clevr.hope.gaps import GAPS, Measure, Tested, having, mean_of
from compvqa.clevr.paper.held import TRAINED_ON, Model, Results, diversities, doubts
from compvqa.paper import style
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference

WIDTH, NAME = 3.9, 1.4  # inches of a panel, and of a name in the legend
DASHED: dict[str, Any] = {"lw": 1.1, "ls": "--", "marker": "D", "ms": 3, "mfc": "white"}  # of the paper
FEW = 8  # lines, which can have intervals and names of their own
BY: Mapping[str, Callable[[Tested], str]] = {
    "all": lambda run: "",
    "diversity": lambda run: str(run.held.diversity),
    "pair": lambda run: run.held.label,
}


def measure_of(reference: Reference) -> Measure:
    """What a page shows: ``options.gap``, or the accuracy on ``options.part``."""
    options = reference.options
    return GAPS[options["gap"]] if "gap" in options else Measure(options["part"])


def make(inputs: Inputs, reference: Reference) -> Figure:
    """A panel a model; lines are means, whiskers intervals of ours, bands one deviation over runs, and what is dashed
    is the paper's. ``options.by``: what a line is of; ``line``: where an accuracy is marked."""
    results = Results.of(inputs, reference)
    models = [model for model in results.models() if having((*model.runs, *model.paper), measure_of(reference))]
    figure, axes = style.new(max(WIDTH * len(models), 7), 4.6, columns=max(len(models), 1), sharey=True)
    if not models:
        style.nothing_to_show(axes[0], "no model was tested on such pairs")
        return figure
    everything = [run for model in models for run in (*model.runs, *model.paper)]
    colors = colors_of(everything, reference.options["by"])
    for ax, model in zip(axes, models, strict=True):
        ax.set_title(model.label)
        _panel(ax, model, results, colors)
        _sizes(ax)
    gap = "gap" in reference.options
    axes[0].set_ylabel("points with the pair above without" if gap else "accuracy (%)")
    _legend(figure, axes[0], everything, colors, reference.options["by"])
    style.below(figure, doubts(results, models), int(18 * figure.get_figwidth()))
    return figure


def colors_of(runs: list[Tested], by: str) -> dict[str, str]:
    """A color a line: of few pairs each its own, else that of its diversity."""
    shown = {str(many): color for many, color in zip(diversities(runs), style.COLORS * 3, strict=False)}
    names = sorted({BY[by](run) for run in runs}, key=lambda name: _place(name, runs, by))
    if by == "diversity":
        return shown
    if by == "pair" and len(names) > FEW:
        many = {BY[by](run): str(run.held.diversity) for run in runs}
        return {name: shown[many[name]] for name in names}
    return dict(zip(names, style.COLORS * 3, strict=False))


def _place(name: str, runs: list[Tested], by: str) -> tuple[int, str]:
    return -max(run.held.diversity for run in runs if BY[by](run) == name), name


def _panel(ax: Axes, model: Model, results: Results, colors: Mapping[str, str]) -> None:
    """The lines of a model: the paper's dashed, and ours."""
    reference = results.reference
    measure, name_of = measure_of(reference), BY[reference.options["by"]]
    if "gap" in reference.options:
        ax.axhline(0, color=style.SOFT, lw=0.8)
    if "line" in reference.options:
        ax.axhline(reference.options["line"], color=style.SOFT, lw=0.9, ls=":")
    for number, (name, color) in enumerate(colors.items()):
        aside = 0.03 * (number - len(colors) / 2) if len(colors) <= FEW else 0.0  # so that whiskers don't overlap
        paper = _points([run for run in model.paper if name_of(run) == name], measure)
        if paper:
            at, means, _ = zip(*paper, strict=True)
            ax.plot(at, means, color=style.PAPER if name == "" else color, alpha=0.75, **DASHED)
        runs = [run for run in model.runs if name_of(run) == name]
        if not (ours := _points(runs, measure)):
            continue
        at, means, spreads = zip(*ours, strict=True)
        ax.plot([x + aside for x in at], means, color=color, marker="o", ms=4, lw=1.8 if len(colors) <= FEW else 1.1)
        if name == "" or reference.options["by"] == "pair" and len(colors) <= FEW:
            low, high = zip(*((m - s, m + s) for m, s in zip(means, spreads, strict=True)), strict=True)
            ax.fill_between([x + aside for x in at], low, high, color=color, alpha=0.12, lw=0)
        for x in at if len(colors) <= FEW else ():
            found = results.estimate([run for run in runs if run.variant == TRAINED_ON[x]], measure)
            if found:
                ax.plot([x + aside] * 2, found.interval, color=color, lw=1.1)


def _points(runs: list[Tested], measure: Measure) -> list[tuple[int, float, float]]:
    """Place, mean and deviation at each size that there is."""
    found = []
    for place, variant in enumerate(TRAINED_ON):
        if there := having((run for run in runs if run.variant == variant), measure):
            found.append((place, *mean_of(there, measure)))
    return found


def _sizes(ax: Axes) -> None:
    ax.set_xticks(range(len(TRAINED_ON)), TRAINED_ON)
    ax.set_xlim(-0.35, len(TRAINED_ON) - 0.65)
    ax.set_xlabel("train set")


def _legend(figure: Figure, ax: Axes, runs: list[Tested], colors: Mapping[str, str], by: str) -> None:
    """The lines by their colors, ours and the paper's."""
    named = {} if by == "all" else dict(colors)
    if by == "diversity" or len(named) > FEW:
        named = {f"diversity {many}": color for many, color in colors_of(runs, "diversity").items()}
    marks = [ax.plot([], [], "s", ms=7, color=color, label=name)[0] for name, color in named.items()]
    ours = any(not run.averaged for run in runs)
    marks += ax.plot([], [], color=style.INK, marker="o", ms=4, label="ours") if ours else []
    if any(run.averaged for run in runs):
        marks += ax.plot([], [], color=style.PAPER, label="paper", **DASHED)
    figure.legend(
        handles=marks,
        loc="outside upper center",
        ncols=min(len(marks), int(figure.get_figwidth() / NAME)),
        fontsize=8.5,
    )
