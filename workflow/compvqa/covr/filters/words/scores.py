"""How often the word filter is right on pairs, and on words, that it never saw, beside simpler ways (App. A)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from compvqa import tables
from compvqa.covr.filters.floors import share
from compvqa.covr.filters.words.labels import EXCLUSIVE
from compvqa.covr.filters.words.model import WordModel, pretrained
from compvqa.covr.filters.words.settings import WordFilterSettings
from compvqa.covr.filters.words.training import HELD_OUT, SCORED, TRAIN
from compvqa.scenes.lexicon import Lexicon
from compvqa.tables import Schema
from compvqa.training.fit import prepare

WORD_SCORES = Schema(
    "word_scores",
    pa.schema(
        [
            ("kind", pa.string()),
            ("protocol", pa.string()),  # what was held out: pairs, or words
            ("method", pa.string()),  # learned, lexicon, cosine or majority
            ("annotators", pa.string()),  # whose labels are the truth
            ("trained_on", pa.int64()),
            ("n", pa.int64()),
            ("right", pa.int64()),
            ("accuracy", pa.float64()),
            ("low", pa.float64()),  # Wilson's interval
            ("high", pa.float64()),
            ("balanced", pa.float64()),  # mean of the accuracies of both labels; null where one is missing
        ]
    ),
    key=("kind", "protocol", "method"),
)
AT_A_TIME = 64


def word_scores(
    scored: Sequence[tuple[str, Path]], lexicon: Path, out: Path, settings: WordFilterSettings, seed: int
) -> dict[str, int]:
    """Write the scores of the trained filters and of three baselines on the pairs held out from each training.

    ``scored`` has a protocol and the table of scored pairs for each training. The baselines: the lexicon; the cosine
    of the two phrases' mean embeddings by the encoder before any training here, exclusive below the threshold that is
    best on the training pairs; and the more frequent label of the training pairs.
    """
    known = Lexicon.load(lexicon)
    prepare(settings.optimisation, seed, "untrained encoder")
    model, _ = pretrained(settings.encoder)
    rows = []
    for protocol, path in scored:
        table = tables.read(path, SCORED).to_pylist()
        learnt, held_out = ([row for row in table if row["part"] == part] for part in (TRAIN, HELD_OUT))
        truth = np.array([row["label"] == EXCLUSIVE for row in held_out])
        common = {
            "kind": held_out[0]["kind"],
            "protocol": protocol,
            "annotators": ", ".join(sorted({name for row in held_out for name in row["annotator"].split(", ")})),
            "trained_on": len(learnt),
        }
        for method, said in verdicts(learnt, held_out, known, model):
            rows.append(common | {"method": method} | measured(said, truth))
    return {"in": len(scored), "out": tables.write(out, WORD_SCORES, rows)}


def verdicts(
    learnt: list[dict], held_out: list[dict], lexicon: Lexicon, model: WordModel
) -> Iterator[tuple[str, np.ndarray]]:
    """What each method says of the held-out pairs: whether they are exclusive, bool [n]."""
    yield "learned", np.array([row["m"] > 0.5 for row in held_out])
    yield "lexicon", np.array([lexicon.exclusive(row["kind"], row["x"], row["y"]) > 0.5 for row in held_out])
    truth = np.array([row["label"] == EXCLUSIVE for row in learnt])
    threshold = best_threshold(cosines(model, learnt), truth)
    yield "cosine", cosines(model, held_out) < threshold
    yield "majority", np.full(len(held_out), truth.mean() > 0.5)


def measured(said: np.ndarray, truth: np.ndarray) -> dict:
    """Accuracy with its interval, and balanced accuracy, of ``said`` (bool [n]) against ``truth`` (bool [n])."""
    right, n = int((said == truth).sum()), len(truth)
    told = share(right, n)
    sides = [float((said[truth == side] == side).mean()) for side in (False, True) if (truth == side).any()]
    return {
        "n": n,
        "right": right,
        "accuracy": told.value,
        "low": told.low,
        "high": told.high,
        "balanced": float(np.mean(sides)) if len(sides) == 2 else None,
    }


def best_threshold(values: np.ndarray, truth: np.ndarray) -> float:
    """The threshold that parts ``values`` [n] best, if pairs below it count as exclusive, as ``truth`` [n] calls them.

    The lowest, where several are equally good.
    """
    order = np.argsort(values, kind="stable")
    values = values[order]
    exclusive = np.concatenate([[0], np.cumsum(truth[order])])
    overlapping = np.concatenate([[0], np.cumsum(~truth[order])])
    right = exclusive + overlapping[-1] - overlapping
    right[1:-1][values[1:] == values[:-1]] = -1  # no threshold parts equal values
    cuts = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    return float(cuts[right.argmax()])


@torch.no_grad()
def cosines(model: WordModel, rows: Sequence[dict]) -> np.ndarray:
    """The cosine of the two phrases' mean token embeddings, float [n]."""
    phrases = sorted({row[side] for row in rows for side in "xy"})
    encoder = model.network.base_model.eval()
    vectors: dict[str, np.ndarray] = {}
    for start in range(0, len(phrases), AT_A_TIME):
        few = phrases[start : start + AT_A_TIME]
        batch = model.batch(model.tokenizer.encode_batch(few))
        mask = batch["attention_mask"][..., None].float()
        mean = (encoder(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)
        vectors |= zip(few, torch.nn.functional.normalize(mean, dim=1).numpy(), strict=True)
    return np.array([vectors[row["x"]] @ vectors[row["y"]] for row in rows])
