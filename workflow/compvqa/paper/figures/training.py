"""Training curves: accuracy on dev and loss by epoch, of every run."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from compvqa import tables
from compvqa.paper import style
from compvqa.paper.data import Inputs, many
from compvqa.paper.reference import Reference
from compvqa.training.history import HISTORY

LOSS, ACCURACY = "loss", "eval_accuracy"


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Two panels; runs that differ in the seed alone have one colour and one name in the legend.

    The definition's one input is the runs' histories.
    """
    curves = {path: read(path) for path in sorted(many(inputs, reference.inputs[0]))}
    kinds = sorted({kind_of(path) for path in curves})
    colors = {kind: style.COLORS[number % len(style.COLORS)] for number, kind in enumerate(kinds)}
    lines = {kind: "-" if number < len(style.COLORS) else "--" for number, kind in enumerate(kinds)}
    figure, (left, right) = style.new(10.5, 4.2, columns=2)
    if not curves:
        style.nothing_to_show(left, "no model was trained")
        right.set_axis_off()
        return figure
    for ax, column, title in ((left, ACCURACY, "Accuracy on dev (%)"), (right, LOSS, "Training loss")):
        ax.set_title(title)
        for path, curve in curves.items():
            known = curve.dropna(subset=[column])
            values = known[column] * (100 if column == ACCURACY else 1)
            kind = kind_of(path)
            ax.plot(known["epoch"], values, color=colors[kind], ls=lines[kind], marker="o", ms=3, alpha=0.9)
        ax.set_xlabel("epoch")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlim(left=0)
    left.set_ylim(0, 100)
    for kind in kinds:
        left.plot([], [], color=colors[kind], ls=lines[kind], label=kind)
    figure.legend(loc="outside right center", fontsize=9)
    return figure


def read(path: Path) -> pd.DataFrame:
    """A run's history: a row a look at the held-out examples."""
    return tables.read(path, HISTORY).to_pandas()


def kind_of(path: Path) -> str:
    """The run's name without its seed: ``runs/visualbert-iid-0/history.parquet`` is of ``visualbert-iid``."""
    return re.sub(r"[-_.](seed)?\d+$", "", path.parent.name)
