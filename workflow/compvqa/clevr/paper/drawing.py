"""Programs as drawings in CLEVR's figures."""

from __future__ import annotations

from matplotlib.patches import BoxStyle, FancyBboxPatch

from compvqa.paper import style
from compvqa.paper.page import Page
from compvqa.programs.graph import Graph, graph
from compvqa.programs.rows import Program
from compvqa.scenes.graph import Box

BOX, DOWN, ASIDE = (1.5, 0.24), 0.36, 0.14  # inches: width and height of a row, from level to level, between lanes
SHOWN = {True: ("#e4edf8", style.BLUE), False: ("#f5f7fa", "#c3cad4")}  # fill and edge, of the last row and others


def extent(program: Program) -> tuple[float, float]:
    """The width and height of a drawn program, in inches."""
    drawn = graph(program)
    return drawn.lanes * (BOX[0] + ASIDE) - ASIDE, (drawn.levels - 1) * DOWN + BOX[1]


def draw_program(page: Page, x: float, y: float, program: Program) -> None:
    """Draw a program as a graph, from above to below, with its left upper corner at (x, y), in inches."""
    drawn: Graph = graph(program)
    width, height = extent(program)
    around = 0.03
    ax = page.axes(x - around, y - around, width + 2 * around, height + 2 * around)
    ax.set_xlim(-around, width + around)
    ax.set_ylim(height + around, -around)
    ax.set_axis_off()
    at = {node.index: (node.lane * (BOX[0] + ASIDE), node.level * DOWN) for node in drawn.nodes}
    for line in drawn.edges:
        (x1, y1), (x2, y2) = at[line.start], at[line.end]
        middle = BOX[0] / 2
        ax.plot([x1 + middle, x2 + middle], [y1 + BOX[1], y2], color=style.PAPER, lw=1.1, zorder=1)
    for node in drawn.nodes:
        left, top = at[node.index]
        fill, edge = SHOWN[node is drawn.nodes[-1]]
        corners = BoxStyle("round", pad=0, rounding_size=0.05)
        ax.add_patch(FancyBboxPatch((left, top), *BOX, corners, facecolor=fill, edgecolor=edge, lw=0.9, zorder=2))
        words = " ".join(map(str, node.row.arguments))
        text = style.shortened(f"{node.row.operation} {words}".strip(), 24)
        ax.text(left + BOX[0] / 2, top + BOX[1] / 2, text, ha="center", va="center", fontsize=7, zorder=3,
                family="DejaVu Sans Mono")  # fmt: skip


def middle(box: Box | None, centre: tuple[float, float]) -> tuple[float, float]:
    """The middle of a box in the picture, or else the place of an object's centre."""
    return centre if box is None else (box[0] + box[2] / 2, box[1] + box[3] / 2)
