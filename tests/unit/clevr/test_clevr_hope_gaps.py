"""The systematicity gap over pairs: against the paper's own tables, plain loops, and what is so whatever the data."""

import json
import random
from itertools import permutations
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as few
from hypothesis import strategies as st
from scipy.stats import spearmanr

from compvqa.clevr.hope.gaps import GAPS, GROUPS_RIGHT, YES, Measure, grouped, having, mean_of, over_pairs
from compvqa.clevr.hope.resampled import Bootstrap
from compvqa.clevr.paper.held import diversities, printed
from compvqa.evaluation.ranks import correlated, rank_correlation
from compvqa.paper.reference import load
from fixtures.hope_tallies import GRIDS, PAIRS, made_up, rows_of, runs_of

COMPLEX = GAPS["complex"]
SIZES = ("small", "medium", "large")


@pytest.fixture(scope="module")
def paper(root, words):
    """The means of Tables 3 to 10 as runs, by model."""
    reference = load(root / "config/paper/clevr-hope/measures.yaml")
    return grouped(printed(reference), lambda run: run.model)


@pytest.fixture(scope="module")
def runs():
    return runs_of(made_up(models=["attentive-small"]))


@pytest.fixture(scope="module")
def at(runs):
    """The runs at the largest size."""
    return [run for run in runs if run.variant == "large"]


@pytest.mark.parametrize(
    ("table", "model", "gap"),
    [
        (15, "lxmert-p", "complex"),
        (16, "lxmert-p", "minimal"),
        (17, "lxmert-s", "complex"),
        (18, "lxmert-s", "minimal"),
    ],
)
def test_tables_15_to_18_follow_from_tables_3_to_10(root, paper, table, model, gap):
    reference = load(root / f"config/paper/clevr-hope/table{table}.yaml")
    assert len(reference.rows) * len(SIZES) == 12  # of 48 in all four
    for many in reference.rows:
        for size in SIZES:
            of = [run for run in paper[model] if run.variant == size and run.held.diversity == int(many)]
            mean, _ = mean_of(of, GAPS[gap])
            assert abs(mean - reference.value(many, size)[0]) <= 0.0101, (many, size)


def test_the_rank_correlations_of_the_paper_s_gaps(shared, paper):
    told = json.loads((shared / "papers/clevr-hope-numbers.json").read_text())["derived_by_us"][
        "spearman_diversity_gap"
    ]
    sizes = dict(zip(("25k", "200k", "560k"), SIZES, strict=True))
    assert len(told) == 12
    for name, (rho, p) in told.items():
        model, gap, size = name.split()
        of = [run for run in paper[model] if run.variant == sizes[size]]
        means = over_pairs(of, GAPS[gap])
        many = {run.drawn: run.held.diversity for run in of}
        found = rank_correlation([many[pair] for pair in means], list(means.values()))
        # those of the file take gaps that differ by rounding alone for different ones
        assert found.n == 29 and found.rho == pytest.approx(rho, abs=3e-3) and found.p == pytest.approx(p, abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=9))
def test_the_rank_correlation_is_spearman_s(both):
    one, other = zip(*both, strict=True)
    found = rank_correlation(one, other, permutations=10)
    if min(len(set(one)), len(set(other))) < 2:
        assert found is None
    else:
        assert found.rho == pytest.approx(spearmanr(one, other).statistic)
        rows = np.array([one, one], dtype=float), np.array([other, other], dtype=float)
        assert correlated(*rows) == pytest.approx([found.rho] * 2)


def test_its_p_is_that_of_all_permutations():
    one, other = (1, 2, 3, 4, 5), (1, 3, 2, 5, 4)
    orders = [np.array(order) for order in permutations(other)]
    exact = np.mean([spearmanr(one, order).statistic >= spearmanr(one, other).statistic - 1e-9 for order in orders])
    assert rank_correlation(one, other, permutations=20_000).p == pytest.approx(exact, abs=0.006)


def test_a_run_s_numbers_are_shares_of_its_questions(at):
    run = next(run for run in at if run.held.split == "hope-03-cyan-cylinder")
    for part in ("complex_ood", "minimal_iid"):
        rows = run.tallies[part, "all", ""].tolist()
        right, n = (sum(row[place] * row[2] for row in rows) for place in (0, 1))
        assert Measure(part).of(run) == pytest.approx(100 * right / n)
    assert COMPLEX.of(run) == Measure("complex_ood").of(run) - Measure("complex_iid").of(run)
    groups = run.tallies["minimal_ood", "all", ""].tolist()
    whole = sum(units for right, n, units in groups if right == n)
    assert GROUPS_RIGHT.of(run) == pytest.approx(100 * whole / sum(units for *_, units in groups))
    yes = run.tallies["minimal_ood", "answer", "yes"].tolist()
    assert YES.of(run) == pytest.approx(100 * sum(r * u for r, _, u in yes) / sum(n * u for _, n, u in yes))
    assert Measure("common_ood").of(run) is None and not having([run], GAPS["common"])


def test_mean_and_deviation_weigh_runs_alike_and_are_of_the_population(at):
    values = [COMPLEX.of(run) for run in at]
    assert mean_of(at, COMPLEX) == pytest.approx((fmean(values), pstdev(values)))
    estimate = Bootstrap(50).estimate(at, COMPLEX)
    assert (estimate.value, estimate.deviation) == pytest.approx((fmean(values), pstdev(values)))
    assert Bootstrap(50).estimate(at[:1], COMPLEX).deviation is None  # one run says nothing of how far runs differ


def test_what_splits_hold_out_is_read_from_their_files(runs):
    all_runs = [*runs, *runs_of(made_up(GRIDS, ["a"], 1, common=True))]
    held, drawn = (
        {run.held.split: of(run) for run in all_runs} for of in (lambda run: run.held, lambda run: run.drawn)
    )
    assert {name: of.diversity for name, of in held.items() if name in PAIRS} == dict(
        zip(PAIRS, (4, 4, 6, 16, 24, 24), strict=True)
    )
    assert held["hope-00-rubber-cylinder"].types == ("material", "shape")
    assert held["hope-02-large-rubber"].types == ("size", "material")
    assert [held[f"hope-03-grid-{many}"].diversity for many in (4, 8, 16, 24)] == [4, 8, 16, 24]
    assert drawn["hope-03-grid-24"] == drawn["hope-03-grid-4"] != drawn["hope-09-grid-4"]
    assert {draw for *_, draw in drawn.values()} == {"", "grid 1"}


def test_a_run_that_learnt_nothing_is_known_by_complex_iid_and_one_that_says_always_no_by_the_yes_quarter(at):
    lost = [run for run in at if run.diverged]
    assert [run.name for run in lost] == ["attentive-small.hope-02-large-rubber.large.1"]
    assert Measure("complex_iid").of(lost[0]) < 30
    quiet = {run.held.split for run in at if run.saturated and not run.diverged}
    assert quiet == {"hope-08-small-rubber"}


def looped(clusters, resamples, seed):
    """The nested bootstrap by plain loops: clusters of runs, each of lists of units (right, n) of two parts."""
    drawn, means = random.Random(seed), []
    for _ in range(resamples):
        found = []
        for _ in clusters:
            runs = drawn.choice(clusters)
            for _ in runs:
                shares = []
                for units in drawn.choice(runs):
                    of = drawn.choices(units, k=len(units))
                    shares.append(100 * sum(right for right, _ in of) / sum(n for _, n in of))
                found.append(shares[0] - shares[1])
        means.append(fmean(found))
    return np.quantile(means, [0.025, 0.975])


@pytest.mark.parametrize("pairs", [1, 4])
def test_the_interval_is_that_of_plain_loops(at, pairs):
    chosen = [run for run in at if run.held.split in list(PAIRS)[2 : 2 + pairs]]
    clusters = [
        [
            [
                [(right, n) for right, n, units in run.tallies[part, "all", ""].tolist() for _ in range(units)]
                for part in ("complex_ood", "complex_iid")
            ]
            for run in of
        ]
        for of in grouped(chosen, lambda run: run.held.pair).values()
    ]
    expected = looped(clusters, 1500, 3)
    found = Bootstrap(6000).estimate(chosen, COMPLEX)
    assert found.interval == pytest.approx(expected, abs=0.12 * (expected[1] - expected[0]))
    assert (found.runs, found.pairs) == (2 * pairs, pairs)


def test_the_interval_of_a_paired_difference_leaves_out_what_pairs_share():
    # two pairs far apart, whose gaps change by as much: of no doubt but for what is asked
    rows = [
        row
        for pair, split in enumerate(("hope-02-large-rubber", "hope-08-small-rubber"))
        for variant, more in (("small", 0), ("large", 100))
        for row in rows_of(
            f"a.{split}.{variant}.0",
            [("complex_ood", "all", "", 200 + 500 * pair + more, 1000, 50), ("complex_iid", "all", "", 1, 1, 50)],
        )
    ]
    both = grouped(runs_of(rows), lambda run: run.variant)
    paired = Bootstrap(500).difference(both["large"], both["small"], COMPLEX, paired=True)
    apart = Bootstrap(500).difference(both["large"], both["small"], COMPLEX, paired=False)
    assert paired.value == pytest.approx(10) and paired.interval == pytest.approx((10, 10)) and paired.pairs == 2
    assert apart.value == pytest.approx(10) and apart.interval[0] < -30 < 50 < apart.interval[1]


def test_a_paired_difference_is_of_the_draws_that_both_ends_have():
    runs = runs_of(made_up(GRIDS, ["a"], 2, common=True))
    high, low = ([run for run in runs if run.held.diversity == many] for many in (24, 4))
    some = [run for run in low if frozenset(run.held.pair) == {"cyan", "cylinder"}]
    found = Bootstrap(100).difference(high, some, COMPLEX, paired=True)
    assert found.pairs == 1 and found.runs == 8  # two sizes, two seeds, two ends
    assert Bootstrap(100).difference(high, [], COMPLEX, paired=True) is None
    other = [run for run in low if run not in some]
    assert Bootstrap(100).difference(some, other, COMPLEX, paired=True) is None


@few(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_and_runs_changes_nothing(drawn):
    rows = made_up(dict(list(PAIRS.items())[:3]), ["a"], 2)
    expected = Bootstrap(40).estimate(runs_of(rows), COMPLEX)
    drawn.shuffle(rows)
    assert Bootstrap(40).estimate(runs_of(rows), COMPLEX) == expected


def test_one_run_s_draws_do_not_depend_on_others(at):
    alone, among = Bootstrap(200), Bootstrap(200)
    among.estimate(at, COMPLEX)
    assert among.estimate(at[:1], COMPLEX) == alone.estimate(at[:1], COMPLEX)
    assert alone.estimate([], COMPLEX) is None and Bootstrap(200, seed=2).estimate(at[:1], COMPLEX) != alone


def test_numbers_over_pairs_are_of_their_means(at):
    def spread(values, _):
        return values.max(axis=1) - values.min(axis=1)

    means = list(over_pairs(at, COMPLEX).values())
    found = Bootstrap(300).over_pairs(at, COMPLEX, spread)
    assert found.value == pytest.approx(max(means) - min(means)) and found.pairs == len(PAIRS)
    assert found.interval[0] <= found.value
    told = Bootstrap(300).over_pairs(at, COMPLEX, correlated)
    assert told.value == pytest.approx(spearmanr([4, 4, 6, 16, 24, 24], list(over_pairs_in_order(at))).statistic)
    assert told.interval[0] > 0


def over_pairs_in_order(at):
    """The pairs' means in the order of PAIRS."""
    found = over_pairs(at, COMPLEX)
    held = {run.held.split: run.drawn for run in at}
    return (found[held[split]] for split in PAIRS)


def test_diversities_are_told_the_highest_first(at):
    assert diversities(at) == [24, 16, 6, 4]
