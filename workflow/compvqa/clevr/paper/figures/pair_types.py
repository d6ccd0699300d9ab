"""CLEVR-HOPE's Figures 12 and 17: accuracy with and without the held-out pair, by the types of its values."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.clevr.hope.gaps import Measure, having, mean_of
from compvqa.clevr.paper.held import Model, Results, doubts
from compvqa.paper import style
from compvqa.paper.data import Inputs
from compvqa.paper.figures.panels import DIAMOND
from compvqa.paper.reference import Reference

# Of each row of panels its bars: what they are called, by their part, and their colors.
ROWS = {
    "Complex": {"complex_iid": "without", "complex_matched": "matched", "complex_ood": "with the pair"},
    "Minimal": {"minimal_iid": "without", "minimal_ood": "with the pair"},
}
COLORS = {"without": style.PALE, "matched": style.TEAL, "with the pair": style.BLUE}
BAR = 0.27


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Panels of complex and minimal tests for each model, at the largest size that it was trained on; whiskers are
    intervals of ours, diamonds the paper's means."""
    results = Results.of(inputs, reference)
    models = results.models()
    across = max(len(models), 1)
    figure, axes = style.new(max(4.3 * across, 7), 6.4, columns=across, rows=len(ROWS), sharey=True)
    if not models:
        for ax in axes:
            style.nothing_to_show(ax, "no model was tested on such pairs")
        return figure
    everything = [run for model in models for run in (*model.runs, *model.paper)]
    order = {run.held.kinds: (run.held.diversity, run.held.types) for run in everything}
    kinds = sorted(order, key=lambda kind: order[kind])
    for row, (title, parts) in enumerate(ROWS.items()):
        for ax, model in zip(axes[row * across :], models, strict=False):
            ax.set_title(f"{title}: {model.label}")
            _panel(ax, model, parts, kinds, results)
        axes[row * across].set_ylabel("accuracy (%)")
    marks = [axes[0].plot([], [], "s", ms=7, color=color, label=name)[0] for name, color in COLORS.items()]
    marks += axes[0].plot([], [], label="paper", **DIAMOND) if results.paper else []
    figure.legend(handles=marks, loc="outside upper center", ncols=len(marks), fontsize=9)
    style.below(figure, doubts(results, models), int(18 * figure.get_figwidth()))
    return figure


def _panel(ax: Axes, model: Model, parts: dict[str, str], kinds: list[str], results: Results) -> None:
    for number, (part, name) in enumerate(parts.items()):
        measure = Measure(part)
        for place, kind in enumerate(kinds):
            x = place + (number - (len(parts) - 1) / 2) * BAR
            ours, paper = (
                [run for run in runs if run.held.kinds == kind]
                for runs in (model.of(model.largest), model.papers(model.largest))
            )
            if found := results.estimate(ours, measure):
                ax.bar(x, found.value, BAR * 0.92, color=COLORS[name])
                ax.plot([x, x], found.interval, color=style.INK, lw=0.9)
            if there := having(paper, measure):
                ax.plot(x, mean_of(there, measure)[0], **DIAMOND)
    ax.set_xticks(range(len(kinds)), [kind.replace("+", "\n+ ") for kind in kinds])
    ax.tick_params(axis="x", length=0, labelsize=8.5)
    ax.set_xlim(-0.6, len(kinds) - 0.4)
    ax.set_ylim(0, 104)
