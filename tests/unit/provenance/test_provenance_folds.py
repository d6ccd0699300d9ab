"""The proof that no image was scored by a model that had seen it must fail where one was."""

from pathlib import Path

import pytest

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.features.seen import write_seen
from compvqa.provenance.folds import scored
from compvqa.provenance.history import History, Record
from compvqa.scenes.tables import SCENES

TABLE, SCENE_TABLE, ENCODER = "presence/1.parquet", "scenes/scenes.parquet", "features/encoder_saw.parquet"
SAW = ["images/0/saw.parquet", "images/1/saw.parquet"]


@pytest.fixture
def told_of(tmp_path):
    """What is said of images scored by the models of two folds, each of which saw some, and by an encoder."""

    def told(scored_by: dict[str, int], saw: list[set[str]], encoder: set[str]) -> list[dict]:
        rows = [
            {"scene_id": f"s:{image}", "subgraph_key": 1, "masked": False, "p": 0.5, "fold": fold}
            for image, fold in scored_by.items()
        ]
        tables.write(tmp_path / TABLE, PRESENCE, rows)
        frame = {"source": "s", "split": "val", "width": 1, "height": 1}
        scenes = [{"scene_id": f"s:{image}", "image": image, **frame} for image in scored_by]
        tables.write(tmp_path / SCENE_TABLE, SCENES, scenes)
        for path, images in zip([*SAW, ENCODER], [*saw, encoder], strict=True):
            write_seen(tmp_path / path, images)
        return scored(History(tmp_path), [record()])

    return told


def record() -> Record:
    inputs = [{"path": path, "sha256": ""} for path in [SCENE_TABLE, *SAW, ENCODER]]
    return Record("r", {"stage": "presence", "inputs": inputs, "outputs": [{"path": TABLE, "sha256": ""}]})


def test_each_model_is_held_against_what_it_scored_alone(told_of):
    rows = told_of({"a": 0, "b": 0, "c": 1}, [{"c", "d"}, {"a", "b"}], {"x"})
    found = {Path(row["model"]).name: (row["images"], row["pairs"], row["saw"], row["both"]) for row in rows}
    assert found == {"0": (2, 2, 2, 0), "1": (1, 1, 2, 0), "features": (3, 3, 1, 0)}


@pytest.mark.parametrize(
    ("saw", "encoder", "guilty"),
    [([{"a"}, set()], set(), "0"), ([set(), {"c"}], set(), "1"), ([set(), set()], {"c"}, "features")],
)
def test_a_model_that_scored_an_image_that_it_saw_is_found(told_of, saw, encoder, guilty):
    wrong = [row for row in told_of({"a": 0, "c": 1}, saw, encoder) if row["both"]]
    assert [(Path(row["model"]).name, row["both"]) for row in wrong] == [(guilty, 1)]
    assert wrong[0]["first"] in ("a", "c")


def test_what_is_gone_is_said_to_be_unchecked(told_of, tmp_path):
    told_of({"a": 0}, [set(), set()], set())
    (tmp_path / SAW[0]).unlink()
    assert [row["missing"] for row in scored(History(tmp_path), [record()])].count([SAW[0]]) == 1
