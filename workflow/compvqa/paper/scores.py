"""The scores table as the paper's columns: VBText, VB_M, VBiid-size, VBiid, over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from compvqa.evaluation.scores import IID, generalization_score, over_seeds
from compvqa.paper.data import frame, plain

COLUMNS = ["model", "split", "variant", "seed", "part", "template", "property", "n", "accuracy"]
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
    """The scores of all runs; ``model`` is the one that the paper's VB columns show."""

    rows: pd.DataFrame
    model: str

    @staticmethod
    def load(path: Path, model: str | None = None) -> Results:
        """The scores table at ``path``, rows of single properties left out.

        With no ``model`` named it is the trained one whose name comes closest to ``visualbert``.
        """
        rows = frame(path, COLUMNS)
        trained = sorted(set(rows["model"]) - set(BASELINES.values()))
        near = [name for name in trained if name.startswith(MODEL)]
        return Results(rows[rows["property"] == ""], model or next(iter([*near, *trained]), MODEL))

    def score(self, column: str, split: str | Sequence[str], part: str, template: str = "") -> Score | None:
        """The accuracy of the paper's ``column`` on a part of a split, or of several; None where no run has it."""
        rows = self._of(column, split, part)
        return _score(rows[rows["template"] == template])

    def by_template(self, column: str, part: str) -> dict[str, Score]:
        """The accuracy of the paper's ``column`` on a part of the i.i.d. split, by template."""
        rows = self._of(column, IID, part)
        return {str(name): _score(of) for name, of in rows[rows["template"] != ""].groupby("template")}

    def generalization(self, split: str | Sequence[str], part: str) -> tuple[float | None, bool]:
        """The generalization score of the compositional model (section 5), None where it is undefined, and
        whether the model is below VBText."""
        text, comp, size = (self.score(column, split, part) for column in ("VBText", "VB", "VBiid-size"))
        if text is None or comp is None or size is None:
            return None, False
        return generalization_score(text.mean, comp.mean, size.mean), comp.mean < text.mean

    def _of(self, column: str, split: str | Sequence[str], part: str) -> pd.DataFrame:
        if column not in BASELINES and column not in VARIANTS:
            return self.rows.head(0)
        names = {plain(name) for name in ([split] if isinstance(split, str) else split)}
        rows = self.rows[self.rows["split"].map(plain).isin(names) & (self.rows["part"] == part)]
        if column in BASELINES:
            return rows[rows["model"] == BASELINES[column]]
        return rows[(rows["model"] == self.model) & (rows["variant"] == VARIANTS[column])]


def _score(rows: pd.DataFrame) -> Score | None:
    if rows.empty:
        return None
    mean, deviation = over_seeds(100 * rows["accuracy"])
    return Score(mean, deviation, len(rows))
