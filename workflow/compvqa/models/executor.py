"""The symbolic executor: what a question's own program gives in its scenes, the upper bound of all models.

It is told the program and the scene graph (perfect sight), so that whatever it gets wrong is wrong in the data.
"""

from __future__ import annotations

import pyarrow as pa

from compvqa.programs import wings
from compvqa.programs.properties import SceneGraphs
from compvqa.programs.rows import from_json

READS = ("scenes",)
COLUMNS = ("question_id", "program", "scene_ids")
NOTHING = "no answer"  # where the program gives none, or there is no program


def predict(
    train: pa.Table, test: pa.Table, seed: int, language: str, scenes: SceneGraphs
) -> tuple[list[str], list[float]]:
    """For each row of ``test`` the answer of its program, in the ``language`` of its programs, in its ``scenes``."""
    module: wings.TraceModule = wings.part(language, "trace")
    found = [
        module.answered(from_json(program), list(scenes.graphs(scene_ids))) if program else None
        for program, scene_ids in zip(test["program"].to_pylist(), test["scene_ids"].to_pylist(), strict=True)
    ]
    return [NOTHING if answer is None else answer for answer in found], [1.0] * len(found)
