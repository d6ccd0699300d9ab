"""The scores table as the paper's columns: VBText, VB_M, VBiid-size, VBiid, over seeds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from compvqa.evaluation.answers import IID
from compvqa.evaluation.scores import generalization_score, over_seeds
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import frame, plain
from compvqa.paper.reference import Printed, Reference
from compvqa.paper.render import Cell

COLUMNS = ["model", "split", "variant", "seed", "part", "text", "template", "property", "n", "accuracy", "low", "high"]
MODEL = "visualbert"  # what the paper's VB stands for, if no other model is named
BASELINES = {"MAJ": "maj", "MAJTEMPL": "majtempl"}
# The paper names a model (VisualBERT, ViLBERT, LXMERT) and what it was trained on. A number stands for what the split
# keeps: as many or no questions with the tested property. RandNeg is what EasyDistractors was called at first.
COLUMN = re.compile(r"(?:VB|VLB|LXM)(Text|iid-size|iid|EasyDistractors|RandNeg|\d*)")
VARIANTS = {"Text": "text", "iid-size": "size", "iid": "iid", "EasyDistractors": "easy", "RandNeg": "easy"}
KEPT, M = "comp", re.compile(r"m(\d+)")
Interval = tuple[float, float]


@dataclass(frozen=True)
class Score:
    """An accuracy in percent: mean and deviation (None with one seed) over ``seeds`` runs, and the interval from the
    lowest end of any run's to the highest."""

    mean: float
    deviation: float | None
    seeds: int
    interval: Interval


@dataclass(frozen=True)
class Results:
    """The scores of all runs; ``model`` is the one that the paper's VB columns show.

    Wherever a ``text`` is asked for, it is what the runs were asked by: generated or paraphrased.
    """

    rows: pd.DataFrame
    model: str

    @staticmethod
    def load(path: Path, model: str | None = None) -> Results:
        """The scores table at ``path``; ``model``: as :func:`model_shown` takes it."""
        rows = frame(path, COLUMNS)
        rows["split"] = rows["split"].map({name: plain(name) for name in rows["split"].unique()})
        return Results(rows, model_shown(set(rows["model"]) - set(BASELINES.values()), model))

    def missing(self, text: str = GENERATED) -> tuple[str, str]:
        """Why there are no scores of the model, in two words and as a sentence; both empty if there are."""
        if not (self.rows["model"] == self.model).any():
            return "not trained", f"No model called {self.model} was trained here: the paper's numbers stand alone."
        if not (self.rows["text"] == text).any():
            return "not paraphrased", "The questions have no paraphrases here: the paper's numbers stand alone."
        return "", ""

    def score(
        self, column: str, split: str | Sequence[str], part: str, template: str = "", text: str = GENERATED
    ) -> Score | None:
        """The accuracy of the paper's ``column`` on a part of a split, or of several; None where no run has it."""
        rows = self._of(column, split, part, text)
        return _score(rows[(rows["template"] == template) & (rows["property"] == "")])

    def by_template(self, column: str, part: str, text: str = GENERATED) -> dict[str, Score]:
        """The accuracy of the paper's ``column`` on a part of the i.i.d. split, by template."""
        return self._by("template", column, part, text)

    def by_property(self, column: str, part: str, text: str = GENERATED) -> dict[str, Score]:
        """The accuracy of the paper's ``column`` on a part of the i.i.d. split, by property."""
        return self._by("property", column, part, text)

    def generalization(self, split: str | Sequence[str], part: str, text: str = GENERATED) -> tuple[float | None, bool]:
        """The generalization score of the compositional model (section 5), None where it is undefined, and
        whether the model is below VBText."""
        found = [self.score(column, split, part, text=text) for column in ("VBText", "VB", "VBiid-size")]
        if None in found:
            return None, False
        text_only, comp, size = (score.mean for score in found)
        return generalization_score(text_only, comp, size), comp < text_only

    def by_m(self, split: str, part: str) -> pd.DataFrame:
        """Accuracy (mean, and low and high of the interval, in percent) on a part of a split by M, how many train
        questions with the tested property the model saw: of the runs of the variants ``m<M>``."""
        rows = self.rows[(self.rows["model"] == self.model) & (self.rows["split"] == plain(split))]
        rows = rows[(rows["part"] == part) & (rows["text"] == GENERATED)]
        rows = rows[(rows["template"] == "") & (rows["property"] == "")]
        rows = rows.assign(m=rows["variant"].str.extract(rf"^{M.pattern}$", expand=False)).dropna(subset=["m"])
        scores = {int(m): _score(of) for m, of in rows.groupby("m")}
        found = {m: (scores[m].mean, *scores[m].interval) for m in sorted(scores)}
        return pd.DataFrame.from_dict(found, orient="index", columns=["mean", "low", "high"])

    def _by(self, what: str, column: str, part: str, text: str) -> dict[str, Score]:
        rows = self._of(column, IID, part, text)
        return {str(name): _score(of) for name, of in rows[rows[what] != ""].groupby(what)}

    def _of(self, column: str, split: str | Sequence[str], part: str, text: str) -> pd.DataFrame:
        variant = variant_of(column)
        if column not in BASELINES and not variant:
            return self.rows.head(0)
        names = {plain(name) for name in ([split] if isinstance(split, str) else split)}
        chosen = self.rows["split"].isin(names) & (self.rows["part"] == part) & (self.rows["text"] == text)
        rows = self.rows[chosen]
        if column in BASELINES:
            return rows[rows["model"] == BASELINES[column]]
        return rows[(rows["model"] == self.model) & (rows["variant"] == variant)]


def model_shown(trained: Iterable[str], named: str | None = None) -> str:
    """The first of the trained models whose name starts with ``named``; with none named ``visualbert``, or else any."""
    names = sorted(trained)
    near = [name for name in names if name.startswith(named or MODEL)]
    return next(iter([*near, *([] if named else names)]), named or MODEL)


def variant_of(column: str) -> str | None:
    """What the model of one of the paper's columns was trained on; None where it is no trained model's."""
    named = COLUMN.fullmatch(column)
    return VARIANTS.get(named[1], KEPT) if named else None


def _score(rows: pd.DataFrame) -> Score | None:
    if rows.empty:
        return None
    mean, deviation = over_seeds(100 * rows["accuracy"])
    return Score(mean, deviation, len(rows), (100 * float(rows["low"].min()), 100 * float(rows["high"].max())))


def beside(score: Score | None, paper: Printed, reference: Reference) -> Cell:
    """An accuracy beside the paper's value, with its interval where the two can be compared."""
    if score is None:
        return Cell(paper=paper)
    return Cell(score.mean, score.deviation, paper, interval=None if reference.apart else score.interval)


def generalization_interval(
    path: Path, model: str, split: Sequence[str], part: str, text: str = GENERATED
) -> Interval | None:
    """The interval of a model's generalization score on a part of a split, or of several the widest; None where it is
    undefined. ``path``: the table of generalization scores."""
    rows = frame(path, ["model", "split", "part", "text", "low", "high"])
    rows = rows[rows["split"].map(plain).isin({plain(name) for name in split}) & (rows["model"] == model)]
    rows = rows[(rows["part"] == part) & (rows["text"] == text)].dropna(subset=["low", "high"])
    return (float(rows["low"].min()), float(rows["high"].max())) if len(rows) else None
