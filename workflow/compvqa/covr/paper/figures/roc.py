"""The image filter's choice between false and good distractors: ROC curves by the kind of the differing node."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score, roc_curve

from compvqa.covr.judging.distractors import KINDS, WORDS
from compvqa.covr.paper.filters import arm_name, in_order
from compvqa.paper import style
from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference

COLUMNS = ("arm", "kind", "cause", "dropped", "score", "tau", "tau_paper")
# Of a threshold: how the choice by it is marked, and what it is called
MARKS: dict[str, tuple[dict[str, Any], str]] = {
    "tau_paper": ({"marker": "D", "ms": 9, "mfc": "white"}, "the paper's threshold"),
    "tau": ({"marker": "o", "ms": 5}, "threshold in use"),
}


def make(inputs: Inputs, reference: Reference) -> Figure:
    """A panel a chain that scores images: of the distractors that its word filter left, by the least score."""
    judged = frame(one(inputs, "distractors"), COLUMNS)
    judged = judged[judged["dropped"] != WORDS]
    arms = in_order(set(judged["arm"][judged["score"].notna()]))
    figure, axes = style.new(5.2 * max(len(arms), 1), 5.0, columns=max(len(arms), 1))
    if not arms:
        style.nothing_to_show(axes[0], "no chain has an image filter")
        return figure
    for ax, arm in zip(axes, arms, strict=True):
        _draw(ax, judged[judged["arm"] == arm])
        ax.set_title(arm_name(arm).replace(" and ", "\nand "))
    return figure


def _draw(ax: Axes, judged: pd.DataFrame) -> None:
    for kind, color in zip(KINDS, style.COLORS, strict=False):
        of = judged[judged["kind"] == kind]
        false = of["cause"] != ""
        if false.nunique() < 2:
            continue
        scores = of["score"].fillna(0)
        lost, found, _ = roc_curve(false, scores)
        label = f"{kind}: AUC {roc_auc_score(false, scores):.3f} ({false.sum():,} of {len(of):,} false)"
        ax.plot(100 * lost, 100 * found, color=color, label=label)
        for column, (look, _) in MARKS.items():
            dropped = of["score"] > of[column]
            at = 100 * dropped[~false].mean(), 100 * dropped[false].mean()
            ax.plot(*at, color=color, zorder=3, **look)
    for look, what in MARKS.values():
        ax.plot([], [], ls="", color=style.SOFT, label=what, **look)
    ax.plot([0, 100], [0, 100], color=style.LINE, lw=1)
    ax.set_xlabel("good distractors lost (%)")
    ax.set_ylabel("false distractors dropped (%)")
    ax.legend(loc="lower right", fontsize=8.5)
