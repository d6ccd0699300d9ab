"""Scenes to draw in a figure of pictures and words (Figures 1 and 2 of COVR)."""

from __future__ import annotations

from matplotlib.axes import Axes

from compvqa.covr.paper.drawing import bound, draw_scene
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.paper import scenery as shared


class Scenery(shared.Scenery):
    """COVR's, which draws the objects of a subgraph as well."""

    def plainness(self, scene_id: str) -> int:
        """0: there is a picture; 1: there are boxes; 2: neither."""
        if self.picture(scene_id):
            return 0
        return 1 if any(thing.box for thing in self.store.graph(scene_id).objects.values()) else 2

    def draw(self, ax: Axes, scene_id: str, g: Subgraph | None, color: str) -> None:
        """Draw a scene, the objects of one place where it holds ``g`` boxed and named."""
        graph = self.store.graph(scene_id)
        draw_scene(ax, graph, self.row(scene_id), self.picture(scene_id), bound(graph, g) if g else frozenset(), color)
