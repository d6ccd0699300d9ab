"""A drawn world with its candidates, region features, examples, and models of two folds that have learnt little."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from compvqa.covr.filters.images.examples import ExampleSettings, make_examples
from compvqa.covr.filters.images.presence import Knowledge, PresenceSettings
from compvqa.covr.filters.images.relationships import RelationshipSettings
from compvqa.covr.filters.images.training import PresenceTraining, train_presence
from compvqa.features.store import ImageRegions, write
from compvqa.models import lxmert
from compvqa.scenes.graph import SceneGraph
from compvqa.training.fit import OptimisationSettings
from unit.covr.subgraphs.graph_store import Store, drawn_overlap
from unit.covr.subgraphs.graph_worlds import drawn_world

FOLDS = 2
FEATURES = 6
TINY = lxmert.ModelSettings(hidden_size=16, language_layers=1, region_layers=1, cross_layers=1, heads=2)
TRAINING = PresenceTraining(optimisation=OptimisationSettings(most_steps=6, batch_size=8, evaluations=3, patience=0))
RELATED = TRAINING.model_copy(update={"relationships": RelationshipSettings(steps=100, images=4, size=16)})
SETTINGS = PresenceSettings(method="learned", folds=FOLDS)


@dataclass
class ClassifierWorld:
    """Folders and files of the world in ``folder``; what is trained is made when it is first asked for."""

    folder: Path
    number: int = 3
    training: PresenceTraining = TRAINING

    @cached_property
    def graphs(self) -> list[SceneGraph]:
        return [_boxed(graph) for graph in drawn_world(self.number, scenes=14)]

    @cached_property
    def store(self) -> Store:
        store = Store(self.folder, self.graphs, drawn_overlap(self.number))
        store.search()
        return store

    @property
    def seeds(self) -> Path:
        return self.folder / "seeds0.parquet"

    @property
    def candidates(self) -> Path:
        return self.folder / "candidates0.parquet"

    @cached_property
    def features(self) -> Path:
        """A folder of region features: one region an object, in its box."""
        draw = np.random.default_rng(0)
        images = [
            ImageRegions(
                graph.scene_id,
                np.array([thing.box for thing in graph.objects.values()], np.float32),
                (640.0, 480.0),
                draw.normal(size=(len(graph.objects), FEATURES)),
            )
            for graph in sorted(self.graphs, key=lambda graph: graph.scene_id)
        ]
        total = sum(len(image.boxes) for image in images)
        folder = self.folder / "features"
        folder.mkdir(exist_ok=True)
        write(folder / "regions.parquet", folder / "features.safetensors", images, FEATURES, total)
        return folder

    def examples(self, **settings) -> dict[str, int]:
        """Make the examples table and its texts."""
        files = self.store.files[0]
        return make_examples(
            [files[0]], [files[1]], [self.seeds], [self.candidates], self.store.scenes, self.store.overlap,
            self.folder / "examples.parquet", self.folder / "texts.parquet",
            ExampleSettings(folds=FOLDS, **settings), seed=1,
        )  # fmt: skip

    def train(self, fold: int | None, out: Path, start: Path | None = None) -> dict[str, int]:
        """Train the model of a fold."""
        given = [self.folder / "examples.parquet", self.folder / "texts.parquet", self.store.scenes / "scenes.parquet"]
        regions = [self.features / "regions.parquet", self.features / "features.safetensors"]
        return train_presence("lxmert", *given, *regions, start, fold, out, TINY, self.training, seed=1)

    @cached_property
    def knowledge(self) -> Knowledge:
        """The scenes, the features, and a model of each fold."""
        self.examples()
        for fold in range(FOLDS):
            self.train(fold, self.folder / "models" / str(fold))
        return Knowledge(self.store.scenes, self.features, self.folder / "models")


def _boxed(graph: SceneGraph) -> SceneGraph:
    """The scene with a box for each object, side by side."""
    things = {
        key: replace(thing, box=(60.0 * at, 20.0, 50.0, 40.0)) for at, (key, thing) in enumerate(graph.objects.items())
    }
    return replace(graph, objects=things)
