"""A small CLEVR test-bed: sampled scenes with pictures, and questions that the templates that ship make of them."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compvqa import tables
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.tables import QUESTIONS
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.worlds import clevr as world

SCENES = {"train": 16, "val": 6}


@dataclass(frozen=True)
class Bed:
    """The paths of a test-bed, as inputs of pages too."""

    dataset: Path
    scenes: Path
    images: Path

    @property
    def inputs(self) -> dict[str, list[Path]]:
        return {"dataset": [self.dataset], "scenes": [self.scenes], "images:clevr": [self.images]}

    def rows(self) -> list[dict]:
        """The dataset's rows."""
        return pq.read_table(self.dataset).to_pylist()


@pytest.fixture(scope="session")
def bed(tmp_path_factory, templates, words) -> Bed:
    """22 scenes in small pictures, and their questions."""
    folder = tmp_path_factory.mktemp("clevr-bed")
    files = {}
    for side, number in SCENES.items():
        settings = world.ClevrSettings(scenes=number, split=side, width=120, height=80, light_samples=1)
        world.generate(folder / side, settings, seed=5)
        files[side] = folder / side / "scenes.json"
        (folder / "images").mkdir(exist_ok=True)
        for picture in (folder / side / "images").iterdir():
            (folder / "images" / picture.name).symlink_to(picture)
    ingest(SourceSettings(name="clevr", reader="clevr", files=files), None, folder / "scenes")
    dataset, dropped = folder / "questions.parquet", folder / "dropped.parquet"
    generate(folder / "scenes", templates, words, GenerateSettings(), 1, "bed", dataset, dropped)
    return Bed(dataset, folder / "scenes", folder / "images")


@pytest.fixture
def other(bed, tmp_path):
    """Gives the test-bed with other rows in place of the dataset's."""

    def with_rows(rows: list[dict]) -> Bed:
        tables.write(tmp_path / "other.parquet", QUESTIONS, rows)
        return Bed(tmp_path / "other.parquet", bed.scenes, bed.images)

    return with_rows
