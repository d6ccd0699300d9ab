"""Figure 6: how often an operator occurs in one question's program."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.paper import style
from compvqa.paper.data import Inputs, statistic
from compvqa.paper.reference import Reference


def make(inputs: Inputs, reference: Reference) -> Figure:
    """One small bar chart an operator; the range that the paper names is shaded grey."""
    part = reference.options.get("part", "train")
    names = reference.options.get("operators", ["Find", "Filter", "WithRelation"])
    figure, axes = style.new(3.4 * len(names), 3.6, columns=len(names), sharey=True)
    found = {name: statistic(inputs, f"occurrences_{name}", part) for name in names}
    counts = {name: {int(item): value for item, value in of.items()} for name, of in found.items()}
    top = max([8, *(times for of in counts.values() for times in of)])
    for name, ax in zip(names, axes, strict=True):
        ax.set_title(name)
        if not counts[name]:
            style.nothing_to_show(ax, f"no questions in {part}")
            continue
        ax.bar(list(counts[name]), list(counts[name].values()), color=style.BLUE, width=0.78)
        _range(ax, reference, name)
        ax.set_xticks(range(top + 1))
        ax.set_xlim(-0.7, top + 0.7)
        ax.set_xlabel("times in one question")
        style.thousands(ax)
        ax.margins(y=0.18)
    axes[0].set_ylabel(f"questions ({part})")
    return figure


def _range(ax: Axes, reference: Reference, name: str) -> None:
    """The paper's range, grey behind the bars, with its words."""
    fact = reference.facts.get(name)
    if fact is None or fact.low is None or fact.high is None:
        return
    ax.axvspan(fact.low - 0.5, fact.high + 0.5, color=style.PAPER, alpha=0.10, lw=0, zorder=0)
    ax.text(fact.high + 0.35, 0.96, fact.text, transform=ax.get_xaxis_transform(), ha="right", va="top",
            color=style.PAPER, fontsize=9)  # fmt: skip
