"""From a file back to what nobody in the run made; everything rehashed; two runs compared."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.provenance.audit import Target
from compvqa.provenance.differences import differences, same
from compvqa.provenance.history import History, run_folder
from compvqa.provenance.steps import steps
from compvqa.provenance.verify import verify
from compvqa.run import run_stage
from compvqa.tables import Schema

NUMBERS = Schema("numbers", pa.schema([("n", pa.int64())]), key=("n",))
SHARDS = ("1-of-2", "2-of-2")


def copy(stage: str, inputs: list[str], output: str, settings: dict | None = None) -> None:
    """A stage that writes a row for each of its inputs."""

    def work() -> dict[str, int]:
        return {"in": len(inputs), "out": tables.write(output, NUMBERS, [{"n": n} for n in range(len(inputs))])}

    paths = list(map(Path, inputs))
    run_stage(stage, ["compvqa.tables"], work, inputs=paths, outputs=[Path(output)], settings=settings, seed=1)


def run_all(limit: int = 3) -> None:
    """A chain of two shards that are gathered: raw → read → gather → split, which reads raw too."""
    Path("raw.json").write_text("{}")
    for shard in SHARDS:
        copy("read", ["raw.json"], f"results/bed/read/{shard}.parquet", {"limit": limit})
    copy("gather", [f"results/bed/read/{shard}.parquet" for shard in SHARDS], "results/bed/all.parquet")
    copy("split", ["results/bed/all.parquet", "raw.json"], "results/bed/splits/iid.parquet")


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    """The folder of a run of :func:`run_all`."""
    monkeypatch.chdir(tmp_path)
    run_all()
    return tmp_path


SPLIT = "results/bed/splits/iid.parquet"


def test_what_led_to_a_file_comes_before_it_and_only_that(run):
    copy("other", ["raw.json"], "results/bed/other.parquet")
    found = History(run).behind([SPLIT])
    assert [record.stage for record in found] == ["read", "read", "gather", "split"]


def test_shards_are_one_step_with_their_counts_summed(run):
    history = History(run)
    read, gather, split = steps(history, history.behind([SPLIT]))
    assert (len(read.records), read.counts) == (2, {"in": 2, "out": 2})
    assert (gather.after, split.after) == ([read], [gather])
    assert [list(step.given) for step in (read, gather, split)] == [["raw.json"], [], ["raw.json"]]


def test_a_run_is_found_from_anywhere_and_after_it_was_moved(run, tmp_path_factory, monkeypatch):
    moved = tmp_path_factory.mktemp("elsewhere") / "moved"
    run.rename(moved)
    monkeypatch.chdir("/")
    assert run_folder(moved / SPLIT) == moved
    assert len(Target.of(moved / "results/bed").records) == 4
    assert verify(History(moved), Target.of(moved / SPLIT).records).differences == []


def test_a_file_that_no_record_lists_and_a_broken_record_are_told(run):
    (run / "mine.parquet").write_text("")
    with pytest.raises(InputError, match="no record .* lists it"):
        Target.of(run / "mine.parquet")
    record = run / f"{SPLIT}.prov.json"
    record.write_text(record.read_text()[:50])
    with pytest.raises(InputError, match="is not valid JSON"):
        Target.of(run / SPLIT)
    record.write_text("{}")
    with pytest.raises(InputError, match="is no whole record, it lacks 'stage'"):
        Target.of(run / SPLIT)


def found_wrong(run: Path) -> list[str]:
    target = Target.of(run / SPLIT)
    return verify(target.history, target.records, every=True).differences


@pytest.mark.parametrize("path", ["raw.json", "results/bed/read/2-of-2.parquet", SPLIT])
def test_a_changed_byte_anywhere_is_found_and_named(run, path):
    assert found_wrong(run) == []
    (run / path).write_bytes((run / path).read_bytes() + b" ")
    assert any(line.startswith(f"{path} has the sha256") for line in found_wrong(run))


def test_a_record_that_was_changed_is_found_even_if_all_files_are_gone(run):
    for path in run.rglob("*.parquet"):
        if path != run / SPLIT:
            path.unlink()
    target = Target.of(run / SPLIT)
    verdict = verify(target.history, target.records)
    assert verdict.differences == [] and len(verdict.gone) == 3
    record = run / "results/bed/all.parquet.prov.json"
    data = json.loads(record.read_text())
    record.write_text(json.dumps(data | {"seed": 2}))
    assert any("what it lists gives" in line for line in found_wrong(run))


def test_a_stage_that_ran_again_without_its_readers_is_found(run):
    copy("read", ["raw.json"], "results/bed/read/1-of-2.parquet", {"limit": 4})
    told = found_wrong(run)
    assert any(line.startswith("results/bed/all.parquet.prov.json says that") for line in told)


def test_two_runs_differ_in_what_was_changed_and_in_nothing_else(run, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    monkeypatch.chdir(other)
    run_all()
    runs = [Target.of(folder / "results/bed") for folder in (run, other)]
    told = differences(*((target.history, target.records) for target in runs))
    assert same(told) and told["outputs"]["equal"] == 4 and not told["config"]

    run_all(limit=4)
    changed = Target.of(other / "results/bed")
    told = differences((runs[0].history, runs[0].records), (changed.history, changed.records))
    assert told["config"] == [{"stage": "read read/1-of-2.parquet", "key": "limit", "A": 3, "B": 4}]
    assert not same(told) and told["inputs"] == told["code"] == told["stages"] == []
    assert len(told["outputs"]["differ"]) == 4  # each carries another recipe


def test_records_in_a_circle_are_refused(run):
    copy("read", [SPLIT], "results/bed/read/1-of-2.parquet")
    with pytest.raises(InputError, match="is among its own inputs"):
        Target.of(run / SPLIT)
