"""Scenes to draw in a figure of pictures and words (Figures 1 and 2 of COVR)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
from matplotlib.axes import Axes

from compvqa.covr.paper.drawing import bound, draw_scene
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.paper.data import Inputs, one
from compvqa.paper.explorer.pictures import find_image
from compvqa.scenes.graph import SceneStore


@dataclass(frozen=True)
class Scenery:
    """The scenes, and the folder of pictures of each image space."""

    store: SceneStore
    folders: Mapping[str, Path]

    @staticmethod
    def of(inputs: Inputs) -> Scenery:
        """The scenes and pictures among the inputs of a figure."""
        folders = {name.partition(":")[2]: paths[0] for name, paths in inputs.items() if name.startswith("images:")}
        return Scenery(SceneStore(one(inputs, "scenes")), folders)

    def frame(self, scene_id: str) -> dict:
        """The scene's row of the scenes table."""
        return self.store.scenes.filter(pc.equal(self.store.scenes["scene_id"], scene_id)).to_pylist()[0]

    def plainness(self, scene_id: str) -> int:
        """0: there is a picture; 1: there are boxes; 2: neither."""
        if find_image(str(self.frame(scene_id)["image"]), self.folders):
            return 0
        return 1 if any(thing.box for thing in self.store.graph(scene_id).objects.values()) else 2

    def draw(self, ax: Axes, scene_id: str, g: Subgraph | None, color: str) -> None:
        """Draw a scene, the objects of one place where it holds ``g`` boxed and named."""
        graph = self.store.graph(scene_id)
        draw_scene(ax, graph, self.frame(scene_id), self.folders, bound(graph, g) if g else frozenset(), color)
