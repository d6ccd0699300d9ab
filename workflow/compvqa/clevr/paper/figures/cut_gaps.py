"""CLEVR-HOPE's Figure 6: the gap of the same pairs in vocabularies of more and more combinations of their types."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.clevr.hope.gaps import GAPS, Measure, Tested, grouped, having, mean_of
from compvqa.clevr.paper.held import Results, diversities, doubts
from compvqa.paper import style
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference

PANELS = {"complex": "Complex gap", "common": "Complex gap, common test", "minimal": "Minimal gap"}


def make(inputs: Inputs, reference: Reference) -> Figure:
    """A panel a gap; a thick line a model and kind of cut with its intervals, thin ones for each pair and draw. Only
    means of the same draws are joined."""
    results = Results.of(inputs, reference)
    models = results.models()
    shown = {gap: title for gap, title in PANELS.items() if having(results.runs, GAPS[gap])}
    figure, axes = style.new(max(3.9 * len(shown), 7), 4.6, columns=max(len(shown), 1), sharey=True)
    if not shown:
        style.nothing_to_show(axes[0], "no model was tested in cut vocabularies")
        return figure
    lines: dict[str, list[Tested]] = {}
    for model in models:
        for kind, runs in grouped(model.of(model.largest), lambda run: run.held.draw.partition(" ")[0]).items():
            lines[f"{model.label}, {kind}"] = runs
    places = sorted(diversities(results.runs))
    for ax, (gap, title) in zip(axes, shown.items(), strict=True):
        ax.set_title(title)
        ax.axhline(0, color=style.SOFT, lw=0.8)
        for number, (runs, color) in enumerate(zip(lines.values(), style.COLORS, strict=False)):
            _line(ax, runs, GAPS[gap], places, color, results, 0.06 * (number - (len(lines) - 1) / 2))
        drawn = {many: len(drawn_at(having(results.runs, GAPS[gap]), many)) for many in places}
        ax.set_xticks(range(len(places)), [f"{many}\nn {drawn[many]}" for many in places])
        ax.set_xlabel("diversity")
    axes[0].set_ylabel("points with the pair above without")
    marks = [
        axes[0].plot([], [], color=color, marker="o", ms=4, label=name)[0]
        for name, color in zip(lines, style.COLORS, strict=False)
    ]
    figure.legend(handles=marks, loc="outside upper center", ncols=max(len(marks), 1), fontsize=9)
    style.below(figure, doubts(results, models), int(18 * figure.get_figwidth()))
    return figure


def _line(
    ax: Axes, runs: list[Tested], measure: Measure, places: list[int], color: str, results: Results, aside: float
) -> None:
    for of in grouped(having(runs, measure), lambda run: run.drawn).values():
        of_draw = grouped(of, lambda run: run.held.diversity)
        points = sorted((places.index(many), mean_of(some, measure)[0]) for many, some in of_draw.items())
        ax.plot(*zip(*points, strict=True), color=color, lw=0.8, alpha=0.5, marker=".", ms=4)
    thick: dict[frozenset[object], list[tuple[float, float]]] = {}
    for place, many in enumerate(places):
        if found := results.estimate([run for run in runs if run.held.diversity == many], measure):
            thick.setdefault(drawn_at(having(runs, measure), many), []).append((place + aside, found.value))
            ax.plot([place + aside] * 2, found.interval, color=color, lw=1.3)
    for means in thick.values():
        ax.plot(*zip(*means, strict=True), color=color, lw=2.2, marker="o", ms=5)


def drawn_at(runs: list[Tested], many: int) -> frozenset[object]:
    """The pairs with their draws that runs of a diversity are of."""
    return frozenset(run.drawn for run in runs if run.held.diversity == many)
