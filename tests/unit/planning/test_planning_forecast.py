"""What jobs will cost and why they run, on made-up runs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.planning.costs import Costs, Row
from compvqa.planning.forecast import NO_ROW, NO_SIZE, Total, by, forecast
from compvqa.planning.jobs import MB, Job

RULES = ("scenes", "questions", "balance")


def rows(rule, fixed=2.0, slope=1.0, ratio=0.5):
    """Rows of two test-beds that lie on a line; each output has ``ratio`` of the input."""
    return [
        Row(rule, "", f"t{work}", 1, fixed + slope * work, 1.0, 9.0, work, work, "MB", outputs={"out": ratio * work})
        for work in (1.0, 10.0)
    ]


COSTS = Costs([row for rule in RULES for row in rows(rule)])


def chain(*rules, **first):
    """Jobs that each read what the one before wrote; the first reads ``raw``."""
    jobs = [
        Job(rule, rule, "stage", (path,), (("out", rule),), cause="not made yet")
        for path, rule in zip(("raw", *rules), rules, strict=False)
    ]
    return [replace(jobs[0], **first), *jobs[1:]]


def test_sizes_are_handed_on_from_job_to_job():
    found = forecast(chain(*RULES), COSTS, {"raw": 8 * MB}.get)
    assert [one.cost.cpu_s for one in found] == pytest.approx([10, 6, 4])
    assert [one.kept / MB for one in found] == pytest.approx([4, 2, 1])


def test_what_does_not_run_costs_nothing_and_its_files_are_as_large_as_they_are():
    there = {"raw": 8 * MB, "scenes": 6 * MB}
    found = forecast(chain(*RULES, runs=False, cause=None), COSTS, there.get)
    assert [one.job.rule for one in found] == ["questions", "balance"]
    assert found[0].cost.cpu_s == pytest.approx(8)


def test_a_file_that_is_made_again_of_the_same_is_taken_to_stay_as_large():
    there = {"raw": 8 * MB, "scenes": 7 * MB, "questions": 5 * MB}
    found = forecast(chain("scenes", "questions"), COSTS, there.get)
    assert [one.kept / MB for one in found] == pytest.approx([7, 5])
    assert [one.replaced / MB for one in found] == pytest.approx([7, 5])


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1e12), min_size=1), st.floats(0, 1e12), st.data())
def test_a_larger_input_never_lowers_a_cost(sizes, more, data):
    jobs = [
        replace(chain("scenes")[0], inputs=tuple(sizes)),
        Job("q", "questions", "s", ("scenes", data.draw(st.sampled_from(sorted(sizes)))), (("out", "q"),), cause="x"),
    ]
    grown = sizes | {(name := data.draw(st.sampled_from(sorted(sizes)))): sizes[name] + more}
    less, greater = forecast(jobs, COSTS, sizes.get), forecast(jobs, COSTS, grown.get)
    for before, after in zip(less, greater, strict=True):
        assert after.cost.cpu_s >= before.cost.cpu_s and after.kept >= before.kept


@given(st.lists(st.tuples(st.sampled_from(RULES), st.sampled_from("xyz"), st.floats(0, 1e9)), max_size=20))
def test_totals_are_sums_over_stages_and_over_rules(given_jobs):
    sizes = {f"in{i}": size for i, (_, _, size) in enumerate(given_jobs)}
    jobs = [
        Job(f"{i}", rule, stage, (f"in{i}",), (("out", f"{i}"),), cause="c", gpus=i % 2)
        for i, (rule, stage, _) in enumerate(given_jobs)
    ]
    found = forecast(jobs, COSTS, sizes.get)
    whole = Total.of(found)
    for part in (lambda job: job.stage, lambda job: job.rule):
        parts = by(found, part).values()
        for amount in ("jobs", "known", "cpu_h", "gpu_h", "disk", "replaced"):
            assert sum(getattr(one, amount) for one in parts) == pytest.approx(getattr(whole, amount))


def test_what_is_not_known_is_said_and_not_counted():
    jobs = [*chain("scenes"), Job("new", "new", "s", ("scenes",), (("out", "new"),), cause="c")]
    jobs.append(Job("last", "balance", "s", ("new",), (("out", "last"),), cause="c"))
    found = forecast(jobs, COSTS, {"raw": 8 * MB}.get)
    assert [one.unknown for one in found] == ["", NO_ROW, NO_SIZE]
    assert (Total.of(found).jobs, Total.of(found).known) == (3, 1)


def test_sizes_are_handed_on_past_a_model_that_was_never_measured():
    large = replace(chain("scenes")[0], settings={"model": "large", "settings": {}})
    first, second = forecast([large, *chain("scenes", "questions")[1:]], COSTS, {"raw": 8 * MB}.get)
    assert first.unknown == NO_ROW and second.cost.cpu_s == pytest.approx(6)


def test_somebody_may_know_the_size_of_a_download():
    jobs = [Job("get", "download", "s", (), (("files", "raw"),), cause="c"), *chain("scenes")]
    assert forecast(jobs, COSTS, {}.get)[1].unknown == NO_SIZE
    assert forecast(jobs, COSTS, {}.get, {"raw": 8 * MB})[1].cost.cpu_s == pytest.approx(10)


def test_weights_may_have_any_size():
    job = replace(chain("scenes")[0], inputs=("raw", "model.safetensors"))
    assert forecast([job], COSTS, {"raw": 8 * MB}.get)[0].cost.cpu_s == pytest.approx(10)


def test_a_temporary_file_takes_no_disk_for_good():
    job = replace(chain("scenes")[0], temporary=frozenset(["scenes"]))
    assert forecast([job], COSTS, {"raw": 8 * MB}.get)[0].kept == 0


def test_a_job_follows_those_whose_own_cause_made_it_run():
    edited = Job("b", "balance", "s", (), (("", "b"),), cause="code changed")
    split = Job("s", "split", "s", ("b",), (("", "s"),), after=("b",))
    scores = Job("e", "scores", "s", ("s",), (("", "e"),), after=("s",))
    assert [one.why for one in forecast([edited, split, scores], COSTS, {}.get)] == [
        "code changed",
        "follows balance",
        "follows balance",
    ]
