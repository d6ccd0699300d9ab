"""Models without training: they see train questions and answer others from these alone.

Such a model is a module of this package with ``COLUMNS``, the columns that it reads, and
``predict(train, test, seed) -> (answers, probabilities)``. One with ``READS = ("scenes",)`` is given ``language``, that
of the programs, and ``scenes``, their graphs by id, as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import plugins, tables
from compvqa.errors import InputError
from compvqa.models.declared import SCENES
from compvqa.questions.dataset import language_of
from compvqa.questions.tables import PARAPHRASES
from compvqa.scenes.asked import AskedScenes
from compvqa.tables import Schema

GENERATED, PARAPHRASED = "generated", "paraphrased"  # the texts that a question may have
PREDICTIONS = Schema(
    "predictions",
    pa.schema(
        [
            ("run", pa.string()),
            ("question_id", pa.string()),
            ("text", pa.string()),  # which of its texts was asked
            ("answer", pa.string()),
            ("p", pa.float32()),  # probability that the model gives the answer
        ]
    ),
    key=("run", "question_id", "text"),
)


class Baseline(Protocol):
    """A module of a model without training."""

    @property
    def COLUMNS(self) -> Sequence[str]: ...

    @property
    def predict(self) -> Callable[..., tuple[Sequence[str], Sequence[float]]]: ...


def predict(
    model: str,
    run: str,
    dataset: Path,
    split: Path | None,
    train_parts: Sequence[str],
    parts: Sequence[str],
    out: Path,
    seed: int,
    paraphrases: Path | None = None,
    scenes: Path | None = None,
) -> dict[str, int]:
    """Write the predictions of ``model`` for the questions in ``parts``, from those in ``train_parts``.

    Parts are those of the split table ``split``, or the data set's own if it is None. Parts of questions to
    answer may be empty; without a train question there is nothing to predict from, and no prediction, but of a model
    that reads scenes. Questions in the table ``paraphrases`` are answered once more, with the paraphrase for their
    text. ``scenes``: the folder of scene tables, which only a model that reads scenes looks at.
    """
    module: Baseline = plugins.find("compvqa.models", model, "predict", "baseline")
    seen: dict[str, Any] = {}
    if SCENES in getattr(module, "READS", ()):
        if scenes is None:
            raise InputError(f"the baseline {model} looks at scenes: give the folder of their tables by --scenes.")
        seen = {"language": language_of(dataset), "scenes": AskedScenes(scenes)}
    columns = tuple(dict.fromkeys(("question_id", "answer", *module.COLUMNS)))
    train = _questions(dataset, split, train_parts, columns)
    test = _questions(dataset, split, parts, columns)
    if len(train) == 0 and not seen:
        test = test.slice(0, 0)
    texts = {GENERATED: test} | ({PARAPHRASED: _paraphrased(test, paraphrases)} if paraphrases else {})
    known, found, counts = set(train["answer"].to_pylist()), [], {"in": len(train)}
    for text, asked in texts.items():
        answers, p = module.predict(train, asked, seed, **seen) if len(asked) else ([], [])
        filled = [[run] * len(asked), asked["question_id"], [text] * len(asked), answers, p]
        found.append(pa.table(filled, schema=PREDICTIONS.fields))
        counts[text] = len(asked)
        counts[f"{text}: answer not in train"] = sum(answer not in known for answer in asked["answer"].to_pylist())
    return {**counts, "out": tables.write(out, PREDICTIONS, pa.concat_tables(found))}


def _paraphrased(questions: pa.Table, paraphrases: Path) -> pa.Table:
    """The questions that have a paraphrase, which stands in the place of their text, if that is read."""
    texts = dict(zip(*(column.to_pylist() for column in tables.read(paraphrases, PARAPHRASES)), strict=True))
    found = questions.filter(pc.is_in(questions["question_id"], pa.array(list(texts), pa.string())))
    if "text" not in found.column_names:
        return found
    new = pa.array([texts[question_id] for question_id in found["question_id"].to_pylist()], pa.string())
    return found.set_column(found.column_names.index("text"), "text", new)


def _questions(dataset: Path, split: Path | None, parts: Sequence[str], columns: Sequence[str]) -> pa.Table:
    language_of(dataset)
    table = tables.read(dataset, columns=[*columns, "part"])
    wanted = pa.array(parts, pa.string())
    if split is None:
        return table.filter(pc.is_in(table["part"], wanted))
    rows = tables.read(split, columns=["part", "question_id"])
    chosen = rows.filter(pc.is_in(rows["part"], wanted))["question_id"]
    return table.filter(pc.is_in(table["question_id"], chosen.combine_chunks()))
