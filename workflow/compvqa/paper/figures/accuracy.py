"""Accuracy by template as a picture: text-only and with images, over seeds, beside the paper's Table 12."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from compvqa.evaluation.facets import TEMPLATE
from compvqa.paper import style
from compvqa.paper.data import Inputs, one, templates_in_order
from compvqa.paper.reference import Reference
from compvqa.paper.scores import Results
from compvqa.paper.splits import DEV

COLORS = (style.PALE, style.BLUE)


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Horizontal bars a template with their intervals, and below its name of how many questions they are; grey diamonds
    are the paper's values."""
    part = reference.options.get("part", DEV)
    results = Results.load(one(inputs, "scores"), reference.options)
    found = {column: results.by(TEMPLATE, reference.shown(column), part) for column in reference.columns}
    names = templates_in_order([name for scores in found.values() for name in scores], list(reference.rows))
    figure, (ax,) = style.new(7.6, max(2.6, 0.52 * len(names) + 1.4))
    ax.set_title(f"Accuracy by template ({part}, %)")
    if not names:
        style.nothing_to_show(ax, "no trained model has predictions of the i.i.d. split")
        return figure
    height = 0.8 / len(reference.columns)
    marks = []
    for number, column in enumerate(reference.columns):
        at = np.arange(len(names)) + (number - (len(reference.columns) - 1) / 2) * height
        scores = [found[column].get(name) for name in names]
        means = [score.mean if score else 0 for score in scores]
        ends = [score.interval if score else (0, 0) for score in scores]
        spread = np.abs(np.array(ends).T - means)
        line = {"lw": 1.2, "ecolor": style.INK, "zorder": 5}  # over the diamonds
        ax.barh(at, means, height * 0.9, xerr=spread, error_kw=line, color=COLORS[number % 2], label=column)
        marks += [(paper, y) for name, y in zip(names, at, strict=True) if (paper := reference.value(name, column))]
    if marks:
        look: dict[str, Any] = {"mfc": style.PAPER, "mec": "white", "ms": 6.5, "mew": 0.9}
        ax.plot(*zip(*marks, strict=True), "D", label="paper (test)", **look)
    asked = {name: max(of[name].questions for of in found.values() if name in of) for name in names}
    labels = [f"{reference.label(name)}\nn {asked[name]:,}" for name in names]
    ax.set_yticks(np.arange(len(names)), labels, color=style.INK)
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    ax.grid(axis="x")
    ax.grid(visible=False, axis="y")
    figure.legend(loc="outside lower center", ncols=3, fontsize=9)
    return figure
