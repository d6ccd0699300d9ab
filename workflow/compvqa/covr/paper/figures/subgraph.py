"""Figure 3: a subgraph drawn as a graph, one with a modifier if there is any, and with many kinds of nodes."""

from __future__ import annotations

from matplotlib.figure import Figure

from compvqa import tables
from compvqa.covr.english import describe
from compvqa.covr.paper.drawing import draw_subgraph, extent, layout, walk
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.paper.reference import Reference
from compvqa.seeds import stable_hash

INCH = 0.92  # of the page for a unit of the drawing
NODES = 7  # in the paper's figure, ROOT too


def make(inputs: Inputs, reference: Reference) -> Figure:
    """The example, chosen among the subgraphs of the dataset's questions, with its English above it."""
    trees = sorted(set(tables.read(one(inputs, "dataset"), columns=["tree"])["tree"].to_pylist()) - {None})
    if not trees:
        figure, (ax,) = style.new(6, 2)
        style.nothing_to_show(ax, "no question of the dataset has a known subgraph")
        return figure
    g = parse(min(trees, key=rank))
    node = layout(g)
    left, right, top, bottom = extent(node)
    figure, (ax,) = style.new(max(INCH * (right - left), 5), INCH * (bottom - top) + 0.4)
    draw_subgraph(ax, node, size=9.5)
    ax.set_title(f"“{describe(g)}”", fontsize=10.5, loc="center")
    return figure


def rank(tree: str) -> tuple[bool, int, int, int]:
    """A subgraph's place among those that may be shown: with a modifier, with more kinds, about the paper's size."""
    nodes = list(walk(layout(parse(tree))))
    kinds = {node.kind for node in nodes}
    return "rel-mod" not in kinds, -len(kinds), abs(len(nodes) - NODES), stable_hash("subgraph example", tree)
