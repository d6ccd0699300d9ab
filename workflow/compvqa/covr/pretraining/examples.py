"""The examples of pretraining: which simple subgraphs are in which images, and in which not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from compvqa import tables
from compvqa.covr.english import describe
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.covr.subgraphs.tables import CANDIDATES, OCCURRENCES, SEEDS, SUBGRAPHS
from compvqa.errors import InputError
from compvqa.features.boxes import annotated_boxes
from compvqa.progress import track
from compvqa.scenes.tables import SCENES
from compvqa.seeds import by_rank, generator
from compvqa.settings import Settings
from compvqa.training.data import MASK, UNKNOWN

KINDS = ("object", "attribute", "relation", "larger")
ONE_NODE = r"^\d+_[a-z]+$"  # keys of candidates that differ from the subgraph in one node
TRIES = 20


class MatchExamples(Settings):
    """Which examples pretraining is made of."""

    most_count: int = Field(4, ge=1, description="tell 0, 1, … up to so many or more instances; 1: only whether any")
    counted: Literal["all", "plain", "none"] = Field(
        "none",
        description="of which subgraphs instances, and images that have them, are counted: all; plain: those without "
        "attributes; or none; of others it is told whether there are any. Splits that hold something about numbers out "
        "are no tests of a model that was pretrained to count",
    )
    which: bool = Field(True, description="with several images, tell too which of them have the subgraph")
    most_images: int = Field(5, ge=2, description="images of an example of several, at most (paper: 5)")
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
    held_out: float = Field(0.05, gt=0, lt=0.5, description="share of the train images that tell how well it went")

    def counts(self, subgraph: Subgraph) -> bool:
        """Whether instances of a subgraph are counted; else it is told whether there are any."""
        return self.counted == "all" or (self.counted == "plain" and not subgraph.n_attributes)

    def classes(self, most: int) -> int:
        """The number of labels of counts up to ``most``: these, and where not all are counted, one for any number."""
        return most + 1 + (self.counted != "all")


@dataclass(frozen=True)
class Match:
    """A text with images, and what is to be told: with one image, how many instances of the text's subgraph are in it
    or the name masked in the text; with several, how many of them have an instance, and which (``present``). Where not
    ``counted``, the label for any number stands for each but none."""

    kind: str
    text: str
    images: tuple[str, ...]
    label: int | str
    named: tuple[str, ...] = ()  # the objects of a single image that the text is about
    tree: str = ""  # the text's subgraph as JSON, a masked name masked
    counted: bool = True
    present: tuple[bool, ...] = ()  # of several images: which have an instance; empty where that is not to be told

    def about(self, objects: Sequence[str | None]) -> list[int]:
        """For the ``objects`` in an image's regions, whether the text is about each; -1 for all where it is about one
        that no region shows, or where that is not told."""
        if self.label != 0 and not set(self.named) & set(objects):
            return [-1] * len(objects)
        return [int(name in self.named) for name in objects]


@dataclass(frozen=True)
class Known:
    """What is annotated in train images: the simple subgraphs, and which instances of each are where."""

    trees: dict[int, tuple[str, str]]  # subgraph key → tree, kind
    roots: dict[int, dict[str, tuple[str, ...]]]  # subgraph key → image → the objects that are roots of instances
    images: list[str]
    dense: frozenset[str]  # images whose objects are annotated with boxes
    image_of: dict[str, str]  # scene id → image


def read_known(subgraphs: Iterable[Path], occurrences: Iterable[Path], scenes: Path, settings: MatchExamples) -> Known:
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
    boxed = annotated_boxes(scenes.parent)
    dense = frozenset(image for scene, image in image_of.items() if scene in boxed)
    return Known(trees, roots, sorted(image_of.values()), dense, image_of)


def _kind(size: int, n_attributes: int) -> str:
    """One object, one with an attribute, two objects, or more."""
    return KINDS[min(n_attributes, 1)] if size == 1 else KINDS[2 if size == 3 else 3]


def read_distractors(seeds: Iterable[Path], candidates: Iterable[Path]) -> dict[int, dict[str, set[str]]]:
    """For each subgraph, by the node that differs, the scenes that differ from it in that node."""
    key_of: dict[int, int] = {}
    for path in seeds:
        rows = tables.read(path, SEEDS, ["seed", "subgraph_key"])
        key_of.update(zip(rows["seed"].to_pylist(), rows["subgraph_key"].to_pylist(), strict=True))
    found: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in candidates:
        rows = tables.read(path, CANDIDATES, ["seed", "key", "scene_id"])
        rows = rows.filter(pc.match_substring_regex(rows["key"], ONE_NODE))
        for seed, key, scene in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            found[key_of[seed]][key].add(scene)
    return found


class Matches:
    """Makes the examples. Each text comes with images that have its subgraph and with others, so that the text alone
    tells nothing."""

    def __init__(self, known: Known, distractors: dict[int, dict[str, set[str]]], settings: MatchExamples, seed: int):
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

    def single(self) -> tuple[list[Match], list[Match]]:
        """Examples of one image each, to learn from and held out."""
        learnt: list[Match] = []
        held_out: list[Match] = []
        for kind, key, image in self._positives("positive"):
            apart = image in self.apart
            for number in range(1 if apart else self.settings.rounds):
                (held_out if apart else learnt).extend(self._some(key, kind, image, number))
        return learnt, held_out

    def several(self) -> tuple[list[Match], list[Match]]:
        """Examples of several images each, to learn from and held out."""
        learnt: list[Match] = []
        held_out: list[Match] = []
        for kind, key, image in self._positives("several"):
            apart = image in self.apart
            found = self._mixed(key, kind, apart, generator(self.seed, "several", key, image))
            if found is not None:
                (held_out if apart else learnt).append(found)
        return learnt, held_out

    def _positives(self, what: str) -> Iterator[tuple[str, int, str]]:
        """Kind, subgraph key and image of at most so many positives of each kind."""
        by_kind: dict[str, list[tuple[int, str]]] = {kind: [] for kind in KINDS}
        for key, images in sorted(self.known.roots.items()):
            by_kind[self.known.trees[key][1]] += [(key, image) for image in sorted(images)]
        for kind, positives in by_kind.items():
            chosen = by_rank(self.seed, f"{what} {kind}", positives)[: self.settings.most_per_kind]
            yield from ((kind, key, image) for key, image in track(chosen, f"{kind}: {what}"))

    def _some(self, key: int, kind: str, image: str, number: int) -> list[Match]:
        """A positive, a negative on the same side of the hold-out where one is found, and perhaps a masked positive."""
        draw = generator(self.seed, "match", key, image, number)
        tree = self.known.trees[key][0]
        subgraph = parse(tree)
        text = self._text(subgraph, draw)
        roots = self.known.roots[key][image]
        counted, most = self.settings.counts(subgraph), self.settings.most_count
        label = min(len(roots), most) if counted else most + 1
        found = [Match(kind, text, (image,), label, roots, tree, counted)]
        other = self._negative(key, image in self.apart, draw)
        if other is not None:
            found.append(Match(kind, text, (other,), 0, tree=tree, counted=counted))
        if draw.random() < self.settings.masked:
            masked, name = mask(subgraph, draw)
            found.append(Match(kind, self._filled(describe(masked), draw), (image,), name, tree=masked.json()))
        return found

    def _mixed(self, key: int, kind: str, apart: bool, draw: Random) -> Match | None:
        """Two or more images on one side of the hold-out, some with the subgraph; None where too few are found."""
        wanted = draw.randint(2, self.settings.most_images)
        has = [image for image in sorted(self.known.roots[key]) if (image in self.apart) == apart]
        tree = self.known.trees[key][0]
        counted, which = self.settings.counts(parse(tree)), self.settings.which
        most = draw.randint(0, wanted) if counted or which else draw.randint(0, 1) and draw.randint(1, wanted)
        images = draw.sample(has, min(len(has), most))
        label = len(images) if counted or not images else self.settings.most_images + 1
        for _ in range(TRIES):
            other = self._negative(key, apart, draw) if len(images) < wanted else None
            if other is not None and other not in images:
                images.append(other)
        draw.shuffle(images)
        text = self._text(parse(tree), draw)
        present = tuple(image in self.known.roots[key] for image in images) if which else ()
        found = Match(kind, text, tuple(images), label, tree=tree, counted=counted, present=present)
        return found if len(images) > 1 else None

    def _text(self, subgraph: Subgraph, draw: Random) -> str:
        plural = draw.random() < self.settings.plural
        return self._filled(describe(subgraph, number="plural" if plural else "singular"), draw)

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
