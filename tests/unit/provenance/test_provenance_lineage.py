"""What led to a file is found by its records."""

from pathlib import Path

import pytest

from compvqa.errors import InputError
from compvqa.provenance.lineage import Lineage
from fixtures.lineages import RESULTS, MadeUp, chain, digest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def stages(*targets):
    return [run.stage for run in Lineage.read(RESULTS, [RESULTS / target for target in targets]).runs]


def test_only_what_led_to_the_targets_is_kept_in_the_order_of_time():
    chain()
    assert stages("paper/table3.csv") == ["download", "ingest", "balance", "table"]
    assert stages("scenes.parquet", "old.parquet") == ["download", "ingest", "old"]
    assert stages() == ["download", "ingest", "balance", "table", "old"]


def test_raw_files_are_those_that_no_run_made():
    chain()
    assert Lineage.read(RESULTS).raw() == [("lexicon.json", digest("lexicon.json"))]


def test_of_two_runs_that_wrote_a_file_the_later_one_counts():
    made = MadeUp()
    made.run("first", [], [f"{RESULTS}/a.csv"]).rename(RESULTS / "1.prov.json")
    made.run("second", [], [f"{RESULTS}/a.csv"]).rename(RESULTS / "0.prov.json")
    assert stages("a.csv") == ["second"]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda: RESULTS.mkdir(parents=True), "holds no record of a run"),
        (lambda: chain().run("x", [], [f"{RESULTS}/x"]).write_text("{}"), "is no whole record, it lacks 'stage'"),
        (lambda: chain().run("x", [], [f"{RESULTS}/x"]).write_text("{"), "is not valid JSON"),
        (
            lambda: chain() and Path(RESULTS / "paper/table3.html.prov.json").unlink(),
            "no record in results/bed tells of",
        ),
    ],
)
def test_what_is_missing_is_told_in_one_sentence(break_it, words):
    break_it()
    with pytest.raises(InputError, match=words):
        Lineage.read(RESULTS, [RESULTS / "paper/table3.html"])
