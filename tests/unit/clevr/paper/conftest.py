"""A small CLEVR test-bed: sampled scenes with pictures, and questions that the templates that ship make of them."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compvqa import tables
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.tables import QUESTIONS
from compvqa.evaluation.contrasts import CONTRASTS
from compvqa.evaluation.facets import names_of
from compvqa.evaluation.scores import SCORES, ScoreSettings, score
from compvqa.models import qtype
from compvqa.models.baseline import GENERATED, PREDICTIONS
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.worlds import clevr as world
from compvqa.splits.splitters import SPLITS

SCENES = {"train": 16, "val": 6}
MODELS = ("lstm-tiny", "cnn-bow", "cnn-lstm", "cnn-lstm-mcb", "cnn-lstm-sa")


@dataclass(frozen=True)
class Bed:
    """The paths of a test-bed, as inputs of pages too."""

    dataset: Path
    scenes: Path
    images: Path
    scores: Path
    contrasts: Path

    @property
    def inputs(self) -> dict[str, list[Path]]:
        made = {name: [getattr(self, name)] for name in ("dataset", "scenes", "scores", "contrasts")}
        return made | {"images:clevr": [self.images]}

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
    return Bed(dataset, folder / "scenes", folder / "images", *scored(dataset, folder))


def scored(dataset: Path, folder: Path) -> tuple[Path, Path]:
    """The scores and contrasts, in all facets, of baselines and made-up models on the questions of val: all are iid's
    test, and half cogent's in A, half in B."""
    rows = tables.read(dataset).to_pylist()
    asked = [row for row in rows if row["part"] == "val"]
    parts = {"iid": {"test": asked}, "cogent": {"test_a": asked[::2], "test_b": asked[1::2]}}
    splits = [folder / f"{name}.parquet" for name in parts]
    for path, (name, of) in zip(splits, parts.items(), strict=True):
        ids = {part: sorted(row["question_id"] for row in rows) for part, rows in of.items()}
        told = [{"part": part, "question_id": one, "role": "test", "held_out": ""} for part in ids for one in ids[part]]
        tables.write(path, SPLITS, [{"split_name": name, **row} for row in told])
    learnt, test = (pa.Table.from_pylist([row for row in rows if row["part"] == part]) for part in ("train", "val"))
    said = {"qtype": qtype.predict(learnt, test, 1)[0], "executor": test["answer"].to_pylist()}
    for number, name in enumerate(MODELS):  # each right where its number says
        both = zip(said["qtype"], said["executor"], strict=True)
        said[name] = [right if n % (2 + number) else guess for n, (guess, right) in enumerate(both)]
    runs = [folder / f"{name}.parquet" for name in said]
    for path, (name, answers) in zip(runs, sorted(said.items()), strict=True):
        pairs = zip(test["question_id"].to_pylist(), answers, strict=True)
        told = [{"run": f"{name}.iid.iid.1", "question_id": one, "answer": answer} for one, answer in pairs]
        tables.write(path, PREDICTIONS, [row | {"text": GENERATED, "p": None} for row in sorted(told, key=str)])
    out = folder / "scores.parquet", folder / "contrasts.parquet"
    settings = ScoreSettings(facets=names_of("clevr", scenes=True), contrasts=("difference",), resamples=20)
    score(runs, dataset, splits, *out, settings, 1, scenes=folder / "scenes/scenes.parquet")
    return out


@pytest.fixture
def other(bed, tmp_path):
    """Gives the test-bed with other rows in place of the dataset's, and no scores."""

    def with_rows(rows: list[dict]) -> Bed:
        tables.write(tmp_path / "other.parquet", QUESTIONS, rows)
        tables.write(tmp_path / "scores.parquet", SCORES, [])
        tables.write(tmp_path / "contrasts.parquet", CONTRASTS, [])
        scores = tmp_path / "scores.parquet", tmp_path / "contrasts.parquet"
        return Bed(tmp_path / "other.parquet", bed.scenes, bed.images, *scores)

    return with_rows
