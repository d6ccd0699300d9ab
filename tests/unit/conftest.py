from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from compvqa.covr.judging.distractors import DISTRACTORS
from compvqa.covr.judging.filters import FILTERS
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.covr.subgraphs.tables import RELATED
from compvqa.evaluation.contrasts import CONTRASTS
from compvqa.evaluation.scores import SCORES
from compvqa.questions.tables import DROPPED
from compvqa.tables import write

if TYPE_CHECKING:
    from fixtures.paper_inputs import World


@pytest.fixture(scope="session")
def world(tmp_path_factory) -> World:
    """A small results folder with everything that the paper's parts read."""
    from fixtures.paper_inputs import build  # needs torch, which Blender's environment lacks

    return build(tmp_path_factory.mktemp("paper"))


@pytest.fixture
def nothing(world, tmp_path) -> dict:
    """The inputs of a testbed that made no question, and so trained nothing."""
    fields = pq.read_schema(world.dataset)
    pq.write_table(fields.empty_table(), tmp_path / "dataset.parquet")
    write(tmp_path / "questions.parquet", QUESTIONS, [])
    write(tmp_path / "dropped.parquet", DROPPED, [])
    write(tmp_path / "scores.parquet", SCORES, [])
    write(tmp_path / "contrasts.parquet", CONTRASTS, [])
    write(tmp_path / "related.parquet", RELATED, [])
    write(tmp_path / "filters.parquet", FILTERS, [])
    write(tmp_path / "distractors.parquet", DISTRACTORS, [])
    made = ("dataset", "questions", "dropped", "scores", "contrasts", "related", "filters", "distractors")
    empty = {name: [tmp_path / f"{name}.parquet"] for name in made}
    for name in ("statistics", "validity"):
        pq.write_table(pq.read_schema(world.inputs[name][0]).empty_table(), tmp_path / f"{name}.parquet")
        empty[name] = [tmp_path / f"{name}.parquet"]
    return {**world.inputs, **empty, "splits": [], "histories": []}
