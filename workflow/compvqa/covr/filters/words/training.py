"""Fine-tuning of the word filter on labelled pairs of names (COVR, App. A), and what it says of pairs held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import torch

from compvqa import tables
from compvqa.covr.filters.words.labels import EXCLUSIVE, LABELS, RULE
from compvqa.covr.filters.words.model import WordModel, pretrained, scores
from compvqa.covr.filters.words.pairs import DIRECTED
from compvqa.covr.filters.words.settings import WordFilterSettings
from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import by_rank, stable_hash
from compvqa.tables import Schema
from compvqa.training.fit import fit, prepare

SCORED = Schema(
    "scored_pairs",
    pa.schema(
        [
            *LABELS.fields,
            ("part", pa.string()),  # train or held_out
            ("m", pa.float32()),  # what the trained model says
        ]
    ),
    key=LABELS.key,
)
TRAIN, HELD_OUT = "train", "held_out"
Protocol = Literal["pairs", "words"]


@dataclass
class PhrasePairs(torch.utils.data.Dataset):
    """Pairs of phrases as tokens, with a class each; where m is symmetric, an epoch's order is drawn for each pair."""

    model: WordModel
    rows: Sequence[dict]
    lexicon: Lexicon
    seed: int
    epoch: int = field(default=0, init=False)

    def __post_init__(self):
        kind = self.rows[0]["kind"]
        self.classes = [self.model.contradiction if _exclusive(row) else self.model.neutral for row in self.rows]
        xs, ys = ([row[side] for row in self.rows] for side in "xy")
        orders = [(xs, ys)] if DIRECTED[kind] else [(xs, ys), (ys, xs)]
        self.orders = [self.model.encode(kind, *order, self.lexicon) for order in orders]

    def set_epoch(self, epoch: int) -> None:
        """Draw the orders of the epoch with this number."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> tuple:
        order = stable_hash(self.seed, "order", self.epoch, number) % len(self.orders)
        return self.orders[order][number], self.classes[number]

    def collate(self, items: Sequence[tuple]) -> dict[str, torch.Tensor]:
        """A batch, padded to the longest."""
        labels = torch.tensor([number for _, number in items])
        return {"labels": labels} | self.model.batch([encoding for encoding, _ in items])


def sides(rows: Sequence[dict], protocol: Protocol, folds: int, fold: int, seed: int) -> list[str]:
    """The part of each labelled pair when part ``fold`` of ``folds`` is held out: train, held_out, or "" for neither.

    ``pairs``: parts of the pairs; both directions of a relation pair fall into one. ``words``: parts of the words; held
    out are pairs whose words both are, and a pair with one such word is in neither. Derived labels are never held out.
    """
    if protocol == "words":
        words = by_rank(seed, "words held out", sorted({row[side] for row in rows for side in "xy"}))
        out = set(words[fold::folds])
        hidden = [(row["x"] in out) + (row["y"] in out) for row in rows]
    else:
        pairs = by_rank(seed, "pairs held out", sorted({_unordered(row) for row in rows if not _derived(row)}))
        out = set(pairs[fold::folds])
        hidden = [2 * (_unordered(row) in out) for row in rows]
    return [
        TRAIN if not count else HELD_OUT if count == 2 and not _derived(row) else ""
        for row, count in zip(rows, hidden, strict=True)
    ]


def _unordered(row: dict) -> tuple[str, str]:
    return min(row["x"], row["y"]), max(row["x"], row["y"])


def _derived(row: dict) -> bool:
    return row["annotator"].startswith(RULE)


def _exclusive(row: dict) -> bool:
    return row["label"] == EXCLUSIVE


def balanced(rows: Sequence[dict]) -> list[dict]:
    """Oversample the rarer label, if there is any of it: its rows are repeated until both have as many."""
    both = sorted(([row for row in rows if _exclusive(row) == side] for side in (True, False)), key=len)
    rarer, other = both
    return [*rows, *islice(cycle(rarer), len(other) - len(rarer))] if rarer else list(rows)


def train(
    labels: Path,
    lexicon: Path,
    kind: str,
    protocol: Protocol,
    out: Path,
    settings: WordFilterSettings,
    seed: int,
    fold: int = 0,
) -> dict[str, int]:
    """Fine-tune the encoder on the labelled pairs of a kind and score those held out by ``protocol``.

    Writes ``out/{model.safetensors,model.json,history.parquet,scored.parquet}``. Nothing is chosen by the held-out
    pairs unless ``optimisation.keep`` or ``patience`` say so.
    """
    table = tables.read(labels, LABELS)
    rows = table.filter(pc.equal(table["kind"], kind)).to_pylist()
    folds = settings.word_folds if protocol == "words" else settings.pair_folds
    parts = sides(rows, protocol, folds, fold, seed)
    learnt, held_out = ([r for r, part in zip(rows, parts, strict=True) if part == name] for name in (TRAIN, HELD_OUT))
    if not learnt or not held_out:
        raise InputError(f"{labels} has too few labelled {kind}s to hold some out: label more pairs.")
    number = prepare(settings.optimisation, seed, "word filter", kind, protocol, fold)
    model, new = pretrained(settings.encoder)
    known = Lexicon.load(lexicon)
    dev = PhrasePairs(model, held_out, known, number)
    done = fit(
        model.network,
        PhrasePairs(model, balanced(learnt) if settings.balanced else learnt, known, number),
        dev,
        out,
        settings.optimisation,
        number,
        f"word filter of {kind}s",
        [kind, protocol, fold, settings.model_dump_json(), known.data.model_dump_json(), *map(repr, rows)],
        collate=dev.collate,
        right=lambda seen, wanted: (seen.argmax(-1) == model.contradiction) == (wanted == model.contradiction),
        new=new,
    )
    write_json(out / "model.json", model.describe())
    counts = {"in": len(rows), "train": len(learnt), "held out": len(held_out), "steps": int(done["steps"])}
    scored = []
    for part, some in ((TRAIN, learnt), (HELD_OUT, held_out)):
        ms = scores(model, kind, [row["x"] for row in some], [row["y"] for row in some], known).tolist()
        scored += [row | {"part": part, "m": m} for row, m in zip(some, ms, strict=True)]
        right = sum((m > 0.5) == _exclusive(row) for row, m in zip(some, ms, strict=True))
        counts[f"{part} right, per mille"] = round(1000 * right / len(some))
    return counts | {"out": tables.write(out / "scored.parquet", SCORED, scored)}
