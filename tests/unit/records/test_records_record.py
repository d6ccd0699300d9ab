"""A recipe names what determines the bytes; a record tells the facts of the run."""

import json

import pyarrow as pa
import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.records import record
from compvqa.run import run_stage
from compvqa.tables import Schema

NUMBERS = Schema("numbers", pa.schema([("n", pa.int64())]), key=("n",))


def test_a_recipe_does_not_see_how_its_inputs_were_cut_into_shards(tmp_path):
    def shards(*pieces):
        paths = []
        for number, piece in enumerate(pieces):
            paths.append(tmp_path / f"{len(pieces)}-{number}.parquet")
            with tables.recipe("made-by"):
                tables.write(paths[-1], NUMBERS, [{"n": n} for n in piece])
        return paths

    one, three = shards([1, 2, 3]), shards([1], [], [2, 3])
    recipes = {record.recipe_id("gather", "c0de", {"a": 1}, 7, paths) for paths in (one, three, three[::-1])}
    assert len(recipes) == 1


@pytest.mark.parametrize(
    "change", [{"stage": "other"}, {"code": "c1"}, {"settings": {"a": 2}}, {"seed": 8}, {"inputs": []}]
)
def test_a_recipe_sees_everything_else(tmp_path, change):
    (tmp_path / "raw.json").write_text("{}")
    base = dict(stage="s", code="c", settings={"a": 1}, seed=7, inputs=[tmp_path / "raw.json"])
    assert record.recipe_id(*base.values()) != record.recipe_id(*(base | change).values())


def test_a_stage_writes_its_record_beside_its_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables.write("in.parquet", NUMBERS, [{"n": 1}])
    out = (tmp_path / "out.parquet").relative_to(tmp_path)

    def work():
        return {"out": tables.write(out, NUMBERS, [{"n": 1}])}

    run_stage("copy", ["compvqa.tables"], work, inputs=[(out.parent / "in.parquet")], outputs=[out], seed=3)
    written = json.loads((tmp_path / "out.parquet.prov.json").read_text())
    assert written["recipe"] == tables.recipe_of(out)
    assert written["counts"] == {"out": 1} and written["seed"] == 3
    assert written["outputs"] == [{"path": "out.parquet", "sha256": record.sha256(out), "bytes": out.stat().st_size}]
    assert str(tmp_path) not in json.dumps(written)


def test_nothing_is_written_over_what_is_read(tmp_path):
    (tmp_path / "mine.csv").write_text("mine")
    with pytest.raises(InputError, match="mine.csv is read, and would be written over: name another file to write"):
        run_stage("x", ["compvqa.tables"], dict, inputs=[tmp_path / "mine.csv"], outputs=[tmp_path / "." / "mine.csv"])
    assert (tmp_path / "mine.csv").read_text() == "mine"


def test_changed_code_and_missing_inputs_are_refused(tmp_path):
    with pytest.raises(InputError, match="changed while the workflow ran"):
        run_stage("x", ["compvqa.tables"], dict, outputs=[tmp_path / "o"], code="stale")
    with pytest.raises(InputError, match="none.parquet does not exist"):
        run_stage("x", ["compvqa.tables"], dict, inputs=[tmp_path / "none.parquet"], outputs=[tmp_path / "o"])
