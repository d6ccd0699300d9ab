"""Tallies: units that are answered alike, counted; and the tables of several chains put together."""

import pyarrow as pa
import pytest

from compvqa import tables
from compvqa.covr.questions.tables import DATASET
from compvqa.evaluation.intervals import Resampling, clustered_interval
from compvqa.evaluation.scores import FILES, SCORES, ScoreSettings, gather, score
from compvqa.evaluation.tallies import TALLIES
from compvqa.questions.dataset import GROUP, dataset_schema
from fixtures.scored import ANSWERS, Scored


@pytest.fixture
def world(tmp_path):
    return Scored(tmp_path)


def tallied(world: Scored, **settings) -> list[dict]:
    path = world.root / "tallies.parquet"
    files = (world.predictions, world.dataset, world.splits, world.out, world.contrasts)
    score(*files, ScoreSettings(**settings), tallies=path)
    return tables.read(path, TALLIES).to_pylist()


@pytest.mark.parametrize("resample", ["questions", "images"])
def test_tallies_are_enough_for_all_scores_and_their_intervals(world, resample):
    world.predict("vb.iid.iid.1", ANSWERS | {"q2": "0"})
    rows = tallied(world, resample=resample, facets=["images"])
    assert {row["facet"] for row in rows} == {"all", "images"}
    for told in tables.read(world.out, SCORES).to_pylist():
        key = [name for name in SCORES.key if name in TALLIES.key]
        of = [row for row in rows if all(row[name] == told[name] for name in key)]
        if told["facet"] in ("all", "images"):
            assert sum(row["right"] * row["units"] for row in of) == told["right"]
            assert sum(row["n"] * row["units"] for row in of) == told["n"]
            if resample == "images":
                patterns = [(row["right"], row["n"], row["units"]) for row in of]
                assert clustered_interval(patterns, Resampling(), 0) == (told["low"], told["high"])


def test_questions_of_one_image_are_a_unit(world):
    """q2 and q4 are about the same image, of test's three questions."""
    world.predict("vb.iid.iid.1", ANSWERS | {"q2": "0"})
    units = {
        resample: [
            (row["right"], row["n"], row["units"])
            for row in tallied(world, resample=resample)
            if (row["split"], row["part"]) == ("iid", "test")
        ]
        for resample in ("questions", "images")
    }
    assert units == {"questions": [(0, 1, 1), (1, 1, 2)], "images": [(1, 1, 1), (1, 2, 1)]}


def test_questions_of_a_group_are_a_unit_whatever_their_images(world):
    table = tables.read(world.dataset)
    groups = ["together" if name in ("q3", "q4") else None for name in table["question_id"].to_pylist()]
    grouped = dataset_schema("covr", DATASET.fields.append(pa.field(GROUP, pa.string())))
    tables.write(world.dataset, grouped, table.append_column(GROUP, [groups]))
    world.predict("vb.iid.iid.1", ANSWERS | {"q4": "false"})
    found = [row for row in tallied(world, resample="images") if (row["split"], row["part"]) == ("iid", "test")]
    assert [(row["right"], row["n"], row["units"]) for row in found] == [(1, 1, 1), (1, 2, 1)]


def test_the_tables_of_two_chains_become_one(world, tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, model in zip(folders, ("vb", "lx"), strict=True):
        world.predictions = []
        world.predict(f"{model}.iid.iid.1", ANSWERS)
        files = (world.predictions, world.dataset, world.splits, *(folder / name for name in list(FILES)[:2]))
        score(*files, ScoreSettings(), tallies=folder / "tallies.parquet")
    made = {name: tmp_path / name for name in FILES}
    counts = gather(folders, made)
    for name, schema in FILES.items():
        each = [tables.read(folder / name, schema).to_pylist() for folder in folders]
        assert sorted(map(str, tables.read(made[name], schema).to_pylist())) == sorted(map(str, each[0] + each[1]))
    assert counts["out"] == sum(len(tables.read(folder / "scores.parquet")) for folder in folders)
