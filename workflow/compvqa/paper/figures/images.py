"""Figure 5: how many images a question has."""

from __future__ import annotations

from matplotlib.figure import Figure

from compvqa.paper import style
from compvqa.paper.data import Inputs, statistic
from compvqa.paper.reference import Reference


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Bars of the number of questions by their number of images, with shares and the mean."""
    part = reference.options.get("part", "train")
    counts = {int(item): value for item, value in statistic(inputs, "images_per_question", part).items()}
    figure, (ax,) = style.new(6.4, 4.0)
    ax.set_title(f"Images per question ({part})")
    if not counts:
        style.nothing_to_show(ax, f"no questions in {part}")
        return figure
    total = sum(counts.values())
    places = range(1, max(5, *counts) + 1)
    heights = [counts.get(place, 0) for place in places]
    bars = ax.bar(places, heights, color=style.BLUE, width=0.7)
    shares = [f"{100 * height / total:.0f} %" if height else "" for height in heights]
    ax.bar_label(bars, shares, padding=3, color=style.SOFT)
    ax.set_xticks(places)
    ax.set_ylim(0, max(heights) * 1.32)
    ax.set_xlabel("images")
    ax.set_ylabel("questions")
    style.thousands(ax)
    mean = sum(place * height for place, height in counts.items()) / total
    lines = [(f"our mean {mean:.1f}", style.INK)]
    if "average" in reference.facts:
        fact = reference.facts["average"]
        lines.append((f"{fact.text} {fact.value}", style.PAPER))
    if "most" in reference.facts:
        lines.append((reference.facts["most"].text, style.PAPER))
    for number, (text, color) in enumerate(lines):
        style.note(ax, 0.015, 0.97 - 0.07 * number, text, color=color)
    return figure
