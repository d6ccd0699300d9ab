"""From a file back to what nobody in the run made; two runs compared."""

from pathlib import Path

import pyarrow as pa
import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.provenance.audit import Target
from compvqa.provenance.differences import differences, same
from compvqa.provenance.history import History, run_folder
from compvqa.provenance.steps import steps
from compvqa.provenance.verify import Asked, verify
from compvqa.run import run_stage
from fixtures.small_run import RAW, SHARDS, SPLIT, copy, run_all


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    """The folder of a run of :func:`run_all`."""
    monkeypatch.chdir(tmp_path)
    run_all()
    return tmp_path


def test_what_led_to_a_file_comes_before_it_and_only_that(run):
    copy("other", [RAW], "results/bed/other.parquet")
    found = History(run).behind([SPLIT])
    assert [record.stage for record in found] == ["read", "read", "gather", "split"]


def test_shards_are_one_step_with_their_counts_summed(run):
    history = History(run)
    read, gather, split = steps(history, history.behind([SPLIT]))
    assert (len(read.records), read.counts) == (2, {"in": 2, "out": 2})
    assert (gather.after, split.after) == ([read], [gather])
    assert [list(step.given) for step in (read, gather, split)] == [[RAW], [], [RAW]]


def test_a_run_is_found_from_anywhere_and_after_it_was_moved(run, tmp_path_factory, monkeypatch):
    moved = tmp_path_factory.mktemp("elsewhere") / "moved"
    run.rename(moved)
    monkeypatch.chdir("/")
    assert run_folder(moved / SPLIT) == moved
    assert len(Target.of(moved / "results/bed").records) == 4
    assert {finding.kind for finding in verify(Asked.of(History(moved), [SPLIT])).findings} == {"unverifiable"}


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
    copy("read", [SPLIT], SHARDS[0])
    with pytest.raises(InputError, match="is among its own inputs"):
        Target.of(run / SPLIT)


def test_questions_that_differ_are_listed_whatever_engine_made_them(run, tmp_path_factory, monkeypatch):
    asked = pa.schema([(name, pa.string()) for name in ("question_id", "part", "text")])
    questions = tables.Schema("dataset", asked, key=("question_id",))
    dataset = "results/bed/dataset/questions.parquet"

    def made(rows):
        def work():
            named = [dict(zip(asked.names, row, strict=True)) for row in rows]
            return {"out": tables.write(Path(dataset), questions, named)}

        inputs, outputs = [Path(SPLIT)], [Path(dataset)]
        run_stage("gather_clevr_questions", ["compvqa.tables"], work, inputs=inputs, outputs=outputs, seed=1)

    made([("q0", "train", "a"), ("q1", "train", "b"), ("q2", "test", "c")])
    monkeypatch.chdir(tmp_path_factory.mktemp("other"))
    run_all()
    made([("q1", "test", "b"), ("q2", "test", "c"), ("q3", "test", "d")])
    targets = [Target.of(folder / dataset) for folder in (run, Path.cwd())]
    told = differences(*((target.history, target.records) for target in targets))["questions"]
    assert {name: [row["question_id"] for row in of["first"]] for name, of in told.items()} == {
        "only A": ["q0"], "only B": ["q3"], "other part": ["q1"]
    }  # fmt: skip
