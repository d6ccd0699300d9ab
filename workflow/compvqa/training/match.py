"""Pretraining of a backbone on single images and simple subgraphs of them.

The per-image half of every question, taught first: a tiny model that starts from the questions themselves stays near
the text-only baseline. Two objectives, in the manner of VisualBERT's own (sentence-image match and masked words): how
often is this subgraph in this image (and, as in phrase grounding, which regions show its root), and which name is
masked in this subgraph of it. Uses train scenes alone; some of them are held out to tell how well it went.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field
from tokenizers import Tokenizer

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.boxes import annotated_boxes, match
from compvqa.features.encoder import read_vocabulary
from compvqa.features.store import MOST_REGIONS, RegionStore
from compvqa.graphs.subgraph import Subgraph, parse
from compvqa.graphs.tables import CANDIDATES, OCCURRENCES, SEEDS, SUBGRAPHS
from compvqa.programs.text import describe
from compvqa.progress import track
from compvqa.scenes.tables import OBJECTS, SCENES
from compvqa.seeds import by_rank, generator
from compvqa.settings import Settings
from compvqa.training.data import MASK, UNKNOWN, Examples, examples, word_tokenizer
from compvqa.training.fit import OptimisationSettings, fit, prepare
from compvqa.training.loop import plugin, write_json

KINDS = ("object", "attribute", "relation", "larger")
NOT_NEGATIVE = ("pos", "no_mult")  # keys of candidates that contain the subgraph
TRIES = 20


class MatchOptimisation(OptimisationSettings):
    """As for questions, with what suits pretraining: no weights are chosen, since what is held out is easier."""

    epochs: float = Field(99, gt=0, description="passes over the examples")
    most_steps: int = Field(3000, ge=0, description="end after so many steps; 0: no such end")
    batch_size: int = Field(64, ge=1, description="examples a step")
    evaluations: int = Field(4, ge=1, description="times that the held-out examples are looked at, in each phase")
    patience: int = Field(0, ge=0, description="stop after so many looks without a better accuracy; 0: never")
    decay: float = Field(0.4, ge=0, le=1, description="share of the steps, at a phase's end, over which the rate falls")
    keep: Literal["best", "last"] = Field("last", description="weights to keep: best on held-out examples, or the last")

    def part(self, share: float) -> MatchOptimisation:
        """These settings for a phase of that ``share`` of the steps."""
        steps = max(1, round(share * self.most_steps)) if self.most_steps else 0
        return self.model_copy(update={"epochs": share * self.epochs, "most_steps": steps})


class MatchSettings(Settings):
    """The examples of pretraining and the training on them."""

    optimisation: MatchOptimisation = Field(MatchOptimisation(), description="steps and learning rate")
    objects_first: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="share of the steps that sees single objects alone: names and attributes come first",
    )
    most_count: int = Field(4, ge=1, description="tell 0, 1, … up to so many or more instances; 1: only whether any")
    largest: int = Field(3, ge=1, description="nodes of a subgraph, at most; 3: one relation")
    most_attributes: int = Field(2, ge=0, description="attributes of a subgraph, at most")
    most_per_kind: int = Field(
        20_000, ge=1, description="positive examples of objects, of attributes and of relations, at most"
    )
    rounds: int = Field(2, ge=1, description="times that each positive example is used, each time with other negatives")
    hard: float = Field(0.8, ge=0, le=1, description="share of negatives that differ in one node, where there are any")
    plural: float = Field(0.4, ge=0, le=1, description="share of texts in the plural")
    masked: float = Field(0.0, ge=0, le=1, description="masked-word examples for each positive example")
    filler: int = Field(
        5, ge=0, description="unknown words before a text, at most: where the words of questions start from"
    )
    held_out: float = Field(0.05, gt=0, lt=0.5, description="share of the train images that choose the weights")
    most_regions: int = Field(MOST_REGIONS, ge=1, le=MOST_REGIONS, description="regions an image that models see")


@dataclass(frozen=True)
class Pair:
    """A text with an image, and how many instances of the text's subgraph are in it or the name masked in the text."""

    kind: str
    text: str
    image: str
    label: int | str
    named: tuple[str, ...] = ()  # the objects that the text is about


def pretrain(
    model: str,
    subgraphs: Sequence[Path],
    occurrences: Sequence[Path],
    seeds: Sequence[Path],
    candidates: Sequence[Path],
    scenes: Path,
    regions: Path,
    features: Path,
    encoder: Path | None,
    out: Path,
    model_settings: Settings,
    settings: MatchSettings,
    seed: int,
) -> dict[str, int]:
    """Teach the backbone of ``model`` to match images and simple subgraphs (at most two objects, one relation, one
    attribute); write ``out/{model.safetensors,model.json,history.csv}``, where question models start from.

    Positives are occurrences in train scenes, negatives the candidates of their subgraph (one node differs) and
    scenes without it, both only of scenes with boxes: one without tells a single event, and absence there means
    little. ``scenes`` is the scenes table, that of the objects beside it. Where ``encoder`` names the words of feature
    columns, these start from the words' embeddings (the detector's tags as anchors, as in Oscar, Li et al., 2020).
    The counts tell accuracy on held-out train images, by kind.
    """
    number = prepare(settings.optimisation, seed, "pretrain", model)
    store = RegionStore(regions, features, settings.most_regions)
    maker = _Maker(_known(subgraphs, occurrences, scenes, settings), _distractors(seeds, candidates), settings, seed)
    learnt, held_out = maker.pairs()
    tokenizer = word_tokenizer(pair.text for pair in learnt)
    names = sorted({pair.label for pair in learnt if isinstance(pair.label, str)})
    classes: list[int | str] = [*range(settings.most_count + 1), *names]
    made = plugin(model).build_match(model_settings, tokenizer.get_vocab_size(), len(classes), store.dimension)
    if encoder is not None:
        made.backbone.anchor(_columns(read_vocabulary(encoder).words, tokenizer))
    objects_of = _objects_of(scenes, store)
    objects = [[pair for pair in pairs if pair.kind in KINDS[:2]] for pairs in (learnt, held_out)]
    recipe = [model, model_settings.model_dump_json(), settings.model_dump_json(), tables.recipe_of(regions)]
    phases = ((out / "objects", objects, settings.objects_first), (out, [learnt, held_out], 1 - settings.objects_first))
    for folder, both, share in phases:
        done = fit(
            made,
            *(_examples(pairs, classes, tokenizer, store, objects_of, model_settings.longest) for pairs in both),
            folder,
            settings.optimisation.part(share),
            number,
            f"pretrain {model}",
            [*recipe, *both[0]],
            right=lambda scores, labels: right(scores, labels, settings.most_count + 1),
        )
    shutil.rmtree(out / "objects")
    described = {
        "model": model,
        "settings": model_settings.model_dump(),
        "dimension": store.dimension,
        "tokenizer": tokenizer.to_str(),
    }
    write_json(out / "model.json", described)
    counts = {"in": len(learnt), "held out": len(held_out), "steps": int(done["steps"])}
    return counts | {"held-out accuracy, per mille": round(1000 * done["accuracy"])}


def _columns(words: Sequence[str], tokenizer: Tokenizer) -> dict[int, list[int]]:
    """The columns of features that stand for ``words`` the tokenizer knows, and these words' tokens."""
    tokens = (tokenizer.encode(word, add_special_tokens=False).ids for word in words)
    return {column: ids for column, ids in enumerate(tokens) if tokenizer.token_to_id(UNKNOWN) not in ids}


def _examples(
    pairs: Sequence[Pair],
    classes: Sequence[int | str],
    tokenizer: Tokenizer,
    store: RegionStore,
    objects_of: dict[str, list[str | None]],
    longest: int,
) -> Examples:
    number = {label: at for at, label in enumerate(classes)}
    labels = [number.get(pair.label, -100) for pair in pairs]
    images = [[pair.image] for pair in pairs]
    named = [shown(pair, objects_of[pair.image]) for pair in pairs]
    return examples([pair.text for pair in pairs], images, labels, tokenizer, store, longest, named)


def shown(pair: Pair, objects: Sequence[str | None]) -> list[int]:
    """Whether the text of ``pair`` is about each of an image's regions, given the object in each; -1 for all where
    it is about an object that no region shows, or where that is not told."""
    if pair.label != 0 and not set(pair.named) & set(objects):
        return [-1] * len(objects)
    return [int(name in pair.named) for name in objects]


def _objects_of(scenes: Path, store: RegionStore) -> dict[str, list[str | None]]:
    """The annotated object in each region of every image; ``scenes`` is the scenes table."""
    known = annotated_boxes(scenes.parent)
    found = {
        row["image"]: match(store.boxes(row["image"]), known[row["scene_id"]])
        for row in tables.read(scenes, SCENES, ["scene_id", "image"]).to_pylist()
    }
    return {image: [thing and thing["object_id"] for thing in things] for image, things in found.items()}


def right(scores: np.ndarray, labels: np.ndarray, counts: int) -> np.ndarray:
    """Which examples are right, by their ``scores`` [n, classes], of which the first ``counts`` are numbers of
    instances: whether there is any, or the masked name itself."""
    present = (scores[:, :counts].argmax(axis=1) > 0) == (labels > 0)
    named = scores[:, counts:].argmax(axis=1) + counts == labels if scores.shape[1] > counts else present
    return np.where(labels < counts, present & (labels >= 0), named)


@dataclass(frozen=True)
class _Known:
    """What is annotated in train images: the simple subgraphs, and which instances of each are where."""

    trees: dict[int, tuple[str, str]]  # subgraph key → tree, kind
    roots: dict[int, dict[str, tuple[str, ...]]]  # subgraph key → image → the objects that are roots of instances
    images: list[str]
    dense: frozenset[str]  # images whose objects are annotated with boxes
    image_of: dict[str, str]  # scene id → image


def _known(subgraphs: Iterable[Path], occurrences: Iterable[Path], scenes: Path, settings: MatchSettings) -> _Known:
    table = tables.read(scenes, SCENES, ["scene_id", "image", "split"])
    table = table.filter(pc.equal(table["split"], "train"))
    image_of = dict(zip(table["scene_id"].to_pylist(), table["image"].to_pylist(), strict=True))
    trees = {
        row["subgraph_key"]: (row["tree"], _kind(row["size"], row["n_attributes"]))
        for path in subgraphs
        for row in tables.read(path, SUBGRAPHS).to_pylist()
        if row["size"] <= settings.largest and row["n_attributes"] <= settings.most_attributes
    }
    wanted, kept = pa.array(sorted(trees), pa.int64()), pa.array(sorted(image_of), pa.string())
    roots: dict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for path in track(occurrences, "occurrences", unit="file"):
        rows = tables.read(path, OCCURRENCES, ["scene_id", "subgraph_key", "root_id"])
        rows = rows.filter(pc.and_(pc.is_in(rows["subgraph_key"], wanted), pc.is_in(rows["scene_id"], kept)))
        grouped = rows.group_by(["scene_id", "subgraph_key"]).aggregate([("root_id", "distinct")])
        for scene, key, ids in zip(*(column.to_pylist() for column in grouped.columns), strict=True):
            roots[key][image_of[scene]] = tuple(sorted(ids))
    if not roots:
        raise InputError(f"no train scene of {scenes} has a subgraph: pretraining needs train scenes.")
    objects = tables.read(scenes.with_name("objects.parquet"), OBJECTS, ["scene_id", "x"])
    boxed = pc.unique(objects.filter(pc.is_valid(objects["x"]))["scene_id"]).to_pylist()
    dense = frozenset(image_of[scene] for scene in boxed if scene in image_of)
    return _Known(trees, roots, sorted(image_of.values()), dense, image_of)


def _kind(size: int, n_attributes: int) -> str:
    """One object, one with an attribute, two objects, or more."""
    return KINDS[min(n_attributes, 1)] if size == 1 else KINDS[2 if size == 3 else 3]


def _distractors(seeds: Iterable[Path], candidates: Iterable[Path]) -> dict[int, dict[str, set[str]]]:
    """For each subgraph, by the node that differs, the scenes that differ from it in that node."""
    key_of: dict[int, int] = {}
    for path in seeds:
        rows = tables.read(path, SEEDS, ["seed", "subgraph_key"])
        key_of.update(zip(rows["seed"].to_pylist(), rows["subgraph_key"].to_pylist(), strict=True))
    found: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in candidates:
        rows = tables.read(path, CANDIDATES, ["seed", "key", "scene_id"])
        rows = rows.filter(pc.invert(pc.is_in(rows["key"], pa.array(NOT_NEGATIVE))))
        for seed, key, scene in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            found[key_of[seed]][key].add(scene)
    return found


class _Maker:
    """Makes the examples: each positive with one negative of the same text, so that the text tells nothing."""

    def __init__(self, known: _Known, distractors: dict[int, dict[str, set[str]]], settings: MatchSettings, seed: int):
        self.known, self.settings, self.seed = known, settings, seed
        ranked = by_rank(seed, "held-out image", sorted(set(known.images)))
        self.apart = set(ranked[: max(1, round(settings.held_out * len(ranked)))])
        told = [image for image in known.images if image in known.dense]
        self.sides = {side: [image for image in told if (image in self.apart) == side] for side in (True, False)}
        self.distractors = {key: self._usable(key, found) for key, found in distractors.items() if key in known.roots}

    def _usable(self, key: int, found: dict[str, set[str]]) -> dict[bool, list[list[str]]]:
        """The images to draw negatives of a subgraph from, on each side, a list for each kind of node that differs."""
        kinds: dict[str, set[str]] = defaultdict(set)
        for node, scenes in found.items():
            images = {self.known.image_of[scene] for scene in scenes if scene in self.known.image_of}
            kinds[node.rpartition("_")[2]] |= (images & self.known.dense) - self.known.roots[key].keys()
        rows = [sorted(kinds[kind]) for kind in sorted(kinds)]
        sides = {
            side: [[image for image in row if (image in self.apart) == side] for row in rows] for side in (True, False)
        }
        return {side: [row for row in rows if row] for side, rows in sides.items()}

    def pairs(self) -> tuple[list[Pair], list[Pair]]:
        """The examples to learn from and those held out."""
        by_kind: dict[str, list[tuple[int, str]]] = {kind: [] for kind in KINDS}
        for key, images in sorted(self.known.roots.items()):
            by_kind[self.known.trees[key][1]] += [(key, image) for image in sorted(images)]
        learnt: list[Pair] = []
        held_out: list[Pair] = []
        for kind, positives in by_kind.items():
            chosen = by_rank(self.seed, f"positive {kind}", positives)[: self.settings.most_per_kind]
            for key, image in track(chosen, f"{kind} examples"):
                apart = image in self.apart
                for number in range(1 if apart else self.settings.rounds):
                    (held_out if apart else learnt).extend(self._some(key, kind, image, number))
        return learnt, held_out

    def _some(self, key: int, kind: str, image: str, number: int) -> list[Pair]:
        """A positive, a negative on the same side of the hold-out where one is found, and perhaps a masked positive."""
        draw = generator(self.seed, "match", key, image, number)
        subgraph = parse(self.known.trees[key][0])
        plural = draw.random() < self.settings.plural
        text = self._filled(describe(subgraph, number="plural" if plural else "singular"), draw)
        roots = self.known.roots[key][image]
        found = [Pair(kind, text, image, min(len(roots), self.settings.most_count), roots)]
        other = self._negative(key, image in self.apart, draw)
        if other is not None:
            found.append(Pair(kind, text, other, 0))
        if draw.random() < self.settings.masked:
            masked, name = mask(subgraph, draw)
            found.append(Pair(kind, self._filled(describe(masked), draw), image, name))
        return found

    def _filled(self, text: str, draw: Random) -> str:
        """``text`` after some unknown words, and perhaps before one."""
        before = draw.randint(0, self.settings.filler)
        after = draw.randint(0, min(1, self.settings.filler))
        return " ".join([UNKNOWN] * before + [text] + [UNKNOWN] * after)

    def _negative(self, key: int, apart: bool, draw: Random) -> str | None:
        near = self.distractors.get(key, {}).get(apart)
        if near and draw.random() < self.settings.hard:
            return draw.choice(draw.choice(near))
        for _ in range(TRIES):
            image = draw.choice(self.sides[apart])
            if image not in self.known.roots[key]:
                return image
        return None


def mask(subgraph: Subgraph, draw: Random) -> tuple[Subgraph, str]:
    """``subgraph`` with one of its names masked, and that name."""
    choices = list(_masked(subgraph))
    return choices[draw.randrange(len(choices))]


def _masked(subgraph: Subgraph) -> Iterator[tuple[Subgraph, str]]:
    """``subgraph`` with each of its nouns, attributes and relations masked in turn."""
    yield replace(subgraph, name=MASK), subgraph.name
    if subgraph.attribute is not None:
        yield replace(subgraph, attribute=MASK), subgraph.attribute
    for number, edge in enumerate(subgraph.edges):
        inside = ((replace(edge, target=target), name) for target, name in _masked(edge.target))
        for changed, name in chain([(replace(edge, name=MASK), edge.name)], inside):
            edges = (*subgraph.edges[:number], changed, *subgraph.edges[number + 1 :])
            yield replace(subgraph, edges=edges), name
