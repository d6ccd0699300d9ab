"""A figure of pictures and words, on which places are given in inches from the upper left corner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.paper import style

WIDTH, EDGE, GAP = 11.0, 0.2, 0.15  # inches
ASCENT = 0.76  # of a letter's size, above the line that it stands on


@dataclass(frozen=True)
class Page:
    """A figure on which places are given in inches from the upper left corner."""

    figure: Figure
    height: float

    @staticmethod
    def new(height: float) -> Page:
        figure = plt.figure(
            figsize=(WIDTH, height), dpi=style.RC["savefig.dpi"]
        )  # words are measured as they are drawn
        figure.set_layout_engine("none")
        return Page(figure, height)

    def axes(self, x: float, y: float, w: float, h: float) -> Axes:
        """New axes with their upper left corner at (x, y)."""
        return self.figure.add_axes((x / WIDTH, 1 - (y + h) / self.height, w / WIDTH, h / self.height))

    def write(self, x: float, y: float, text: str, **look) -> None:
        """Text with its upper left corner at (x, y)."""
        self.figure.text(x / WIDTH, 1 - y / self.height, style.plain(text), va="top", **look)

    def write_pieces(self, x: float, y: float, pieces: Sequence[tuple[str, str]], size: float) -> None:
        """Pieces of text, each with its colour, one after the other in a line, with its upper left corner at (x, y)."""
        base = 1 - (y + ASCENT * size / 72) / self.height
        before = ""
        for text, color in pieces:
            at = x + self._length(before, size)
            self.figure.text(at / WIDTH, base, style.plain(text), va="baseline", color=color, fontsize=size)
            before += text

    def _length(self, text: str, size: float) -> float:
        """How long a text is in inches, with the space that it ends in."""
        found = [self.figure.text(0, 0, style.plain(what), fontsize=size) for what in (f"{text}|", "|")]
        whole, end = (one.get_window_extent().width for one in found)
        for one in found:
            one.remove()
        return float(whole - end) / self.figure.dpi
