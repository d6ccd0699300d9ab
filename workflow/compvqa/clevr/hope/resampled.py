"""How sure numbers over held-out pairs are: a bootstrap of pairs, of their runs, and of what runs were asked.

One resample draws as many pairs as there are; for each that is drawn, as many of its runs; for each of these, its
scenes with their questions (of minimal tests, groups of four), always with replacement. A number's mean over all that
is drawn is one value, and the interval holds the middle of these values. With one pair the runs alone are drawn, with
one run of it the questions alone: nothing is then known of others.

The two parts of a gap are drawn apart. Complex ones have no picture in common. Minimal ones have, but what is drawn is
a group with its question, and no group is in both: that the same picture may be hard, or a yes be right, in groups of
either is left out of the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from compvqa.clevr.hope.gaps import Drawn, Measure, Tested, grouped, having, mean_of
from compvqa.evaluation.intervals import interval
from compvqa.seeds import stable_hash

Cluster = list[np.ndarray]  # of a pair: each run's number as its questions are drawn anew


@dataclass(frozen=True)
class Estimate:
    """A mean over runs with their population deviation (None of one run), its interval, and of how many runs and pairs
    it is."""

    value: float
    deviation: float | None
    interval: tuple[float, float]
    runs: int
    pairs: int


@dataclass
class Bootstrap:
    """Estimates whose draws depend on the seed and on what is drawn alone."""

    resamples: int = 2000
    level: float = 0.95
    seed: int = 1
    _drawn: dict[tuple[str, str, Measure, str], np.ndarray] = field(default_factory=dict, repr=False)

    def estimate(self, runs: Sequence[Tested], measure: Measure) -> Estimate | None:
        """A number over runs; None where none has it."""
        runs = having(runs, measure)
        if not runs:
            return None
        clusters = self._clusters(runs, measure)
        (means,) = self._means([list(clusters.values())], "mean", measure, runs)
        mean, deviation = mean_of(runs, measure)
        spread = deviation if len(runs) > 1 else None
        return Estimate(mean, spread, interval(means, self.level), len(runs), len(clusters))

    def difference(
        self, runs: Sequence[Tested], others: Sequence[Tested], measure: Measure, paired: bool
    ) -> Estimate | None:
        """How much a number of some runs exceeds that of others. ``paired``: of the pairs that both have, which are
        drawn once for both; else each have their own. None where either has none."""
        both = [having(of, measure) for of in (runs, others)]
        if paired:
            shared = set.intersection(*({run.drawn for run in of} for of in both))
            both = [[run for run in of if run.drawn in shared] for of in both]
        if not all(both):
            return None
        clusters = [self._clusters(of, measure) for of in both]
        if paired:
            ends = [[of[pair] for pair in clusters[0]] for of in clusters]
            one, other = self._means(ends, "paired", measure, [*both[0], *both[1]])
        else:
            ends = [list(of.values()) for of in clusters]
            (one,), (other,) = (self._means([end], "mean", measure, of) for end, of in zip(ends, both, strict=True))
        value = mean_of(both[0], measure)[0] - mean_of(both[1], measure)[0]
        pairs = len({pair for of in clusters for pair in of})
        return Estimate(value, None, interval(one - other, self.level), sum(map(len, both)), pairs)

    def over_pairs(
        self, runs: Sequence[Tested], measure: Measure, of: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> Estimate | None:
        """What ``of`` makes of pairs' means [m, pairs] and diversities [m, pairs]; None where no run has the number, or
        ``of`` gives none (nan) of them. Resamples of which it gives none are left out."""
        runs = having(runs, measure)
        if not runs:
            return None
        clusters = self._clusters(runs, measure)
        many = {run.drawn: run.held.diversity for run in runs}
        diversities = np.array([many[pair] for pair in clusters])
        means = np.array([mean_of(of, measure)[0] for of in grouped(runs, lambda run: run.drawn).values()])
        random, drawn = self._pairs(len(clusters), "over pairs", measure, runs)
        found, there = self._copies(list(clusters.values()), drawn, random)
        redrawn = of((found * there).sum(axis=2) / there.sum(axis=2), diversities[drawn])
        value = float(of(means[None], diversities[None])[0])
        defined = redrawn[~np.isnan(redrawn)]
        if np.isnan(value) or not len(defined):
            return None
        return Estimate(value, None, interval(defined, self.level), len(runs), len(clusters))

    def _clusters(self, runs: Sequence[Tested], measure: Measure) -> dict[Drawn, Cluster]:
        drawn = grouped(runs, lambda run: run.drawn)
        return {pair: [self._redrawn(run, measure) for run in of] for pair, of in drawn.items()}

    def _redrawn(self, run: Tested, measure: Measure) -> np.ndarray:
        """A run's number [resamples] as the units that it was asked are drawn anew."""
        first, *rest = (self._share(run, measure, part) for part in measure.parts)
        return first - rest[0] if rest else first

    def _share(self, run: Tested, measure: Measure, part: str) -> np.ndarray:
        """The same of one part, by one multinomial draw a resample over the rows of its tallies."""
        key = (run.name, run.held.split, measure, part)
        found = measure.sums(run, part)
        if key not in self._drawn and found is not None:
            above, below, units = found
            random = self._random("units", run.name, run.held.split, part, measure.facet, measure.value)
            drawn = random.multinomial(units.sum(), units / units.sum(), size=self.resamples)
            self._drawn[key] = 100 * (drawn @ above) / (drawn @ below)
        return self._drawn[key]

    def _means(
        self, ends: Sequence[Sequence[Cluster]], what: str, measure: Measure, runs: Sequence[Tested]
    ) -> list[np.ndarray]:
        """For each end the means [resamples] of what is drawn of its clusters; all ends have the same ones drawn."""
        random, drawn = self._pairs(len(ends[0]), what, measure, runs)
        copies = [self._copies(end, drawn, random) for end in ends]
        return [(found * there).sum(axis=(1, 2)) / there.sum(axis=(1, 2)) for found, there in copies]

    def _pairs(
        self, pairs: int, what: str, measure: Measure, runs: Sequence[Tested]
    ) -> tuple[np.random.Generator, np.ndarray]:
        """What draws, and which pairs are drawn [resamples, pairs]."""
        names = sorted(f"{run.name} {run.held.split}" for run in runs)
        random = self._random("pairs", what, *measure.parts, measure.facet, measure.value, measure.whole, *names)
        return random, random.integers(pairs, size=(self.resamples, pairs))

    def _copies(
        self, clusters: Sequence[Cluster], drawn: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of each pair that is drawn the numbers [resamples, pairs, runs] of its runs, which are drawn anew, each with
        another draw of its questions; and whether there are so many runs."""
        counts = np.array([len(runs) for runs in clusters])
        most = counts.max()
        values = np.zeros((len(clusters), most, self.resamples))
        for number, runs in enumerate(clusters):
            values[number, : len(runs)] = runs
        size = (*drawn.shape, most)
        run = (random.random(size) * counts[drawn][..., None]).astype(int)
        found = values[drawn[..., None], run, random.integers(self.resamples, size=size)]
        return found, np.arange(most) < counts[drawn][..., None]

    def _random(self, *key: object) -> np.random.Generator:
        return np.random.default_rng(stable_hash(self.seed, "pairs", *key) & 0xFFFFFFFF)
