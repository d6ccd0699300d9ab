"""Rows of the cost table from what Snakemake measured."""

import json
import os
from dataclasses import replace

import pytest

from compvqa.errors import InputError
from compvqa.planning.costs import fit
from compvqa.planning.jobs import MB, Job, Load
from compvqa.planning.measure import Measured, measured, rows

HEAD = "s\th:m:s\tmax_rss\tcpu_time\n"


@pytest.fixture
def finished(tmp_path):
    """Two jobs of a rule with their files, as a run left them: 10 seconds each, 2 MB read, 1 and 3 MB written."""
    raw = tmp_path / "raw"
    raw.write_bytes(b" " * int(2 * MB))
    jobs, benchmarks = [], {}
    for name, written in (("a", 1), ("b", 3)):
        output, benchmark = tmp_path / name, tmp_path / f"{name}.tsv"
        output.write_bytes(b" " * int(written * MB))
        benchmark.write_text(f"{HEAD}10.0\t0:00:10\t{100 * written}\t8.0\n")
        jobs.append(Job(name, "split", "s", (str(raw),), (("split", str(output)),)))
        benchmarks[name] = benchmark
    return jobs, benchmarks


def size_of(path):
    return float(os.path.getsize(path)) if os.path.exists(path) else None


def test_a_row_sums_the_jobs_of_a_rule(finished):
    (row,) = rows(measured(*finished, size_of), "mine", "2 cores")
    assert (row.rule, row.testbed, row.jobs, row.machine) == ("split", "mine", 2, "2 cores")
    assert (row.cpu_s, row.wall_s, row.peak_mb) == (16, 20, 300)
    assert (row.input_mb, row.work, row.outputs) == (4, 4, {"split": 4})


def test_of_what_was_temporary_the_record_knows_the_size(finished, tmp_path):
    (a, b), benchmarks = finished
    record = tmp_path / "a.prov.json"
    record.write_text(json.dumps({"outputs": [{"path": str(tmp_path / "a"), "bytes": 1e6}]}))
    a = replace(a, outputs=(*a.outputs, ("record", str(record))))
    b = replace(b, inputs=(str(tmp_path / "a"),))
    (tmp_path / "a").unlink()
    benchmarks["a"].touch()
    one, other = measured([a, b], benchmarks, size_of)
    assert one.outputs["split"] == other.load.mb == 1


def test_a_measurement_of_another_run_is_not_taken(finished):
    jobs, benchmarks = finished
    later = benchmarks["a"].stat().st_mtime + 60
    os.utime(benchmarks["a"], (later, later))
    assert [one.job.name for one in measured(jobs, benchmarks, size_of)] == ["b"]


def test_a_job_too_short_to_be_looked_at_had_one_core(finished):
    jobs, benchmarks = finished
    for path in benchmarks.values():
        path.write_text(f"{HEAD}0.4\t0:00:00\tNA\tNA\n")
    assert [(one.cpu_s, one.peak_mb) for one in measured(jobs, benchmarks, size_of)] == [(0.4, 0.0)] * 2


def test_a_file_that_is_no_benchmark_is_named(finished):
    jobs, benchmarks = finished
    benchmarks["b"].write_text("nonsense\n")
    with pytest.raises(InputError, match=r"b\.tsv is no benchmark file"):
        measured(jobs, benchmarks, size_of)


def test_jobs_that_draw_are_told_by_how_many_scenes_each_draws():
    drawn = [
        Measured(Job(str(number), "draw", "draw"), "", Load(0, scenes, "scenes"), 1 + scenes, 1 + scenes, 9, {})
        for number, scenes in enumerate((60.0, 60.0, 20.0))
    ]
    found = rows(drawn, "bed", "here")
    assert sorted((row.jobs, row.work, row.cpu_s) for row in found) == [(1, 20, 21), (2, 120, 122)]
    assert fit([(row.jobs, row.work, row.cpu_s) for row in found]).at(1000) == pytest.approx(1001, rel=1e-3)
