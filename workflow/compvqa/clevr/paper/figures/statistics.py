"""Figure 3, bottom: how long questions are, and which types they are of."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.clevr import analysis
from compvqa.clevr.paper import counts
from compvqa.clevr.paper.counts import PARTS
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.programs.rows import Row

COLORS = dict(zip(analysis.KINDS, style.COLORS, strict=False))
KINDS = {"compare_integer": "compare integers", "compare_attribute": "compare attributes"}


def make(inputs: Inputs, reference: Reference) -> Figure:
    """Shares of questions by their number of words, a line a part; and a bar a type, the last function."""
    dataset = one(inputs, "dataset")
    figure, (left, right) = style.new(11, 4.8, columns=2, width_ratios=[1, 1.15])
    _lengths(left, counts.lengths(dataset))
    _types(right, counts.types(dataset))
    return figure


def _lengths(ax: Axes, found: dict[str, dict[int, int]]) -> None:
    ax.set_title("Words of a question")
    if not found:
        style.nothing_to_show(ax, "the dataset has no question")
        return
    longest = max(max(of) for of in found.values())
    words = range(longest + 2)
    for (part, of), color in zip(found.items(), style.COLORS, strict=False):
        n = sum(of.values())
        mean = sum(length * times for length, times in of.items()) / n
        shares = [100 * of.get(length, 0) / n for length in words]
        label = f"{PARTS.get(part, part)}: n = {n:,}, mean {mean:.1f}"
        ax.plot(words, shares, color=color, label=label)
        ax.fill_between(words, shares, color=color, alpha=0.10, lw=0)
    ax.set_xlim(0, longest + 1)
    ax.set_ylim(0, None)
    ax.set_xlabel("words")
    ax.set_ylabel("% of the part's questions")
    ax.legend(loc="upper right", fontsize=9)
    ax.margins(y=0.2)


def _types(ax: Axes, found: dict[str, counts.Type]) -> None:
    whole = sum(kind.questions for kind in found.values())
    ax.set_title(f"Types of questions (n = {whole:,})" if whole else "Types of questions")
    if not found:
        style.nothing_to_show(ax, "the dataset has no question with a program")
        return
    kinds = {name: analysis.kind([Row(name)]) for name in found}
    names = sorted(found, key=lambda name: analysis.KINDS.index(kinds[name]))
    shares = [100 * found[name].questions / whole for name in names]
    labelled = set()
    for at, (name, share) in enumerate(zip(names, shares, strict=True)):
        kind = kinds[name]
        label = None if kind in labelled else KINDS.get(kind, kind)
        labelled.add(kind)
        bars = ax.barh(at, share, 0.74, color=COLORS[kind], label=label)
        ax.bar_label(bars, [f"{share:.1f} %  ({found[name].questions:,})"], padding=4, color=style.SOFT, fontsize=8.5)
    ax.set_yticks(range(len(names)), names, color=style.INK)
    ax.invert_yaxis()
    ax.set_xlim(0, max(shares) * 1.3)
    ax.set_xlabel("% of all questions whose program is known")
    ax.grid(axis="x")
    ax.grid(visible=False, axis="y")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, fontsize=9)  # over no bar's number
