"""What speaks for a claim: the least of what the folds saw of its parts, told by regions or by text alone."""

import numpy as np
import pytest

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE, Knowledge, PresenceSettings
from compvqa.covr.risk.scoring import Scorer
from compvqa.covr.subgraphs.subgraph import Edge, make

ON = Edge("on", make("mat", "red"))
DOG = make("dog", None, (ON, Edge("chasing", make("cat"))))
PARTS = make("dog", None, (ON,)), make("dog", None, (Edge("chasing", make("cat")),))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([(0.9, 0.8), (0.7, 0.95)], 0.7),
        ([(0.9, 0.3), (0.7, 0.95)], 0.3),  # the text alone speaks against it
        ([(0.9, None), (0.8, None)], 0.8),  # a method that has no other
        ([(0.9, 0.8)], np.nan),
    ],
)
def test_a_claim_has_the_least_score_of_its_parts(tmp_path, told, expected):
    rows = [
        {"scene_id": "s:1", "subgraph_key": part.key, "masked": masked, "p": p, "by_text": by_text, "fold": 0}
        for masked in (False, True)
        for part, (p, by_text) in zip(PARTS, told, strict=False)
    ]
    tables.write(
        tmp_path / "known.parquet", PRESENCE, sorted(rows, key=lambda row: (row["subgraph_key"], row["masked"]))
    )
    nothing = Knowledge(tmp_path, tmp_path, tmp_path)
    scorer = Scorer(nothing, PresenceSettings(method="none"), [tmp_path / "known.parquet"])
    found = scorer.scores([("s:1", DOG, False), ("s:1", DOG, True), ("s:2", DOG, False)], tmp_path)
    assert found == pytest.approx([expected, expected, np.nan], nan_ok=True)
