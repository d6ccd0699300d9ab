"""Systematicity gaps and the diversity of the pairs that were held out: of this test-bed, and of others beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compvqa import tables
from compvqa.evaluation.contrasts import CONTRASTS, systematicity_gap
from compvqa.evaluation.ranks import rank_correlation
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import Inputs, many, one
from compvqa.splits.held import HeldPair, held_pair

CONTRAST = systematicity_gap.__name__.rpartition(".")[2]
BESIDE = "beside:"  # begins the inputs that are another test-bed's, before what it is called


@dataclass(frozen=True)
class Difference:
    """How much more often a model is right with the pair than without it, in points, and the two accuracies, in
    percent."""

    value: float
    interval: tuple[float, float]
    accuracies: tuple[float, float]
    n: int


@dataclass(frozen=True)
class Gap:
    """A model's gap on one split of a world; ``matched``: against questions that are asked alike, where there are."""

    world: str
    model: str
    split: str
    held: HeldPair
    gap: Difference
    matched: Difference | None

    @property
    def drawn(self) -> str:
        """The pair in words."""
        return " ".join(self.held.pair)


def gaps(inputs: Inputs) -> list[Gap]:
    """Those of this test-bed, called by the folder of its results, then those of the others, in their order."""
    contrasts = one(inputs, "contrasts")
    found = list(_of_world(contrasts.parents[1].name, contrasts, many(inputs, "splits")))
    for name, paths in inputs.items():
        if name.startswith(BESIDE):
            found += _of_world(name.removeprefix(BESIDE), paths[0], paths[1:])
    return found


def _of_world(world: str, contrasts: Path, splits: Sequence[Path]) -> Iterator[Gap]:
    """The gaps of a test-bed. The first two parts that a split's table compares are its gap, and the second such
    comparison of the same part is with questions that are asked alike."""
    told = {held.split: held for held in filter(None, map(held_pair, splits))}
    of: dict[tuple[str, str], dict[tuple[str, str], Difference]] = {}
    for row in tables.read(contrasts, CONTRASTS).to_pylist():
        if row["contrast"] == CONTRAST and row["text"] == GENERATED and row["split"] in told:
            accuracies = json.loads(row["accuracies"])
            points = Difference(
                100 * row["score"],
                (100 * row["low"], 100 * row["high"]),
                (100 * accuracies["with"], 100 * accuracies["without"]),
                row["n"],
            )
            of.setdefault((row["model"], row["split"]), {})[row["part"], row["value"]] = points
    for (model, split), found in sorted(of.items()):
        held = told[split]
        first, *others = held.gaps
        alike = next((other for other in others if other[0] == first[0]), None)
        if first in found:
            yield Gap(world, model, split, held, found[first], found.get(alike) if alike else None)


def trends(found: Sequence[Gap]) -> list[str]:
    """For each world and model how many pairs there are, and how their gaps go with diversity and with its rival."""
    sentences = []
    for world, model in dict.fromkeys((gap.world, gap.model) for gap in found):
        mine = [gap for gap in found if (gap.world, gap.model) == (world, model)]
        said = [f"{world}, {model}: {len(mine)} splits, mean gap {_mean([gap.gap.value for gap in mine])}"]
        if matched := [gap.matched.value for gap in mine if gap.matched]:
            said.append(f"against matched questions {_mean(matched)}")
        values = [gap.gap.value for gap in mine]
        for what, numbers in (
            ("diversity", [gap.held.diversity for gap in mine]),
            ("what one value tells of the other", [-gap.held.bits for gap in mine]),
        ):
            if told := rank_correlation(numbers, values):
                less = "" if what == "diversity" else "less of "
                said.append(f"Spearman's rank correlation with {less}{what} {told.rho:.2f} (p {told.p:.2g})")
        sentences.append("; ".join(said) + ".")
    return sentences


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):+.1f}".replace("-", "−")
