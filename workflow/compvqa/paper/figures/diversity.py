"""The systematicity gap against the diversity of held-out pairs, a panel a world."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.paper import style
from compvqa.paper.data import Inputs
from compvqa.paper.diversity import Gap, gaps, trends
from compvqa.paper.reference import Reference

WIDTH = 4.2  # inches of a panel
NUMBER = 0.08  # the share of an axis that a number takes


def make(inputs: Inputs, reference: Reference) -> Figure:
    """A point a split and model with its interval, hollow where it is against matched questions; lines are means."""
    found = gaps(inputs)
    worlds = list(dict.fromkeys(gap.world for gap in found))
    figure, axes = style.new(max(WIDTH * len(worlds), 7), 4.6, columns=max(len(worlds), 1), sharey=True)
    if not found:
        style.nothing_to_show(axes[0], "no model was trained on a split that holds out a pair")
        return figure
    models = list(dict.fromkeys(gap.model for gap in found))
    colors = dict(zip(models, style.COLORS * len(models), strict=False))
    for ax, world in zip(axes, worlds, strict=True):
        ax.set_title(style.shortened(world, 30))
        ax.axhline(0, color=style.SOFT, lw=0.8)
        mine = [gap for gap in found if gap.world == world]
        for model in dict.fromkeys(gap.model for gap in mine):
            _points(ax, [gap for gap in mine if gap.model == model], colors[model])
        ax.set_xscale("log", base=2)
        places = _apart(sorted({gap.held.diversity for gap in mine}))
        ax.set_xticks(places, [str(place) for place in places], minor=False)
        ax.set_xticks([], minor=True)
        ax.set_xlabel("diversity")
    axes[0].set_ylabel("points with the pair above without")
    marks = [axes[0].plot([], [], color=colors[model], marker="o", ms=4, label=model)[0] for model in models]
    marks += axes[0].plot([], [], "o", ms=4, mfc="white", color=style.SOFT, label="against matched questions")
    figure.legend(handles=marks, loc="outside upper center", ncols=len(marks), fontsize=9)
    style.below(figure, [*trends(found), *reference.notes], int(18 * figure.get_figwidth()))
    return figure


def _apart(places: Sequence[int]) -> list[int]:
    """Those of rising places that have room for their numbers on a logarithmic axis."""
    kept: list[int] = []
    for place in places:
        if not kept or place >= kept[-1] * (places[-1] / places[0]) ** NUMBER:
            kept.append(place)
    return kept


def _points(ax: Axes, mine: Sequence[Gap], color: str) -> None:
    """The points of a model in a world, those of one diversity side by side, and their means."""
    of: dict[int, list[Gap]] = {}
    for gap in sorted(mine, key=lambda gap: gap.split):
        of.setdefault(gap.held.diversity, []).append(gap)
    for many, there in of.items():
        for number, gap in enumerate(there):
            x = many * 2 ** (0.05 * (number - (len(there) - 1) / 2))
            ax.plot([x, x], gap.gap.interval, color=color, lw=0.9, alpha=0.6)
            ax.plot([x], [gap.gap.value], "o", ms=4, color=color)
            if gap.matched:
                ax.plot([x], [gap.matched.value], "o", ms=4, color=color, mfc="white")
    means = [(many, sum(gap.gap.value for gap in there) / len(there)) for many, there in sorted(of.items())]
    ax.plot(*zip(*means, strict=True), color=color, lw=2)
