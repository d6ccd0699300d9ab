"""Scene graphs whose tables are read when the first one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from compvqa.scenes.graph import SceneGraph, SceneStore


class AskedScenes:
    """The graphs of the scenes in a folder of scene tables, as of :class:`SceneStore`; lazy: none is read before."""

    def __init__(self, folder: Path):
        self.folder = folder

    @cached_property
    def _store(self) -> SceneStore:
        return SceneStore(self.folder)

    def graphs(self, scene_ids: Iterable[str]) -> Iterator[SceneGraph]:
        """The graphs of the named scenes, in that order."""
        return self._store.graphs(scene_ids)
