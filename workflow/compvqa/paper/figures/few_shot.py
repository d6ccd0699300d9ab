"""Figure 13: the effect of M, the number of train questions with the tested property, on accuracy on dev."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import SIGN
from compvqa.paper.scores import Results, Score

ZERO = 20  # below it the axis of M is linear, so that 0 has a place on it


def make(inputs: Inputs, reference: Reference) -> Figure:
    """A curve for each of ``options.splits`` over the runs of the variants ``m<M>``, on ``options.part``.

    The mean over seeds, and shaded the interval of the lowest to the highest; a grey band is the range that the
    paper names.
    """
    results = Results.load(one(inputs, "scores"), reference.options)
    curves = {name: results.by_m(name, reference.options["part"]) for name in reference.options["splits"]}
    figure, (ax,) = style.new(7.2, 4.2)
    if not any(map(len, curves.values())):
        style.nothing_to_show(ax, "no model was trained with several M")
        return figure
    band = reference.facts["most"]
    if band.low is not None and band.high is not None:
        ax.axvspan(band.low, band.high, color=style.LINE, alpha=0.45, lw=0, label=band.text)
    for (name, curve), color in zip(curves.items(), style.COLORS, strict=False):
        _draw(ax, name + (f" {SIGN}" if _asked(curve) else ""), curve, color)
    ax.set_title(f"Accuracy by M ({reference.options['part'].partition('_')[0]}, %)")
    seen = sorted({m for curve in curves.values() for m in curve})
    ax.set_xscale("symlog", linthresh=ZERO, linscale=0.5)
    ax.set_xlim(-3, 1.25 * max(seen[-1], ZERO))
    ax.xaxis.set_major_locator(FixedLocator(seen))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.tick_params(axis="x", labelsize=8, rotation=45 if len(seen) > 8 else 0)
    ax.set_ylim(0, 100)
    ax.set_xlabel(f"M, train questions with the property; {reference.facts['few'].text}")
    ax.legend(loc="lower right", fontsize=9)
    if any(map(_asked, curves.values())):
        style.legend_of_sign(figure)
    return figure


def _draw(ax: Axes, name: str, curve: Mapping[int, Score], color: str) -> None:
    """``curve``: scores by M."""
    if curve:
        low, high = zip(*(score.interval for score in curve.values()), strict=True)
        ax.fill_between(list(curve), low, high, color=color, alpha=0.15, lw=0)
        ax.plot(list(curve), [score.mean for score in curve.values()], color=color, marker="o", ms=4, label=name)


def _asked(curve: Mapping[int, Score]) -> bool:
    return any(score.asked for score in curve.values())
