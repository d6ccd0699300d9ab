"""MAJ: the majority answer of the train questions, whatever is asked (COVR, section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow as pa

COLUMNS = ("question_id", "answer")


def predict(train: pa.Table, test: pa.Table, seed: int) -> tuple[list[str], list[float]]:
    """For each row of ``test`` an answer and its probability: its share of the train questions' answers.

    Both tables hold at least :data:`COLUMNS`; ``test``'s answers are not looked at. Nothing here is random.
    """
    answer, share = majority(train["answer"].to_pylist())
    return [answer] * len(test), [share] * len(test)


def majority(answers: Iterable[str]) -> tuple[str, float]:
    """The most frequent answer (of equal ones the first by alphabet) and its share."""
    counts = Counter(answers)
    answer = min(counts, key=lambda a: (-counts[a], a))
    return answer, counts[answer] / counts.total()
