"""What measured rows say of other jobs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.planning.costs import Costs, Row, cpu_seconds, fit, read_costs, write_costs
from compvqa.planning.jobs import Load

amounts = st.floats(0.01, 1e4)
measured = st.tuples(st.integers(1, 50), st.floats(0, 1e4), amounts)


def row(testbed="a", jobs=1, cpu_s=10.0, work=5.0, **other):
    given = {"rule": "balance", "model": "", "unit": "MB", "wall_s": 2 * cpu_s, "peak_mb": 100.0, "input_mb": work}
    return Row(testbed=testbed, jobs=jobs, cpu_s=cpu_s, work=work, **given | other)


@given(st.lists(measured, max_size=5), st.floats(0, 100), st.floats(0, 1e5), st.floats(0, 1e5))
def test_more_work_never_costs_less(rows, typical, less, more):
    curve = fit(rows, typical)
    assert curve.fixed >= 0 and curve.slope >= 0
    assert curve.at(less) <= curve.at(less + more) * (1 + 1e-12)


@given(st.floats(0.1, 100), st.floats(0.1, 100), st.lists(st.tuples(st.integers(1, 9), st.floats(1, 99)), min_size=2))
def test_jobs_that_lie_on_a_line_give_that_line(fixed, slope, jobs):
    works = [work for _, work in jobs]
    if max(works) - min(works) < 0.01:  # too near for a line
        jobs = [*jobs, (1, jobs[0][1] + 10)]
    curve = fit([(number, number * work, number * (fixed + slope * work)) for number, work in jobs])
    for work in (0, *(work for _, work in jobs), 1000):
        assert curve.at(work) == pytest.approx(fixed + slope * work, rel=1e-4)


@given(st.integers(1, 50), st.floats(0.1, 1e3), amounts, st.floats(0, 1e3))
def test_a_single_row_is_met_and_grows_as_is_typical(jobs, per_job, amount, typical):
    curve = fit([(jobs, jobs * per_job, amount)], typical)
    assert curve.at(per_job) == pytest.approx(amount / jobs)
    assert curve.slope == pytest.approx(min(typical, amount / jobs / per_job))


def test_what_is_typical_is_said_by_rules_that_were_measured_more_than_once():
    twice = [row("a", rule="split", cpu_s=12.0, work=1.0), row("b", rule="split", cpu_s=30.0, work=10.0)]
    once = row(cpu_s=8.0, work=1.0)
    assert Costs([once]).of("balance", "", Load(10, 10, "MB")).cpu_s == pytest.approx(80)
    assert Costs([once, *twice]).of("balance", "", Load(10, 10, "MB")).cpu_s == pytest.approx(8 + 9 * 2)


def test_hours_of_a_gpu_say_where_they_were_measured():
    rows = [row(gpus=1, machine="NVIDIA H200"), row("b", machine="x86_64"), row("c", gpus=1, machine="NVIDIA A100")]
    cost = Costs(rows).of("balance", "", Load(5, 5, "MB"), gpus=1)
    assert cost.machines == ("NVIDIA A100", "NVIDIA H200") and not cost.bound
    bound = Costs([rows[1]]).of("balance", "", Load(5, 5, "MB"), gpus=1)
    assert bound.machines == ("x86_64",) and bound.bound


def test_between_rows_the_next_ones_count_and_beyond_them_the_largest():
    curve = fit([(1, 1, 2), (1, 2, 3), (1, 1000, 10_000)])
    assert [curve.at(work) for work in (1, 1.5, 2, 1000)] == pytest.approx([2, 2.5, 3, 10_000])
    assert curve.at(10_000) == pytest.approx(100_000, rel=1e-3)


def test_rows_of_the_same_work_are_averaged_and_one_that_cost_less_for_more_is_not_believed():
    assert fit([(1, 5, 2), (1, 5, 4)]).at(5) == pytest.approx(3)
    assert fit([(1, 5, 4), (1, 10, 3)]).at(10) == pytest.approx(4)


def test_costs_are_only_of_the_same_rule_model_and_unit():
    costs = Costs([row(rule="train", model="small", unit="examples")])
    assert costs.of("train", "small", Load(1, 5, "examples")).cpu_s == pytest.approx(10)
    for rule, model, unit in [
        ("predict", "small", "examples"),
        ("train", "large", "examples"),
        ("train", "small", "MB"),
    ]:
        assert costs.of(rule, model, Load(1, 5, unit)) is None


def test_for_a_gpu_rows_measured_on_one_are_taken_and_others_are_a_bound():
    slow, fast = row(cpu_s=100.0), row(testbed="b", cpu_s=1.0, gpus=1)
    load = Load(5, 5, "MB")
    assert Costs([slow]).of("balance", "", load, gpus=1).bound
    both = Costs([slow, fast])
    assert both.of("balance", "", load, gpus=1).wall_s == pytest.approx(2) and not both.of("balance", "", load, 1).bound
    assert both.of("balance", "", load).cpu_s == pytest.approx(100)


def test_weights_do_not_grow_with_the_steps_and_tables_grow_with_what_is_read():
    weights = row(rule="train", model="small", unit="examples", outputs={"weights": 3.0})
    table = row(outputs={"dataset": 1.0})
    costs = Costs([weights, table])
    assert costs.of("train", "small", Load(50, 500, "examples")).outputs["weights"] == pytest.approx(3)
    assert costs.of("balance", "", Load(50, 50, "MB")).outputs["dataset"] == pytest.approx(10)


@pytest.mark.parametrize(
    ("wall", "sampled", "expected"),
    [
        (10.0, 10.0, 10.0),
        (100.0, 75.0, 100.0),  # last looked at after 75 seconds
        (14.9, 7.25, 7.45),
        (0.4, None, 0.4),  # never looked at: one core
    ],
)
def test_cpu_seconds_are_counted_to_the_end_of_a_job(wall, sampled, expected):
    assert cpu_seconds(wall, sampled) == pytest.approx(expected)


def test_the_table_is_read_as_it_was_written_and_a_testbed_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "costs.tsv"
    costs = Costs([row("b", outputs={"": 1.5, "record": 0.25}), row("a", machine="2 cores")])
    write_costs(path, costs, "What it is.\nOf which runs.")
    again = read_costs(path)
    assert path.read_text().startswith("# What it is.\n# Of which runs.\n")
    assert again.rows == sorted(costs.rows, key=lambda one: one.testbed)
    assert [one.rule for one in again.replaced("a", [row("a", rule="new")]).rows] == ["balance", "new"]
    assert [one.testbed for one in again.without("b").rows] == ["a"]


def test_a_table_that_somebody_broke_is_named(tmp_path):
    path = tmp_path / "costs.tsv"
    path.write_text("rule\ttestbed\nbalance\ta\n")
    with pytest.raises(InputError, match=r"costs\.tsv lacks the column .*make costs"):
        read_costs(path)
