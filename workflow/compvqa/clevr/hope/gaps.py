"""The systematicity gap (CLEVR-HOPE, section 4.2): by how many points a run is more often right on questions with its
held-out pair than on those without it, which is mostly below 0.

A run answers the tests of one split, whose pair was :class:`Held` out of its training; its tallies
(:mod:`compvqa.evaluation.tallies`) are all that is asked of it. Numbers are in percent, and in points.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from compvqa.evaluation.facets import ALL
from compvqa.models.baseline import GENERATED
from compvqa.scenes.pairs import Among, Pair, Vocabulary, diversity, informs, types_of

K = TypeVar("K", bound=Hashable)
Drawn = tuple[str, frozenset[str], str]
DIVERGED = 30.0  # percent: a run with less on complex_iid learnt nothing; fixed before any result was seen
BASE = "complex_iid"  # the part by which that is told
SATURATED = 1.0  # percent: with less of the yes quarter a run says always no


@dataclass(frozen=True)
class Held:
    """What a split holds out: a pair, the types of its values (of fewer values first), its diversity, and what one
    value tells of the other without it, in bits. ``draw``: in a vocabulary that is cut, which of the cuts of its kind;
    empty: in the whole one."""

    split: str
    pair: Pair
    types: tuple[str, str]
    diversity: int
    bits: float
    draw: str = ""

    @classmethod
    def of(cls, split: str, pair: Pair, vocabulary: Vocabulary, among: Among | None = None) -> Held:
        """That of a split's file."""
        order = list(vocabulary)
        one, other = sorted(types_of(pair, vocabulary), key=lambda kind: (len(vocabulary[kind]), order.index(kind)))
        draw = f"{'grid' if among.grid else 'subset'} {among.draw}" if among else ""
        told = diversity(pair, vocabulary, among), informs(pair, vocabulary, among)
        return cls(split, pair, (one, other), *told, draw)

    @property
    def label(self) -> str:
        """The pair in words."""
        return " ".join(self.pair)

    @property
    def kinds(self) -> str:
        """Its types in words."""
        return "+".join(self.types)


@dataclass(frozen=True, eq=False)
class Tested:
    """A run and its tallies: by part, facet and value rows [m, 3] of how many are right, of how many questions, in how
    many units."""

    name: str
    model: str
    variant: str
    seed: int
    held: Held
    tallies: Mapping[tuple[str, str, str], np.ndarray]
    averaged: bool = False  # it is a mean of runs that a paper prints: nothing is known of its units

    @property
    def drawn(self) -> Drawn:
        """What is drawn first where numbers are resampled: the pair, with the draw of its cuts; of each model apart."""
        return self.model, frozenset(self.held.pair), self.held.draw

    @property
    def diverged(self) -> bool:
        """Whether it learnt nothing, by a rule that was fixed beforehand (:data:`DIVERGED`)."""
        found = Measure(BASE).of(self)
        return found is not None and found < DIVERGED

    @property
    def saturated(self) -> bool:
        """Whether it says of no thing that it is of the pair, so that its minimal gap is what always no makes it."""
        found = YES.of(self)
        return found is not None and found < SATURATED


@dataclass(frozen=True)
class Measure:
    """A number of a run: the accuracy on a part, or on the questions there with a facet's value; how much it exceeds
    that on the part ``less``; with ``whole``, the share of units in which all is right."""

    part: str
    less: str = ""
    facet: str = ALL
    value: str = ""
    whole: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that it needs."""
        return (self.part, self.less) if self.less else (self.part,)

    def sums(self, run: Tested, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """What is summed up and what it is divided by, for each row of tallies, and how many units each is of."""
        rows = run.tallies.get((part, self.facet, self.value))
        if rows is None or (self.whole and run.averaged):
            return None
        right, n, units = rows.T
        return ((right == n).astype(float), np.ones(len(n)), units) if self.whole else (right, n, units)

    def of(self, run: Tested) -> float | None:
        """The number, None where the run did not answer such questions."""
        found = [self.sums(run, part) for part in self.parts]
        shares = [100 * float(above @ units / (below @ units)) for above, below, units in filter(None, found)]
        if len(shares) < len(found):
            return None
        return shares[0] - shares[1] if self.less else shares[0]


GAPS = {
    "complex": Measure("complex_ood", BASE),
    "matched": Measure("complex_ood", "complex_matched"),
    "minimal": Measure("minimal_ood", "minimal_iid"),
    "common": Measure("common_ood", "common_iid"),
}
YES = Measure("minimal_ood", facet="answer", value="yes")
GROUPS_RIGHT = Measure("minimal_ood", whole=True)


def tested(rows: Iterable[Mapping[str, Any]], held: Mapping[str, Held]) -> list[Tested]:
    """The runs of rows of tallies on the splits that are ``held``, by the split's name, in the order of their names."""
    runs: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["split"] in held and row["text"] == GENERATED:
            run = runs.setdefault(f"{row['run']} {row['split']}", {"row": row, "tallies": {}})
            key = (row["part"], row["facet"], row["value"])
            run["tallies"].setdefault(key, []).append((row["right"], row["n"], row["units"]))
    found = []
    for _, run in sorted(runs.items()):
        row, tallies = run["row"], {key: np.array(sorted(of)) for key, of in run["tallies"].items()}
        found.append(Tested(row["run"], row["model"], row["variant"], row["seed"], held[row["split"]], tallies))
    return found


def having(runs: Iterable[Tested], measure: Measure) -> list[Tested]:
    """The runs that have a number."""
    return [run for run in runs if measure.of(run) is not None]


def grouped(runs: Iterable[Tested], by: Callable[[Tested], K]) -> dict[K, list[Tested]]:
    """The runs by what ``by`` says of each, in its order."""
    found: dict[K, list[Tested]] = {}
    for run in runs:
        found.setdefault(by(run), []).append(run)
    return found


def mean_of(runs: Iterable[Tested], measure: Measure) -> tuple[float, float]:
    """Mean and population standard deviation of a number over runs, which weigh the same, as in the paper."""
    values = np.array([measure.of(run) for run in runs], dtype=float)
    return float(values.mean()), float(values.std())


def over_pairs(runs: Sequence[Tested], measure: Measure) -> dict[Drawn, float]:
    """The mean over the runs of each pair."""
    drawn = grouped(having(runs, measure), lambda run: run.drawn)
    return {pair: mean_of(of, measure)[0] for pair, of in drawn.items()}
