"""Questions about grids of coloured cells, with programs: the answer lies in the picture, not in the words."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compvqa import tables
from compvqa.clevr.language import LANGUAGE
from compvqa.features.grids import GRIDS
from compvqa.features.store import appending
from compvqa.models import tensor_nmn
from compvqa.models.baseline import PREDICTIONS
from compvqa.programs.rows import Row, to_json
from compvqa.questions.dataset import CORE, dataset_schema
from compvqa.scenes.tables import SCENES
from compvqa.seeds import stable_hash
from compvqa.training import loop
from compvqa.training.prediction import predict

DATASET = dataset_schema(LANGUAGE.name, CORE)
COLOURS, SIDE, PICTURES = ("red", "green", "blue"), 2, 160
VALUES = 6  # of a cell: a colour, or one of three that no question asks about
SIZE = tensor_nmn.ModelSettings(
    word_size=16, hidden_size=32, layers=1, stem=(), width=12, projection=16, classifier=(32,), longest_program=8,
    program_share=0.25, engine_share=0.5, program_rate=2.0,
)  # fmt: skip
STEPS = {
    "epochs": 999, "batch_size": 16, "evaluations": 2, "patience": 0, "weight_decay": 0, "warmup": 0, "decay": 0,
    "keep": "last",
}  # fmt: skip


class Grids:
    """A folder with pictures of 2x2 cells, and of each "is there a red cell ?" and "is there a red or blue cell ?", for
    all colours; dev asks about other pictures than train."""

    def __init__(self, folder: Path):
        self.folder = folder
        if (folder / "questions.parquet").exists():
            return
        rows, scenes, cells = [], [], []
        with appending(folder / "grid.safetensors", VALUES) as append:
            for number in range(PICTURES):
                image = f"s:{number:02d}"
                seen = [stable_hash("cell", number, cell) % VALUES for cell in range(SIDE**2)]
                append(np.eye(VALUES, dtype=np.float16)[seen])
                cells.append({"image": image, "file": "grid.safetensors", "row": number * SIDE**2, "cells": SIDE})
                scenes.append(dict.fromkeys(SCENES.fields.names) | {"scene_id": image, "image": image})
                has = {colour for at, colour in enumerate(COLOURS) if at in seen}
                asked = [*((colour,) for colour in COLOURS), *combinations(COLOURS, 2)]
                rows += [self._row(image, "dev" if number % 4 == 0 else "train", has, colours) for colours in asked]
        tables.write(folder / "questions.parquet", DATASET, rows)
        tables.write(folder / "regions.parquet", GRIDS, [row | {"image_w": 4.0, "image_h": 4.0} for row in cells])
        pq.write_table(pa.Table.from_pylist(scenes, schema=SCENES.fields), folder / "scenes.parquet")

    @staticmethod
    def _row(image: str, part: str, has: set[str], asked: tuple[str, ...]) -> dict:
        if len(asked) == 1:
            program = [Row("scene"), Row("filter_color", asked, (0,)), Row("exist", (), (1,))]
        else:
            one, other = (Row("filter_color", (colour,), (at,)) for at, colour in zip((0, 2), asked, strict=True))
            program = [Row("scene"), one, Row("scene"), other, Row("union", (), (1, 3)), Row("exist", (), (4,))]
        return dict.fromkeys(DATASET.fields.names) | {
            "question_id": f"{image} {' '.join(asked)}",
            "text": f"is there a {' or '.join(asked)} cell ?",
            "answer": "yes" if has & set(asked) else "no",
            "scene_ids": [image],
            "part": part,
            "program": to_json(program),
        }

    def train(self, out: Path, size: tensor_nmn.ModelSettings = SIZE, seed: int = 1, **steps: object) -> dict[str, int]:
        """Train a Tensor-NMN."""
        asked = [self.folder / "questions.parquet", None, ["train"], ["dev"], self.folder / "scenes.parquet"]
        seen = [self.folder / "regions.parquet", self.folder / "grid.safetensors"]
        settings = loop.TrainingSettings(optimisation=STEPS | steps, most_regions=SIDE**2)
        return loop.train("tensor_nmn", *asked, *seen, None, out, size, settings, seed)

    def right(self, run: Path) -> float:
        """The share of dev questions that a trained model answers right."""
        asked = [self.folder / "questions.parquet", None, ["dev"], self.folder / "scenes.parquet"]
        seen = [self.folder / "regions.parquet", self.folder / "grid.safetensors"]
        predict(run, "a.b.c.1", *asked, *seen, run / "predictions.parquet")
        told = tables.read(run / "predictions.parquet", PREDICTIONS)
        wanted = tables.read(self.folder / "questions.parquet", columns=["question_id", "answer"])
        answers = dict(zip(*(wanted[name].to_pylist() for name in ("question_id", "answer")), strict=True))
        pairs = list(zip(told["question_id"].to_pylist(), told["answer"].to_pylist(), strict=True))
        return sum(answers[name] == answer for name, answer in pairs) / len(pairs)
