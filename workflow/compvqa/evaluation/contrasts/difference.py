"""By how much one model exceeds another on the same questions (paired): over all, and by each value of a facet.

The interval draws the same questions, or images, for both (paired bootstrap): what is hard for one model is often hard
for the other, so that it is narrower than the two models' own intervals tell. Compared are models that are trained on
all questions, as they answer whatever any split asks; templates and properties, which are many, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from compvqa.evaluation.contrasts import as_json
from compvqa.evaluation.facets import MANY
from compvqa.evaluation.intervals import Resampling, unseen
from compvqa.seeds import stable_hash

VARIANTS = ()  # of one model: none, since models are compared
ALL_OF_TRAIN = "iid"  # the variant that is trained on all questions
BLOCK = 4_000_000  # numbers drawn at once
KEY = ("split", "part", "text", "facet")


def value(model: float, other: float) -> float:
    """The difference of two accuracies."""
    return model - other


def below(model: float, other: float) -> bool:
    """Nothing is marked."""
    return False


def rows(db: duckdb.DuckDBPyConnection, settings: Resampling, seed: int) -> Iterator[dict[str, Any]]:
    """A row for each two models, part, text and value of a facet; of two, the first by alphabet is the ``model``.

    Accuracies are means over seeds.
    """
    compared = f"from by_facet where split_part(run, '.', 3) = '{ALL_OF_TRAIN}'"
    sql = f"select distinct {', '.join(KEY)} {compared} and facet not in {MANY} order by all"
    for key in db.sql(sql).fetchall():
        found = db.execute(
            f"""select unit, value, split_part(run, '.', 1) as model, sum(correct)::bigint as "right", count(*) as n,
                count(distinct run)::bigint as seeds {compared} and ({", ".join(KEY)}) = (?, ?, ?, ?) group by all""",
            key,
        ).df()
        yield from _compared(key, found, settings, seed)


def _compared(key: Sequence[str], found: pd.DataFrame, settings: Resampling, seed: int) -> Iterator[dict[str, Any]]:
    """The rows of one facet on a part; ``found``: sums for each model, value and unit that is drawn."""
    seeds = found.groupby("model")["seeds"].max().sort_index().to_dict()
    at, values = pd.factorize(found["value"], sort=True)
    unit, units = pd.factorize(found["unit"], sort=True)
    right, n = ({model: np.zeros((len(units), len(values))) for model in seeds} for _ in range(2))
    for model in seeds:
        mine = (found["model"] == model).to_numpy()
        right[model][unit[mine], at[mine]] = found["right"][mine]
        n[model][unit[mine], at[mine]] = found["n"][mine]
    asked = next(iter(n.values())) / next(iter(seeds.values()))
    random = np.random.default_rng(stable_hash(seed, "bootstrap", "difference", *key) & 0xFFFFFFFF)
    total, *of_model = _resummed([asked, *right.values()], settings.resamples, random)
    with np.errstate(invalid="ignore"):  # no question of a rare value is drawn
        told = {model: of / seeds[model] / total for model, of in zip(seeds, of_model, strict=True)}
    # Where all resamples agree, what no unit shows may still be right of one model alone.
    new = np.array([unseen(count, settings.level) for count in (asked > 0).sum(axis=0).tolist()])
    ends = [(1 - settings.level) / 2, (1 + settings.level) / 2]
    for model, other in combinations(told, 2):
        low, high = np.nanquantile((told[model] - told[other])[1:], ends, axis=0)
        low, high = np.where(low == high, [(1 - new) * low - new, (1 - new) * high + new], [low, high])
        for number, named in enumerate(values):
            both = {name: float(told[name][0, number]) for name in (model, other)}
            yield {
                "model": model, "other": other, **dict(zip(KEY, key, strict=True)), "value": named,
                "n": int(total[0, number]), "seeds": min(seeds[model], seeds[other]), "accuracies": as_json(both),
                "score": value(*both.values()), "low": float(low[number]), "high": float(high[number]),
            }  # fmt: skip


def _resummed(sums: Sequence[np.ndarray], resamples: int, random: np.random.Generator) -> list[np.ndarray]:
    """Each of ``sums`` [units, k] summed over the units as they are, in the first row, and as they are drawn.

    Whole numbers are summed, so that the sums do not depend on their order. Gives arrays [1 + resamples, k].
    """
    units = len(sums[0])
    found = [[of.sum(axis=0, keepdims=True)] for of in sums]
    for start in range(0, resamples, block := max(1, BLOCK // units)):
        size = min(block, resamples - start)
        drawn = random.multinomial(units, np.full(units, 1 / units), size=size).astype(float)
        for blocks, of in zip(found, sums, strict=True):
            blocks.append(drawn @ of)
    return [np.concatenate(blocks) for blocks in found]
