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
from compvqa.covr.risk.calibration import CAUSES, CLAIMS, NO_FEWER, NO_MORE, Fitted, fit_all, lacking
from compvqa.covr.risk.claims import MORE, Claims
from compvqa.covr.risk.scoring import Asked, Scorer
from compvqa.progress import track
from compvqa.scenes.graph import SceneStore

BATCH = 4096
DIGITS = 4  # of a risk: far coarser than what machines differ in
_KINDS = tuple(CLAIMS)


def assess(
    questions: Path, labelled: Path, known: Sequence[Path], given: Knowledge, out: Path, settings: PresenceSettings
) -> dict[str, int]:
    """Write the risk of each question of a shard, calibrated by claims that are ``labelled``.

    ``known`` are tables of presence that are there already; what they lack is asked of the folds' models. Memory grows
    with the shard's distinct claims. Counts: questions, claims, and the expected share of invalid questions, per mille.
    """
    claims = _Needed.of(questions, given.scenes)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as beside:
        scores = Scorer(given, settings, known).scores(claims.asked, Path(beside))
    *risks, whole = claims.risks(fit_all(labelled), scores)
    keys = pq.read_table(questions, columns=["question_id", "seed"])
    columns = [*keys.columns, *(pa.array(np.round(of, DIGITS), pa.float32()) for of in (*risks, whole))]
    rows = tables.write(out, RISK, pa.table(columns, schema=RISK.fields))
    expected = round(1000 * float(whole.mean())) if rows else 0
    return {"in": len(keys), "out": rows, "claims": len(claims.asked), "expected invalid, per mille": expected}


@dataclass(frozen=True)
class _Needed:
    """The claims that ``questions`` need: each once, with the number of its kind in CLAIMS; and, as often as it is
    needed, a question's row and a claim's number."""

    asked: list[Asked]
    kinds: np.ndarray
    rows: np.ndarray
    numbers: np.ndarray
    questions: int

    @staticmethod
    def of(questions: Path, scenes: Path) -> _Needed:
        claims, asked = Claims(SceneStore(scenes).graph), dict[Asked, int]()
        kinds, found, row = array("b"), array("q"), -1
        for row, (program, answer, scene_ids) in enumerate(_read(questions)):
            for claim in claims.of(program, answer, scene_ids):
                more = claim.change == MORE
                number = asked.setdefault((claim.scene_id, claim.graph, more and claim.n > 0), len(asked))
                if number == len(kinds):
                    there = NO_MORE if more else NO_FEWER
                    kind = there if claim.n else lacking(claims.scene(claim.scene_id), claim.graph)
                    kinds.append(_KINDS.index(kind))
                found.extend((row, number))
        rows, numbers = np.array(found, int).reshape(-1, 2).T
        return _Needed(list(asked), np.array(kinds, int), rows, numbers, row + 1)

    def risks(self, fitted: Mapping[str, Fitted], scores: np.ndarray) -> np.ndarray:
        """The risk of each question by each cause, and by any: [causes + 1, questions]."""
        told = np.choose(self.kinds, [fitted[kind](scores) for kind in _KINDS])
        by_cause = ([fitted[kind].shares.get(cause, 0) for kind in _KINDS] for cause in CAUSES)
        right = (np.log1p(-told * np.array(shares)[self.kinds]) for shares in (*by_cause, [1] * len(_KINDS)))
        summed = (np.bincount(self.rows, of[self.numbers], minlength=self.questions) for of in right)
        risks = np.stack([-np.expm1(of) for of in summed]).round(10)  # its last bits depend on the processor
        return risks + 0.0  # no risk at all is -0.0 otherwise


def _read(questions: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The program, answer and scenes of each question."""
    tables.check(questions, QUESTIONS)
    with pq.ParquetFile(questions) as file:
        batches = file.iter_batches(BATCH, columns=["program", "answer", "scene_ids"])
        for batch in track(batches, "claims of questions", -(-file.metadata.num_rows // BATCH), "batch"):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
