"""Figure 4: how often the most frequent answers occur, true and false left out."""

from __future__ import annotations

from matplotlib.figure import Figure

from compvqa.paper import style
from compvqa.paper.data import Inputs, statistic
from compvqa.paper.reference import Reference


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Bars of the most frequent answers of ``part``, each with its count; numbers in another colour than words."""
    part = reference.options.get("part", "train")
    counts = statistic(inputs, "answer", part)
    names = sorted(counts, key=lambda answer: (-counts[answer], answer))
    figure, (ax,) = style.new(10, 4.4)
    ax.set_title(f"The {len(names)} most frequent answers ({part}, without true and false)")
    if not names:
        style.nothing_to_show(ax, f"no question of {part} has an answer other than true and false")
        return figure
    for label, color, shown in (
        ("number", style.ORANGE, [name for name in names if name.isdecimal()]),
        ("word", style.BLUE, [name for name in names if not name.isdecimal()]),
    ):
        if shown:
            places = [names.index(name) for name in shown]
            bars = ax.bar(places, [counts[name] for name in shown], color=color, width=0.76, label=label)
            ax.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=8, color=style.SOFT)
    ax.set_xlim(-0.7, len(names) - 0.3)
    ax.set_ylabel("questions")
    ax.set_xticks(range(len(names)), [style.shortened(name) for name in names])
    ax.tick_params(axis="x", rotation=50, length=0)
    for tick in ax.get_xticklabels():
        tick.set(ha="right", rotation_mode="anchor")
    style.thousands(ax)
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.93))
    if "most common" in reference.facts:
        style.paper_note(ax, reference.facts["most common"].text, y=0.985)
    ax.margins(y=0.12)
    return figure
