"""Properties that are drawn from the data set: program structures, and pairs of names (COVR, section 4.2).

A drawn property is a predicate like any other, so parts, leak guard and scores work as for named ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field, NonNegativeInt, PositiveInt

from compvqa import tables
from compvqa.programs import wings
from compvqa.programs.properties import Predicate, PropertiesModule, Question
from compvqa.programs.rows import anonymize
from compvqa.progress import track
from compvqa.questions.dataset import language_of
from compvqa.seeds import by_rank
from compvqa.settings import Settings
from compvqa.splits.held import DRAWN

BATCH = 16_384
TRAIN = "train"
NamePair = tuple[str, str]  # by alphabet


class _Drawn(Settings):
    """What all draws have."""

    draw: NonNegativeInt = Field(1, description="number of the random draw")
    released: str = Field(
        "",
        description="property by which released files say which questions their authors drew: held out instead, where "
        "the data set was read from such files",
    )


class DrawnPrograms(_Drawn):
    """The program split: a share of all programs' structures is never seen in train."""

    kind: Literal["programs"]
    share: float = Field(0.2, gt=0, lt=1, description="held-out share of all structures")
    numbers: bool = Field(
        False,
        description="whether programs that differ in a number alone have two structures (authors' code: one)",
    )


class DrawnPairs(_Drawn):
    """The lexical split: pairs of nouns, attributes or relations that are never together in one program of train.

    A draw takes pairs that earlier ones (1, 2 …) have not, as far as there are enough, so that draws are apart.
    """

    kind: Literal["pairs"]
    pairs: PositiveInt = Field(65, description="held-out pairs of names")
    least_alone: NonNegativeInt = Field(50, description="train questions that each name must have without the other")
    least_together: PositiveInt = Field(15, description="questions of dev and test that a pair must have")


Drawn = DrawnPrograms | DrawnPairs


def draw(dataset: Path, drawn: Drawn, seed: int) -> tuple[Predicate, dict[str, int]]:
    """Whether a question has what is drawn, and counts of what there was to draw from; for pairs each one's questions
    of dev and test too."""
    if drawn.released and _given(dataset, drawn.released):
        return lambda question: drawn.released in (question.given or ()), {f"drawn as released: {drawn.released}": 1}
    if isinstance(drawn, DrawnPrograms):
        structure = partial(anonymize, numbers=drawn.numbers)
        known = sorted({structure(question.program) for _, question in _questions(dataset)})
        chosen = set(by_rank(seed, f"programs {drawn.draw}", known)[: round(drawn.share * len(known))])
        counts = {"programs": len(known), "programs held out": len(chosen)}
        return lambda question: structure(question.program) in chosen, counts
    names = _Names.read(dataset)
    candidates = names.candidates(drawn)
    pairs: list[NamePair] = []
    before: set[NamePair] = set()
    for number in range(min(drawn.draw, 1), drawn.draw + 1):
        before.update(pairs)
        ranked = by_rank(seed, f"pairs {number}", candidates)
        pairs = names.choose(sorted(ranked, key=before.__contains__), drawn)
    counts = {"pairs held out": len(pairs), "pairs held out by an earlier draw too": len(before & set(pairs))}
    counts |= {"pairs to choose from": len(candidates)}
    counts |= {f"{DRAWN}{x} + {y}": names.together[x, y] for x, y in pairs}
    if len(pairs) < drawn.pairs:
        counts[f"fewer pairs than {drawn.pairs} can be held out"] = len(pairs)
    partners: dict[str, set[str]] = defaultdict(set)
    for x, y in pairs:
        partners[x].add(y)
    return lambda question: _has_pair(question.names(), partners), counts


def _given(dataset: Path, name: str) -> bool:
    """Whether a question of the data set has the property ``name`` of released files."""
    properties = tables.read(dataset, columns=["properties"])["properties"]
    return bool(pc.any(pc.equal(pc.list_flatten(properties), name)).as_py())


def _has_pair(names: set[str], partners: dict[str, set[str]]) -> bool:
    return any(partners[name] & names for name in names & partners.keys())


def _questions(dataset: Path) -> Iterator[tuple[str, Question]]:
    """Each question of the data set with its part."""
    properties: PropertiesModule = wings.part(language_of(dataset), "properties")
    with pq.ParquetFile(dataset) as file:
        total = -(-file.metadata.num_rows // BATCH)
        batches = file.iter_batches(BATCH, columns=["part", *properties.COLUMNS])
        for batch in track(batches, "reading programs", total, "batch"):
            yield from zip(batch["part"].to_pylist(), properties.questions(batch), strict=True)


@dataclass(frozen=True)
class _Names:
    """Where names occur: for each, the numbers of its train questions, ascending; for pairs, how many questions of dev
    and test have both."""

    train: dict[str, np.ndarray]
    together: Counter[NamePair]

    @staticmethod
    def read(dataset: Path) -> _Names:
        train: dict[str, list[int]] = defaultdict(list)
        together: Counter[NamePair] = Counter()
        for number, (part, question) in enumerate(_questions(dataset)):
            names = sorted(question.names())
            if part == TRAIN:
                for name in names:
                    train[name].append(number)
            else:
                together.update(combinations(names, 2))
        return _Names({name: np.array(numbers) for name, numbers in train.items()}, together)

    def candidates(self, drawn: DrawnPairs) -> list[NamePair]:
        """The pairs that dev and test have often enough, of names that train knows."""
        known = self.train.keys()
        enough = (pair for pair, count in self.together.items() if count >= drawn.least_together)
        return sorted(pair for pair in enough if known >= set(pair))

    def choose(self, ordered: list[NamePair], drawn: DrawnPairs) -> list[NamePair]:
        """The first pairs without which train still has each of their names often enough."""
        removed = np.zeros(1 + max((numbers[-1] for numbers in self.train.values()), default=-1), dtype=bool)
        chosen: list[NamePair] = []
        for x, y in ordered:
            if len(chosen) == drawn.pairs:
                break
            without = removed.copy()
            without[np.intersect1d(self.train[x], self.train[y])] = True
            names = {x, y}.union(*chosen)
            if all((~without[self.train[name]]).sum() >= drawn.least_alone for name in names):
                removed = without
                chosen.append((x, y))
        return sorted(chosen)
