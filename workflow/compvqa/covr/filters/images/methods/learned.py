"""Scores by the image filter, each image scored by the model of its fold, which has not seen it (COVR,
App. B)."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer

from compvqa import tables
from compvqa.covr.english import describe
from compvqa.covr.filters.images.asked import ASKED, TREES
from compvqa.covr.filters.images.examples import fold_of
from compvqa.covr.filters.images.presence import PRESENCE, Ask, Knowledge, PresenceSettings
from compvqa.covr.filters.images.relationships import RelationshipModel
from compvqa.covr.filters.images.training import load_relationships
from compvqa.covr.questions.references import matches
from compvqa.covr.subgraphs.subgraph import make, parse
from compvqa.errors import InputError
from compvqa.features.boxes import covered
from compvqa.features.seen import check_unseen
from compvqa.features.store import Regions, RegionStore
from compvqa.files import read_json
from compvqa.models.multi_image import MatchModel
from compvqa.progress import track
from compvqa.query import rebatch
from compvqa.scenes.graph import SceneStore
from compvqa.training.data import collate
from compvqa.training.device import device, narrowed, set_deterministic
from compvqa.training.modules import plugin
from compvqa.weights import load_weights

PART = 32_768  # pairs that are scored and kept together
DIGITS = 4  # of p: far coarser than what the size of a batch changes
NO_FOLD = -1  # of what no model could be asked
Item = tuple[int, Regions]  # subgraph's key, what is seen


def score(
    ask: Ask,
    masked: bool,
    given: Knowledge | None,
    settings: PresenceSettings,
    out: Path,
    counts: Counter[str],
) -> Iterator[pa.RecordBatch]:
    """The rows of the presence table; InputError where a model would be asked about an image that it saw.

    They are made in parts, kept beside ``out`` until all are there: a run that was stopped goes on.
    """
    if given is None:
        raise InputError("presence.method learned needs models and features: name their folders.")
    folder = out.with_name(f".{out.name}.{tables.running()}.parts")
    asked, trees = folder / "asked.parquet", folder / "trees.parquet"
    if not asked.exists():  # it is written last
        folder.mkdir(parents=True, exist_ok=True)
        ask(asked, trees)
    pairs = tables.read(asked, ASKED)
    counts["in"] = len(pairs)
    models = _Folds(given, tables.read(trees, TREES), masked, settings)
    counts["images, none of which its model saw"] = models.check(pairs)
    for start in track(range(0, len(pairs), PART), "presence", unit="part"):
        path = folder / f"part-{start:012d}.parquet"
        if not path.exists():
            tables.write(path, PRESENCE, models.rows(pairs.slice(start, PART)))
    parts = [tables.read(path, PRESENCE) for path in sorted(folder.glob("part-*.parquet"))]
    unasked = sum(int((part["fold"].to_numpy() == NO_FOLD).sum()) for part in parts)
    counts["refused: instances without boxes"] = unasked
    counts["accepted: no regions, or instances without boxes"] = len(pairs) - sum(map(len, parts))
    yield from rebatch((batch for part in parts for batch in part.to_batches()), PRESENCE.fields)
    shutil.rmtree(folder, ignore_errors=True)


class _Folds:
    """The models of the folds, each asked about its own images alone; each is loaded once, when it is first asked."""

    def __init__(self, given: Knowledge, trees: pa.Table, masked: bool, settings: PresenceSettings):
        torch.set_num_threads(settings.threads)
        set_deterministic()
        self.given, self.masked, self.settings = given, masked, settings
        columns = (trees[name].to_pylist() for name in ("subgraph_key", "tree"))
        self.graphs = {key: parse(tree) for key, tree in zip(*columns, strict=True)}
        self.scenes = SceneStore(given.scenes)
        columns = (self.scenes.scenes[name].to_pylist() for name in ("scene_id", "image"))
        self.image_of = dict(zip(*columns, strict=True))
        files = (given.features / "regions.parquet", given.features / "features.safetensors")
        self.most_regions = read_json(given.models / "0" / "model.json")["most_regions"]
        self.store = RegionStore(*files, self.most_regions)
        self.device = device()
        auto = "bfloat16" if self.device.type == "cuda" else "float64"
        self.precision = auto if settings.precision == "auto" else settings.precision
        self.model = lru_cache(maxsize=None)(self._load)
        self.regions = lru_cache(maxsize=1)(self.store.__getitem__)  # pairs come scene by scene

    def check(self, pairs: pa.Table) -> int:
        """The number of images of ``pairs``; InputError where the model of an image's fold, or the encoder of the
        features, where it is one of ours, was trained on it."""
        by_fold = defaultdict(set)
        for scene_id in pairs["scene_id"].unique().to_pylist():
            image = self.image_of[scene_id]
            by_fold[fold_of(image, self.settings.folds)].add(image)
        encoder = self.given.features / "encoder_saw.parquet"
        if encoder.exists():
            check_unseen(encoder, set().union(*by_fold.values()))
        return sum(
            check_unseen(self.given.models / str(fold) / "saw.parquet", by_fold[fold]) for fold in sorted(by_fold)
        )

    def rows(self, pairs: pa.Table) -> pa.Table:
        """Those rows of the presence table that ``pairs`` get."""
        scenes, keys = (pairs[name].to_pylist() for name in ASKED.fields.names)
        p, by_text, folds = *np.full((2, len(pairs)), np.nan), np.full(len(pairs), NO_FOLD, np.int8)
        items: dict[int, dict[int, Item]] = defaultdict(dict)
        for number, (scene_id, key) in enumerate(zip(scenes, keys, strict=True)):
            image = self.image_of[scene_id]
            hidden = self._hidden(scene_id, key, image) if self.masked else []
            if hidden is None:
                p[number] = by_text[number] = 1 if self.settings.without_boxes == "refuse" else np.nan
            elif image in self.store:
                folds[number] = fold_of(image, self.settings.folds)
                items[int(folds[number])][number] = key, _without(self.regions(image), hidden)
        for fold, asked in sorted(items.items()):
            p[list(asked)], by_text[list(asked)] = self._answers(fold, list(asked.values()))
        masked = np.full(len(pairs), self.masked)
        told = (scores.round(DIGITS).astype(np.float32) for scores in (p, by_text))
        columns = [pairs["scene_id"], pairs["subgraph_key"], masked, *told, folds]
        return pa.table(columns, schema=PRESENCE.fields).filter(pa.array(~np.isnan(p)))

    def _hidden(self, scene_id: str, key: int, image: str) -> np.ndarray | list | None:
        """Which regions show annotated instances of the subgraph's root; None where one of these has no box."""
        scene = self.scenes.graph(scene_id)
        boxes = [scene.objects[found].box for found in matches(scene, self.graphs[key])]
        if None in boxes:
            return None
        if not boxes or image not in self.store:
            return []
        settings = self.settings
        return covered(self.store.boxes(image), np.array(boxes), settings.least_overlap, settings.least_covered)

    def _answers(self, fold: int, items: Sequence[Item]) -> tuple[np.ndarray, np.ndarray]:
        """The model's p [n] for ``items``, and what it is by the whole text alone [n]. Of a subgraph with a relation
        that it knows, it is the least of that of each object, by text, and that they are so related."""
        by_text, related = self._by_text(fold, items), self.model(fold)[-1]
        p = by_text.copy()
        if related is None:
            return p, by_text
        told = [row for row, (key, _) in enumerate(items) if related.tells(self.graphs[key])]
        ends: dict[tuple[int, int], Item] = {}
        for key, seen in (items[row] for row in told):
            for thing in self._ends(key):
                ends[thing, id(seen)] = thing, seen
        there = dict(zip(ends, self._by_text(fold, list(ends.values())).tolist(), strict=True))
        size = self.settings.batch_size
        for start in range(0, len(told), size):
            rows = told[start : start + size]
            shown = related.related([(self.graphs[items[row][0]], items[row][1]) for row in rows])
            for row, found in zip(rows, shown.tolist(), strict=True):
                key, seen = items[row]
                p[row] = min(found, *(there[thing, id(seen)] for thing in self._ends(key)))
        return p, by_text

    def _ends(self, key: int) -> list[int]:
        """The keys of the two objects of a subgraph with a relation."""
        things = [_thing(node.name, node.attribute) for _, node in self.graphs[key].objects()]
        self.graphs |= {thing.key: thing for thing in things}
        return [thing.key for thing in things]

    def _by_text(self, fold: int, items: Sequence[Item]) -> np.ndarray:
        """p [n] of ``items`` by the model of texts and images, in batches of texts of like lengths."""
        model, tokenizer, longest, _ = self.model(fold)
        keys = sorted({key for key, _ in items})
        said = tokenizer.encode_batch([describe(self.graphs[key]) for key in keys])
        tokens = {key: encoding.ids[:longest] for key, encoding in zip(keys, said, strict=True)}
        lengths = [(len(tokens[key]), len(seen.features)) for key, seen in items]
        order = sorted(range(len(items)), key=lengths.__getitem__)
        shown: Any = [{"tokens": tokens[items[row][0]], "regions": [items[row][1]], "label": 0} for row in order]
        loader = torch.utils.data.DataLoader(
            shown,
            self.settings.batch_size,
            collate_fn=collate,
            num_workers=self.settings.workers,
            pin_memory=self.device.type == "cuda",
        )
        p = np.zeros(len(items))
        p[order] = np.concatenate([np.zeros(0), *(self._ask(model, batch) for batch in loader)])
        return p

    @torch.no_grad()
    def _ask(self, model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> np.ndarray:
        kind = next(model.parameters()).dtype
        given = {name: value.to(self.device, non_blocking=True) for name, value in batch.items() if name != "labels"}
        given = {name: value.to(kind) if value.is_floating_point() else value for name, value in given.items()}
        with narrowed(self.precision):
            logits = model(**given)["logits"]
        return torch.softmax(logits if kind == torch.float64 else logits.float(), dim=1)[:, 1].double().cpu().numpy()

    def _load(self, fold: int) -> tuple[torch.nn.Module, Tokenizer, int, RelationshipModel | None]:
        """The model of ``fold``, its tokenizer and the most tokens that it takes, and what it knows of relationships.

        In float64, as by default on a processor, no size of a batch leaves a trace in the scores.
        """
        folder = self.given.models / str(fold)
        described = read_json(folder / "model.json")
        known = tuple(described[name] for name in ("dimension", "fold", "most_regions"))
        if known != (self.store.dimension, fold, self.most_regions):
            raise InputError(f"{folder} has no model of fold {fold} for these features: train it again.")
        module = plugin(described["model"])
        settings = module.ModelSettings(**described["settings"])
        tokenizer = Tokenizer.from_str(described["tokenizer"])
        backbone = module.Backbone(settings, tokenizer.get_vocab_size(), self.store.dimension)
        model = MatchModel(backbone, settings, 2)
        weights = load_weights(folder / "model.safetensors")
        related = load_relationships(described, weights)
        model.load_state_dict({name: weights[name] for name in model.state_dict()})
        model = model.to(self.device, torch.float64 if self.precision == "float64" else torch.float32)
        return model.eval(), tokenizer, settings.longest, related


_thing = lru_cache(maxsize=100_000)(make)


def _without(regions: Regions, hidden: np.ndarray | list) -> Regions:
    """The regions with those that are ``hidden`` zeroed."""
    if not np.any(hidden):
        return regions
    return regions._replace(features=regions.features * ~np.asarray(hidden)[:, None])
