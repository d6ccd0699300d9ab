"""The scores table as a page's columns and rows, each of a model in a variant or of a baseline, over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from compvqa.evaluation import contrasts
from compvqa.evaluation.answers import IID
from compvqa.evaluation.facets import ALL
from compvqa.evaluation.scores import over_seeds
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import frame, plain
from compvqa.paper.reference import Printed, Reference, Shown
from compvqa.paper.render import Cell

COLUMNS = ["model", "split", "variant", "seed", "part", "text", "facet", "value", "n", "right", "low", "high"]
COLUMNS += ["asked_before"]
OF_M = r"^m(\d+)$"  # variants that saw M train questions with the property
SIZES = ("large", "medium", "small", "tiny")  # of models, which end their names
Interval = tuple[float, float]


@dataclass(frozen=True)
class Score:
    """An accuracy in percent: mean and deviation (None with one seed) over ``seeds`` runs, and the interval from the
    lowest end of any run's to the highest; ``asked``: how many examples of a pretraining of theirs had what the split
    holds out; ``questions``: how many were asked."""

    mean: float
    deviation: float | None
    seeds: int
    interval: Interval
    asked: int = 0
    questions: int = 0


@dataclass(frozen=True)
class Results:
    """The scores of all runs; ``model`` is the one that the page shows.

    Wherever a ``text`` is asked for, it is what the runs were asked by: generated or paraphrased.
    """

    rows: pd.DataFrame
    model: str

    @staticmethod
    def load(path: Path, options: Mapping[str, object]) -> Results:
        """The scores table at ``path``, for a page with these ``options`` (:func:`model_shown`).

        Any model will do only if it has runs of more variants than one, which baselines have not.
        """
        rows = frame(path, COLUMNS)
        rows["accuracy"] = rows["right"] / rows["n"]
        rows["split"] = rows["split"].map({name: plain(name) for name in rows["split"].unique()})
        return Results(rows, model_shown(rows["model"], options, rows["model"][rows["variant"] != IID]))

    def missing(self, text: str = GENERATED) -> tuple[str, str]:
        """Why there are no scores of the model, in two words and as a sentence; both empty if there are."""
        if not (self.rows["model"] == self.model).any():
            called = f" called {self.model}" if self.model else ""
            return "not trained", f"No model{called} was trained here: the paper's numbers stand alone."
        if not (self.rows["text"] == text).any():
            return "not paraphrased", "The questions have no paraphrases here: the paper's numbers stand alone."
        return "", ""

    def score(self, shown: Shown, split: str | Sequence[str], part: str, text: str = GENERATED) -> Score | None:
        """The accuracy of what is ``shown`` on a part of a split, or of several; None where no run has it."""
        rows = self._of(shown, split, part, text)
        return _score(rows[rows["facet"] == ALL])

    def by(self, facet: str, shown: Shown, part: str, text: str = GENERATED, split: str = IID) -> dict[str, Score]:
        """The accuracy of what is ``shown`` on a part of a split, by the values of a facet."""
        rows = self._of(shown, split, part, text)
        scores = {str(value): _score(of) for value, of in rows[rows["facet"] == facet].groupby("value")}
        return {value: score for value, score in scores.items() if score}

    def contrast(
        self, name: str, split: str | Sequence[str], part: str, text: str = GENERATED
    ) -> tuple[float | str | None, int]:
        """The contrast ``name`` of the page's model, in words why where it is undefined, None where it has no runs; and
        what was asked before of any run in it (as in :class:`Score`)."""
        module = contrasts.find(name)
        found = [self.score(Shown(variant=variant), split, part, text) for variant in module.VARIANTS]
        means = [score.mean for score in found if score]
        if len(means) < len(found):
            return None, 0
        value = module.value(*means)
        return getattr(module, "UNDEFINED", "undefined") if value is None else value, max(
            score.asked for score in found if score
        )

    def by_m(self, split: str, part: str) -> dict[int, Score]:
        """The accuracy on a part of a split by M, ascending, how many train questions with the tested property the
        model saw: of the runs of the variants ``m<M>``."""
        rows = self.rows[(self.rows["model"] == self.model) & (self.rows["split"] == plain(split))]
        rows = rows[(rows["part"] == part) & (rows["text"] == GENERATED)]
        rows = rows[rows["facet"] == ALL]
        rows = rows.assign(m=rows["variant"].str.extract(OF_M, expand=False)).dropna(subset=["m"])
        scores = {int(m): _score(of) for m, of in rows.groupby("m")}
        return {m: score for m, score in sorted(scores.items()) if score}

    def _of(self, shown: Shown, split: str | Sequence[str], part: str, text: str) -> pd.DataFrame:
        names = {plain(name) for name in ([split] if isinstance(split, str) else split)}
        chosen = self.rows["split"].isin(names) & (self.rows["part"] == part) & (self.rows["text"] == text)
        rows = self.rows[chosen]
        rows = rows[rows["model"] == self.named(shown)]
        return rows if shown.baseline else rows[rows["variant"] == shown.variant]

    def named(self, shown: Shown) -> str:
        """The name of the model that is ``shown``."""
        return shown.baseline or (of_any_size(shown.model, self.rows["model"]) if shown.model else self.model)


def model_shown(models: Iterable[str], options: Mapping[str, object], others: Iterable[str]) -> str:
    """The model of a page: the first of ``models`` whose name starts with ``options.model`` or ``options.prefer``.

    Where none does with ``prefer``, or neither is given, the first of ``others``; else the name that was looked for.
    """
    named = str(options.get("model") or options.get("prefer", ""))
    near = sorted(name for name in set(models) if named and name.startswith(named))
    return next(iter([*near, *([] if "model" in options else sorted(set(others)))]), named)


def of_any_size(name: str, models: Iterable[str]) -> str:
    """The one of ``models`` that is called so, or so and by a size; ``name`` itself where there is none."""
    there = set(models)
    return next((model for model in (name, *(f"{name}-{size}" for size in SIZES)) if model in there), name)


def _score(rows: pd.DataFrame) -> Score | None:
    if rows.empty:
        return None
    mean, deviation = over_seeds(100 * rows["accuracy"])
    between = 100 * float(rows["low"].min()), 100 * float(rows["high"].max())
    asked = rows["asked_before"].max()  # nulls left out
    return Score(mean, deviation, len(rows), between, 0 if pd.isna(asked) else int(asked), int(rows["n"].max()))


def beside(score: Score | None, paper: Printed, reference: Reference) -> Cell:
    """An accuracy beside the paper's value, with its interval and how many questions it is of."""
    if score is None:
        return Cell(paper=paper)
    told: dict[str, Any] = {"interval": score.interval, "n": score.questions, "comparable": not reference.apart}
    return Cell(score.mean, score.deviation, paper, asked=score.asked, **told)


def differences(path: Path, model: str, other: str, part: str, text: str, split: str) -> dict[tuple[str, str], Score]:
    """By how many points one model exceeds another on a part of a split, by facet and value, with paired intervals.

    ``path``: the table of contrasts, where of two models one stands first.
    """
    rows = frame(path, ["contrast", "model", "other", "split", "part", "text", "facet", "value", *_DIFFERENCE])
    rows = rows[(rows["contrast"] == "difference") & (rows["split"].map(plain) == plain(split))]
    rows = rows[(rows["part"] == part) & (rows["text"] == text)]
    found = {}
    for first, second, sign in ((model, other, 100), (other, model, -100)):
        for row in rows[(rows["model"] == first) & (rows["other"] == second)].itertuples():
            low, high = sorted((sign * row.low + 0.0, sign * row.high + 0.0))
            found[row.facet, row.value] = Score(sign * row.score + 0.0, None, row.seeds, (low, high), 0, row.n)
    return found


_DIFFERENCE = ("n", "seeds", "score", "low", "high")


@dataclass(frozen=True)
class Doubt:
    """What is known of a contrast besides its value: its interval, None where it is undefined; of how many questions;
    the share of the resamples in which it is undefined, which the interval leaves out; and the least share in which a
    table marks it."""

    interval: Interval | None
    n: int
    undefined: float
    below: float


def contrast_doubt(
    path: Path, name: str, model: str, split: Sequence[str], part: str, text: str = GENERATED
) -> Doubt | None:
    """What is known of a model's contrast ``name`` on a part of a split, or of several: the widest interval, the fewest
    questions. ``path``: the table of contrasts; None where it has no such row."""
    columns = ["contrast", "model", "split", "part", "text", "n", "low", "high", "undefined", "below"]
    rows = frame(path, columns)
    rows = rows[rows["split"].map(plain).isin({plain(name) for name in split}) & (rows["model"] == model)]
    rows = rows[(rows["contrast"] == name) & (rows["part"] == part) & (rows["text"] == text)]
    if rows.empty:
        return None
    ends = rows.dropna(subset=["low", "high"])
    interval = (float(ends["low"].min()), float(ends["high"].max())) if len(ends) else None
    return Doubt(interval, int(rows["n"].min()), float(rows["undefined"].max()), float(rows["below"].min()))
