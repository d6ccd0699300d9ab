"""Accuracy by the values of facets as a picture: bars a value, or curves where values are numbers, a color a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from compvqa.paper import style
from compvqa.paper.data import Inputs
from compvqa.paper.panels import Panel, Point, Told, panels, points
from compvqa.paper.reference import Reference

COLORS = (style.PAPER, style.PALE, style.TEAL, style.BLUE, style.PURPLE, style.ORANGE, style.GREEN, style.RED)
DIAMOND: dict[str, Any] = {"marker": "D", "ls": "", "mfc": "white", "mec": style.INK, "ms": 6, "mew": 1, "zorder": 4}
GROUP = 0.86  # the width of a value's bars, of the 1 that it has
FEWEST = 2  # points of a curve


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Axes a panel, ``options.across`` of them side by side; a diamond is the paper's value, where its text has one.

    A model that has no score is left out, and so are points of a curve of fewer than ``options.least`` questions. Bands
    around curves, and lines on bars, are the intervals.
    """
    told_of = Told.of(inputs, reference)
    found = [(panel, list(points(panel, reference, told_of))) for panel in panels(reference)]
    told = {column for _, of in found for point in of for column, score in point.scores.items() if score}
    colors = {column: COLORS[number % len(COLORS)] for number, column in enumerate(reference.columns) if column in told}
    across = min(reference.options.get("across", 2), len(found)) or 1
    rows = -(-len(found) // across)
    figure, axes = style.new(11, 0.7 + 2.9 * rows, columns=across, rows=rows, sharey=True, **_widths(found, across))
    for ax in axes[len(found) :]:
        ax.set_axis_off()
    for ax, (panel, of) in zip(axes, found, strict=False):
        ax.set_title(panel.title)
        (_bars if panel.number_after is None else _curves)(ax, panel, of, colors, reference)
        ax.set_ylim(0, 100)
    for ax in axes[::across]:
        ax.set_ylabel("accuracy (%)")
    _legend(figure, axes, colors)
    return figure


def _widths(found: Sequence[tuple[Panel, list[Point]]], across: int) -> dict[str, Any]:
    """Axes are as wide as their bars need; those of curves are equally wide."""
    groups = [1 if panel.number_after is not None else max(len(of), 1) for panel, of in found]
    groups += [0] * (-len(groups) % across)
    return {"width_ratios": [max(groups[column::across]) for column in range(across)]}


def _bars(ax: Axes, panel: Panel, found: Sequence[Point], colors: Mapping[str, str], reference: Reference) -> None:
    if not any(score for point in found for score in point.scores.values()):
        style.nothing_to_show(ax, "no model answered such questions")
        return
    width = GROUP / max(len(colors), 3)  # of one model no bar as wide as a group
    for number, (column, color) in enumerate(colors.items()):
        at = [place + (number - (len(colors) - 1) / 2) * width for place in range(len(found))]
        scores = [point.scores[column] for point in found]
        there = [(x, score) for x, score in zip(at, scores, strict=True) if score]
        ax.bar([x for x, _ in there], [score.mean for _, score in there], width * 0.92, color=color)
        for x, score in there:
            ax.plot([x, x], score.interval, color=style.INK, lw=0.9, zorder=5)  # over the diamonds
        papers = [(x, reference.value(point.place, column)) for x, point in zip(at, found, strict=True)]
        marks = [(x, value) for x, value in papers if isinstance(value, int | float)]
        if marks:
            ax.plot(*zip(*marks, strict=True), **DIAMOND)
    labels = ["\n".join(fill(words, 14) for words in point.label.split(", ")) for point in found]
    ax.set_xticks(range(len(found)), labels)
    ax.tick_params(axis="x", length=0, labelsize=9)
    ax.set_xlim(-0.6, len(found) - 0.4)


def _curves(ax: Axes, panel: Panel, found: Sequence[Point], colors: Mapping[str, str], reference: Reference) -> None:
    drawn, least = 0, reference.options.get("least", 1)
    for column, color in colors.items():
        told = [
            (point.number, score)
            for point in found
            if point.number is not None and (score := point.scores[column]) and score.questions >= least
        ]
        if len(told) < FEWEST:
            continue
        drawn += 1
        at = [number for number, _ in told]
        low, high = zip(*(score.interval for _, score in told), strict=True)
        ax.fill_between(at, low, high, color=color, alpha=0.12, lw=0)
        dashed: dict[str, Any] = (
            {"ls": "--", "zorder": 3} if reference.shown(column).baseline else {}
        )  # seen where lines are the same
        ax.plot(at, [score.mean for _, score in told], color=color, marker="o", ms=3.5, **dashed)
    if not drawn:
        style.nothing_to_show(ax, "no model answered questions of two numbers")
        return
    ax.set_xlabel(panel.axis)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _legend(figure: Figure, axes: Sequence[Axes], colors: Mapping[str, str]) -> None:
    """The models, and the paper's diamond if there is one."""
    lines = [axes[0].plot([], [], "s", ms=8, color=color, label=column)[0] for column, color in colors.items()]
    if any(line.get_marker() == "D" for ax in axes for line in ax.get_lines()):
        lines += axes[0].plot([], [], label="paper", **DIAMOND)
    if lines:
        figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), fontsize=9)
