"""How all figures look, and how they are saved: the same bytes on every run."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen before)
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patheffects import withStroke  # noqa: E402

from compvqa.paper.render import LEGEND, SIGN  # noqa: E402
from compvqa.tables import replacing, running  # noqa: E402

INK, SOFT, PAPER, LINE = "#1f2430", "#5d6675", "#8b93a1", "#d9dde4"
BLUE, ORANGE, GREEN, RED, PURPLE, TEAL = "#2f6db5", "#e08b3c", "#5a9f7d", "#c0392b", "#8063a8", "#3c9ba6"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, TEAL, RED)
PALE = "#b9cfe8"
RC: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same letters everywhere
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": SOFT,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.hashsalt": "compvqa",
    "pdf.fonttype": 42,
}


def applied() -> AbstractContextManager[None]:
    """A context in which matplotlib draws in this style."""
    return matplotlib.rc_context(RC)


def new(width: float = 7.2, height: float = 4.0, columns: int = 1, rows: int = 1, **grid) -> tuple[Figure, list[Axes]]:
    """A figure (inches) with its axes, row by row; call it inside :func:`applied`."""
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, **grid)
    return figure, list(axes.flat)


def save(figure: Figure, out: Path) -> list[Path]:
    """Write ``<out>.png`` and ``<out>.pdf`` with the recipe but no dates or versions in them, and close the figure."""
    told = {
        "png": {"Software": None, "Recipe": running() or None},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None, "Subject": running() or None},
    }
    paths = []
    for kind, metadata in told.items():
        paths.append(out.with_name(f"{out.name}.{kind}"))
        with replacing(paths[-1]) as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata)
    plt.close(figure)
    return paths


def nothing_to_show(ax: Axes, why: str) -> None:
    """Say in an empty figure why it is empty."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, ha="center", va="center", transform=ax.transAxes, color=SOFT, fontsize=11)


def legend_of_sign(figure: Figure) -> None:
    """Say below a figure what the sign beside a name in it means (:data:`compvqa.paper.render.SIGN`)."""
    figure.supxlabel(f"{SIGN} {LEGEND}", fontsize=8, color=SOFT)


def below(figure: Figure, sentences: Sequence[str], characters: int) -> None:
    """Sentences in grey below a figure, each in lines of so many characters at most."""
    lines = [line for sentence in sentences for line in textwrap.wrap(plain(sentence), characters)]
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=7.5, color=SOFT)


def paper_note(ax: Axes, text: str, x: float = 0.985, y: float = 0.96) -> None:
    """A fact of the paper in grey, in the axes' upper right corner (or where told)."""
    note(ax, x, y, text, ha="right", color=PAPER)


def note(ax: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Words at (x, y) of the axes, through which no line of the grid goes."""
    halo = [withStroke(linewidth=3, foreground="white")]
    ax.text(x, y, text, transform=ax.transAxes, va="top", fontsize=9, path_effects=halo, **look)


def thousands(ax: Axes, axis: str = "y") -> None:
    """Whole numbers with commas on an axis."""
    which = ax.yaxis if axis == "y" else ax.xaxis
    which.set_major_locator(matplotlib.ticker.MaxNLocator(nbins=6, integer=True))
    which.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))


def shortened(text: str, most: int = 22) -> str:
    """``text`` as a label of at most ``most`` characters."""
    return plain(text if len(text) <= most else text[: most - 1] + "…")


def plain(text: str) -> str:
    """``text`` with no part of it read as mathematics."""
    return text.replace("$", r"\$")
