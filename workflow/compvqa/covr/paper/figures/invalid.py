"""The share of invalid questions with and without each filter: by cause, and by template."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.covr.judging.filters import INVALID, QUESTIONS, cause_of
from compvqa.covr.judging.validity import CAUSES
from compvqa.covr.paper.filters import Measures, arm_name
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference

CHAINS = (style.PAPER, style.PALE, style.TEAL, style.INK, style.RED)  # no cause has these colours
ERROR = {"lw": 1, "ecolor": style.SOFT, "capsize": 2}


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Left a bar a chain, in pieces by cause (mean over templates); right a bar a template and chain."""
    found = Measures(one(inputs, "filters"))
    arms, templates = found.arms(QUESTIONS), found.groups(QUESTIONS)
    rows = max(len(arms), 0.35 * len(arms) * len(templates))
    figure, (left, right) = style.new(10.5, max(3.0, 0.6 * rows + 1.3), columns=2)
    if not templates:
        style.nothing_to_show(left, "no question was judged")
        right.set_axis_off()
        return figure
    _by_cause(left, found, arms)
    _by_template(right, found, arms, templates)
    for ax in (left, right):
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel("% of the questions judged")
        ax.grid(axis="x")
        ax.grid(visible=False, axis="y")
    return figure


def _by_cause(ax: Axes, found: Measures, arms: list[str]) -> None:
    ax.set_title("Invalid questions by cause")
    start = np.zeros(len(arms))
    for cause, color in zip(CAUSES, style.COLORS, strict=False):
        shares = [(found.interval(QUESTIONS, arm, "", cause_of(INVALID, cause)) or (0,))[0] for arm in arms]
        ax.barh(range(len(arms)), shares, 0.6, left=start, color=color, label=cause)
        start += shares
    ax.barh(range(len(arms)), start, 0.6, xerr=_errors(found, arms, ""), error_kw=ERROR, color="none")
    ax.set_yticks(range(len(arms)), [arm_name(arm).replace(" and ", "\nand ") for arm in arms], color=style.INK)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=9)


def _by_template(ax: Axes, found: Measures, arms: list[str], templates: list[str]) -> None:
    ax.set_title("Invalid questions by template")
    height = 0.8 / len(arms)
    for number, template in enumerate(templates):
        at = number + (np.arange(len(arms)) - (len(arms) - 1) / 2) * height
        shares = [(found.interval(QUESTIONS, arm, template, INVALID) or (0,))[0] for arm in arms]
        colors = [CHAINS[place % len(CHAINS)] for place in range(len(arms))]
        ax.barh(at, shares, 0.9 * height, xerr=_errors(found, arms, template), error_kw=ERROR, color=colors)
    for place, arm in enumerate(arms):
        ax.barh(0, 0, color=CHAINS[place % len(CHAINS)], label=arm_name(arm))
    ax.set_yticks(range(len(templates)), templates, color=style.INK)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=1 + len(arms) // 3, fontsize=9)


def _errors(found: Measures, arms: list[str], template: str) -> np.ndarray:
    """How far the intervals reach below and above the shares: [2, arms]."""
    known = [found.interval(QUESTIONS, arm, template, INVALID) or (0, 0, 0) for arm in arms]
    return np.array([(max(value - low, 0), max(high - value, 0)) for value, low, high in known]).T
