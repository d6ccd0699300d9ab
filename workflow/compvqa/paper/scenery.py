"""The scenes that a figure shows, and their pictures as matplotlib draws them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow.compute as pc
from matplotlib.axes import Axes
from PIL import Image

from compvqa.paper import style
from compvqa.paper.data import Inputs, one
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.images import find_image


@dataclass(frozen=True)
class Scenery:
    """The scenes, and the folder of pictures of each image space."""

    store: SceneStore
    folders: Mapping[str, Path]

    @classmethod
    def of(cls, inputs: Inputs) -> Self:
        """The scenes and pictures among the inputs of a figure."""
        folders = {name.partition(":")[2]: paths[0] for name, paths in inputs.items() if name.startswith("images:")}
        return cls(SceneStore(one(inputs, "scenes")), folders)

    def row(self, scene_id: str) -> dict[str, Any]:
        """The scene's row of the scenes table."""
        return self.store.scenes.filter(pc.equal(self.store.scenes["scene_id"], scene_id)).to_pylist()[0]

    def picture(self, scene_id: str) -> Path | None:
        """The file of the scene's picture, if there is one."""
        return find_image(str(self.row(scene_id)["image"]), self.folders)


def framed(ax: Axes) -> None:
    """Make axes an empty frame for a picture."""
    ax.grid(visible=False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_facecolor("#f5f7fa")
    for spine in ax.spines.values():
        spine.set(visible=True, color=style.LINE)


def show(ax: Axes, path: Path | None, width: float, height: float) -> None:
    """Draw a picture, if there is one, in pixels of a scene of this size, from the left upper corner."""
    if path is not None:
        with Image.open(path) as picture:
            ax.imshow(picture.convert("RGB"), extent=(0, width, height, 0), aspect="auto", interpolation="bilinear")
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
