"""The scores table as the paper's columns: VBText, VB_M, VBiid-size, VBiid, over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from compvqa.evaluation.answers import IID
from compvqa.evaluation.scores import generalization_score, over_seeds
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import frame, plain

COLUMNS = ["model", "split", "variant", "seed", "part", "text", "template", "property", "n", "accuracy"]
MODEL = "visualbert"  # what the paper's VB stands for, if no other model is named
# The paper's names: baseline models, and what a model was trained on. "VB" stands for VB_M and VB_0, which
# saw M or no questions with the tested property.
BASELINES = {"MAJ": "maj", "MAJTEMPL": "majtempl"}
VARIANTS = {"VBText": "text", "VB": "comp", "VBiid-size": "size", "VBiid": "iid", "VBEasyDistractors": "easy"}


@dataclass(frozen=True)
class Score:
    """An accuracy in percent: mean and deviation (None with one seed) over ``seeds`` runs."""

    mean: float
    deviation: float | None
    seeds: int


@dataclass(frozen=True)
class Results:
    """The scores of all runs; ``model`` is the one that the paper's VB columns show.

    Wherever a ``text`` is asked for, it is what the runs were asked by: generated or paraphrased.
    """

    rows: pd.DataFrame
    model: str

    @staticmethod
    def load(path: Path, model: str | None = None) -> Results:
        """The scores table at ``path``.

        With no ``model`` named it is the trained one whose name comes closest to ``visualbert``.
        """
        rows = frame(path, COLUMNS)
        rows["split"] = rows["split"].map({name: plain(name) for name in rows["split"].unique()})
        trained = sorted(set(rows["model"]) - set(BASELINES.values()))
        near = [name for name in trained if name.startswith(MODEL)]
        return Results(rows, model or next(iter([*near, *trained]), MODEL))

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

    def _by(self, what: str, column: str, part: str, text: str) -> dict[str, Score]:
        rows = self._of(column, IID, part, text)
        return {str(name): _score(of) for name, of in rows[rows[what] != ""].groupby(what)}

    def _of(self, column: str, split: str | Sequence[str], part: str, text: str) -> pd.DataFrame:
        if column not in BASELINES and column not in VARIANTS:
            return self.rows.head(0)
        names = {plain(name) for name in ([split] if isinstance(split, str) else split)}
        chosen = self.rows["split"].isin(names) & (self.rows["part"] == part) & (self.rows["text"] == text)
        rows = self.rows[chosen]
        if column in BASELINES:
            return rows[rows["model"] == BASELINES[column]]
        return rows[(rows["model"] == self.model) & (rows["variant"] == VARIANTS[column])]


def _score(rows: pd.DataFrame) -> Score | None:
    if rows.empty:
        return None
    mean, deviation = over_seeds(100 * rows["accuracy"])
    return Score(mean, deviation, len(rows))
