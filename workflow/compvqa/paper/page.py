"""A figure of pictures and words, on which places are given in inches from the upper left corner."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from compvqa.paper import style

WIDTH, EDGE, GAP = 11.0, 0.2, 0.15  # inches


@dataclass(frozen=True)
class Page:
    """A figure on which places are given in inches from the upper left corner."""

    figure: Figure
    height: float

    @staticmethod
    def new(height: float) -> Page:
        figure = plt.figure(figsize=(WIDTH, height))
        figure.set_layout_engine("none")
        return Page(figure, height)

    def axes(self, x: float, y: float, w: float, h: float) -> Axes:
        """New axes with their upper left corner at (x, y)."""
        return self.figure.add_axes((x / WIDTH, 1 - (y + h) / self.height, w / WIDTH, h / self.height))

    def write(self, x: float, y: float, text: str, **look) -> None:
        """Text with its upper left corner at (x, y)."""
        self.figure.text(x / WIDTH, 1 - y / self.height, style.plain(text), va="top", **look)
