"""The stage risk: for each generated question the probability that its answer is wrong about its images, by cause.

A question is at risk by each claim that its answer needs (:mod:`compvqa.covr.risk.claims`). How likely one is wrong
follows from the scores of the image filter's folds, none of which saw the image (:mod:`compvqa.covr.risk.calibration`).
Claims go wrong independently here, and a question is right if all of them are.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.covr.filters.images.presence import Knowledge, PresenceSettings
from compvqa.covr.questions.tables import QUESTIONS, RISK
from compvqa.covr.risk.calibration import (
    ABSENCE,
    CAUSES,
    LABELLED,
    NAMES,
    OTHERS,
    PRESENCE,
    Fitted,
    Labelled,
    fit_all,
    labelled,
)
from compvqa.covr.risk.claims import MORE, Claims
from compvqa.covr.risk.scoring import Asked, Scorer
from compvqa.covr.risk.settings import RiskSettings
from compvqa.progress import track
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.lexicon import Lexicon

BATCH = 4096
DIGITS = 4  # of a risk: far coarser than what machines differ in


class AssessSettings(PresenceSettings, RiskSettings):
    """How risks are told, and how presence is scored."""


@dataclass(frozen=True)
class Apart:
    """Images apart from all folds: their seeds and candidates, their scene tables as annotated, and complete."""

    seeds: Sequence[Path]
    candidates: Sequence[Path]
    annotated: Path
    complete: Path


@dataclass(frozen=True)
class Knowing:
    """What risks are told by: the folds' models with what they look at, tables of presence that are there already, and
    the lexicon by which people would call things."""

    given: Knowledge
    known: Sequence[Path]
    lexicon: Path


def assess(
    questions: Path, knowing: Knowing, apart: Apart, out: Path, out_labelled: Path, settings: AssessSettings, seed: int
) -> dict[str, int]:
    """Write the risk of each question, and the claims by which risks are calibrated, with their scores.

    Memory grows with the distinct claims. Counts: questions, claims by cause, and the expected share of invalid
    questions, per mille.
    """
    claims = _Needed.of(questions, knowing.given.scenes)
    drawn = _drawn(apart, knowing.lexicon, settings.labelled, seed)
    given = knowing.given
    aside = Knowledge(apart.annotated, given.features, given.models)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as beside:
        scores = Scorer(given, settings, knowing.known).scores(claims.asked, Path(beside))
        asked = [(item.scene_id, item.graph, item.masked) for item in drawn]
        known = Scorer(aside, settings).scores(asked, Path(beside))
    tables.write(out_labelled, LABELLED, sorted(map(_row, drawn, known.tolist()), key=_key))
    risks = claims.risks(fit_all(zip(drawn, known, strict=True)), scores)
    whole = 1 - np.prod(1 - risks, axis=0)
    ids = pq.read_table(questions, columns=["question_id"])["question_id"]
    columns = [ids, *(pa.array(np.round(of, DIGITS), pa.float32()) for of in (*risks, whole))]
    rows = tables.write(out, RISK, pa.table(columns, schema=RISK.fields))
    expected = round(1000 * float(whole.mean())) if rows else 0
    return {"in": len(ids), "out": rows, "claims": len(claims.asked), "expected invalid, per mille": expected}


def _drawn(apart: Apart, lexicon: Path, most: int, seed: int) -> list[Labelled]:
    stores = SceneStore(apart.annotated), SceneStore(apart.complete)
    return list(labelled(apart.seeds, apart.candidates, *stores, Lexicon.load(lexicon), most, seed))


def _row(item: Labelled, score: float) -> dict:
    return {
        "cause": item.cause, "scene_id": item.scene_id, "tree": item.graph.json(),
        "score": None if np.isnan(score) else score, "wrong": item.wrong,
    }  # fmt: skip


def _key(row: Mapping) -> tuple:
    return tuple(row[name] for name in LABELLED.key)


@dataclass(frozen=True)
class _Needed:
    """The claims that ``questions`` need, by what they may be wrong by: of each the question's row, the cause's number
    in CAUSES, and its number in ``asked``."""

    asked: list[Asked]
    rows: np.ndarray
    causes: np.ndarray
    numbers: np.ndarray
    questions: int

    @staticmethod
    def of(questions: Path, scenes: Path) -> _Needed:
        claims, asked = Claims(SceneStore(scenes).graph), dict[Asked, int]()
        found, row = array("q"), -1
        for row, (program, answer, scene_ids) in enumerate(_read(questions)):
            for claim in claims.of(program, answer, scene_ids):
                more = claim.change == MORE
                number = asked.setdefault((claim.scene_id, claim.graph, more and claim.n > 0), len(asked))
                for cause in (OTHERS if claim.n else ABSENCE, NAMES) if more else (PRESENCE,):
                    found.extend((row, CAUSES.index(cause), number))
        rows, causes, numbers = np.array(found, int).reshape(-1, 3).T
        return _Needed(list(asked), rows, causes, numbers, row + 1)

    def risks(self, fitted: Mapping[str, Fitted], scores: np.ndarray) -> np.ndarray:
        """The risk of each question by each cause: [causes, questions]."""
        right = np.stack([np.log1p(-fitted[cause](scores)) for cause in CAUSES])
        cells = self.causes * self.questions + self.rows
        summed = np.bincount(cells, right[self.causes, self.numbers], minlength=len(CAUSES) * self.questions)
        return -np.expm1(summed.reshape(len(CAUSES), self.questions))


def _read(questions: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The program, answer and scenes of each question."""
    tables.check(questions, QUESTIONS)
    with pq.ParquetFile(questions) as file:
        batches = file.iter_batches(BATCH, columns=["program", "answer", "scene_ids"])
        for batch in track(batches, "claims of questions", -(-file.metadata.num_rows // BATCH), "batch"):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
