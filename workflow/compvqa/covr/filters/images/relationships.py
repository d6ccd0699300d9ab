"""Visual relationship detection (Lu et al., 2016): which two regions of an image are related as a subgraph says.

A model that is only told whether a text is true of an image learns from few images what is in them, but hardly how that
is related, since nobody tells it which regions the text speaks of. Annotated boxes do. Here a region's features tell
its name and attributes, and what two regions seem to be and where they lie tells how they are related.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
import torch
from pydantic import Field
from torch import nn
from torch.nn import functional

from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.features.boxes import match
from compvqa.features.store import Regions, RegionStore
from compvqa.progress import track
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.settings import Settings

NAMED = 12  # numbers that tell, by the names that a region may have, what it may be related by
PLACES = 20  # numbers that tell how two boxes lie
LEAST = 1e-2  # width and height of a box, as a share of the image's
KEPT = 20_000  # images of which it is kept what they show


class RelationshipSettings(Settings):
    """How relationships are learnt."""

    steps: int = Field(1000, ge=1, description="steps of training")
    images: int = Field(32, ge=1, description="images a step")
    learning_rate: float = Field(2e-3, gt=0, description="peak; over the second half it falls to 0")
    size: int = Field(128, ge=1, description="width of the layers that tell relations")
    jitter: float = Field(0.03, ge=0, lt=0.5, description="spread of each edge, as a share of the box's side")


@dataclass(frozen=True)
class Words:
    """The names that are told, each sorted."""

    nouns: Sequence[str]
    attributes: Sequence[str]
    relations: Sequence[str]

    @classmethod
    def of(cls, scenes: Iterable[SceneGraph]) -> Words:
        """All of objects in ``scenes`` that have boxes: no other can be learnt."""
        nouns, attributes, relations = set[str](), set[str](), set[str]()
        for scene in scenes:
            boxed = {key for key, thing in scene.objects.items() if thing.box}
            relations |= {r.name for r in scene.relations if {r.subject_id, r.object_id} <= boxed}
            for key in boxed:
                nouns.add(scene.objects[key].name)
                attributes |= set(scene.objects[key].attributes)
        return cls(sorted(nouns), sorted(attributes), sorted(relations))

    @property
    def numbers(self) -> dict[str, dict[str, int]]:
        """The number of each name, by what it is a name of."""
        return {what: {name: at for at, name in enumerate(names)} for what, names in asdict(self).items()}


@dataclass(frozen=True)
class Shown:
    """Those regions of an image that are of annotated objects, and how these are related."""

    regions: Regions
    nouns: np.ndarray  # int64 [k], numbers of names
    attributes: np.ndarray  # float32 [k, attributes], 1 where it is annotated
    pairs: np.ndarray  # int64 [m, 2], two regions of different objects
    relations: np.ndarray  # int64 [m], 1 + the number of the relation; 0 where none is annotated


class RelationshipModel(nn.Module):
    """Tells the names and attributes of regions by linear layers, and relations by two layers over the names that they
    may have, not those that are asked about, which may be rare ones of the same thing, and over their places."""

    def __init__(self, words: Words, dimension: int, size: int):
        super().__init__()
        self.words, self.number, self.size = words, words.numbers, size
        self.names = nn.Linear(dimension, len(words.nouns))
        self.attributes = nn.Linear(dimension, len(words.attributes))
        self.ends = nn.ModuleList(nn.Linear(len(words.nouns), NAMED, bias=False) for _ in range(2))
        self.scaled = nn.BatchNorm1d(PLACES, affine=False)
        self.often: torch.Tensor  # how often each relation was seen in training
        self.register_buffer("often", torch.zeros(1 + len(words.relations)))
        layers = [nn.Linear(PLACES + 2 * NAMED, size), nn.ReLU(), nn.Linear(size, size), nn.ReLU()]
        self.between = nn.Sequential(*layers, nn.Linear(size, 1 + len(words.relations)))

    def tells(self, subgraph: Subgraph) -> bool:
        """Whether ``subgraph`` is of two objects and one relation, and all of their names are known."""
        things = [node for _, node in subgraph.objects()]
        if len(things) != 2:
            return False
        attributes = {node.attribute for node in things} - {None}
        return (
            subgraph.edges[0].name in self.number["relations"]
            and all(node.name in self.number["nouns"] for node in things)
            and attributes <= self.number["attributes"].keys()
        )

    def forward(self, boxes: torch.Tensor, named: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """The scores [m, 1 + relations] of how ``pairs`` [m, 2] of regions are related that have ``boxes`` [k, 4]
        (left, top, right, bottom) and nouns with the probabilities ``named`` [k, nouns]; the first is for not at all.
        """
        one, other = pairs.unbind(dim=1)
        ends = self.ends[0](named)[one], self.ends[1](named)[other]
        return self.between(torch.cat([self.scaled(places(boxes[one], boxes[other])), *ends], dim=1))

    def loss(self, shown: Sequence[Shown], jitter: float) -> torch.Tensor:
        """What names, attributes and relations of annotated regions lose, each in the mean."""
        starts = np.cumsum([0, *(len(image.nouns) for image in shown)])
        features = torch.from_numpy(np.concatenate([image.regions.features for image in shown])).float()
        names = self.names(features)
        lost = functional.cross_entropy(names, torch.from_numpy(np.concatenate([image.nouns for image in shown])))
        if self.words.attributes:
            attributes = torch.from_numpy(np.concatenate([image.attributes for image in shown]))
            lost = lost + functional.binary_cross_entropy_with_logits(self.attributes(features), attributes)
        pairs = torch.from_numpy(np.concatenate([image.pairs + at for image, at in zip(shown, starts, strict=False)]))
        if len(pairs) > 1:
            boxes = torch.from_numpy(np.concatenate([image.regions.geometry[:, :4] for image in shown]))
            sides = (boxes[:, 2:] - boxes[:, :2]).repeat(1, 2)
            boxes = boxes + jitter * sides * torch.randn_like(boxes)
            relations = torch.from_numpy(np.concatenate([image.relations for image in shown]))
            told = self(boxes, names.detach().softmax(dim=1), pairs)
            lost = lost + functional.cross_entropy(told, relations)
            self.often += torch.bincount(relations, minlength=len(self.often))
        return lost

    @torch.no_grad()
    def related(self, asked: Sequence[tuple[Subgraph, Regions]]) -> np.ndarray:
        """For subgraphs that it tells, each with the regions of an image: how likely two of these are so related, if
        both objects are there; float64 [n].

        The regions that fit the objects best count, and others as far as they fit. It is as likely as if half of the
        images had the relation, as of those that a model of texts learns from. The weights must be of float64.
        """
        found, relations = np.zeros(len(asked)), np.zeros(len(asked), np.int64)
        told: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for row, (subgraph, regions) in enumerate(asked):
            if id(regions) not in told:
                told[id(regions)] = self._told(regions)
            names, attributes, related = told[id(regions)]
            (edge,) = subgraph.edges
            relations[row] = 1 + self.number["relations"][edge.name]
            one, other = (self._shown(node, names, attributes) for node in (subgraph, edge.target))
            fit = one[:, None] * other * (1 - np.eye(len(one)))
            if fit.any():
                found[row] = (fit / fit.max() * related[:, :, relations[row]]).max()
        seen = self.often.numpy() + 1
        share = (seen / seen.sum())[relations]
        return found * (1 - share) / (found * (1 - share) + (1 - found) * share)

    def _told(self, regions: Regions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How likely each region shows each noun [k, nouns] and has each attribute [k, attributes], 0 where it is
        zeroed; and how likely each two are related in each way [k, k, 1 + relations]."""
        features = torch.from_numpy(np.asarray(regions.features, np.float64))
        there, k = features.any(dim=1, keepdim=True), len(features)
        names, attributes = self.names(features).softmax(dim=1), self.attributes(features).sigmoid()
        boxes = torch.from_numpy(regions.geometry[:, :4]).double()
        pairs = torch.cartesian_prod(torch.arange(k), torch.arange(k))
        related = self(boxes, names, pairs).softmax(dim=1).view(k, k, -1)
        return (names * there).numpy(), (attributes * there).numpy(), related.numpy()

    def _shown(self, node: Subgraph, names: np.ndarray, attributes: np.ndarray) -> np.ndarray:
        """How likely each region shows the object ``node``."""
        found = names[:, self.number["nouns"][node.name]]
        return found if node.attribute is None else found * attributes[:, self.number["attributes"][node.attribute]]


def places(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """How boxes ``one`` lie to boxes ``other`` [m, 4] (left, top, right, bottom, as shares of the image): numbers
    [m, PLACES], the same of an image and its mirror image."""
    left, top, right, bottom = one.unbind(dim=1)
    left2, top2, right2, bottom2 = other.unbind(dim=1)
    width, height, width2, height2 = (
        side.clamp(min=LEAST) for side in (right - left, bottom - top, right2 - left2, bottom2 - top2)
    )
    across = torch.minimum(right, right2) - torch.maximum(left, left2)
    down = torch.minimum(bottom, bottom2) - torch.maximum(top, top2)
    shared = across.clamp(min=0) * down.clamp(min=0)
    found = [(left2 + right2 - left - right).abs(), top2 + bottom2 - top - bottom]
    found += [top2 - top, bottom2 - bottom, top2 - bottom, bottom2 - top, bottom, bottom2]
    found += [across, down, across / torch.minimum(width, width2), down / torch.minimum(height, height2)]
    found += [shared / (width * height), shared / (width2 * height2)]
    found += [width, height, width2, height2, (width / width2).log(), (height / height2).log()]
    return torch.stack(found, dim=1)


def what_is_shown(
    scenes: SceneStore, scene_of: Mapping[str, str], store: RegionStore, words: Words
) -> Callable[[str], Shown | None]:
    """What each image shows by the annotation of its scene; None where no region is of anything with a box."""
    number = words.numbers

    def shown(image: str) -> Shown | None:
        scene = scenes.graph(scene_of[image])
        boxes = [({"object_id": key}, thing.box) for key, thing in scene.objects.items() if thing.box]
        found = match(store.boxes(image), boxes) if image in store else []
        at = [row for row, thing in enumerate(found) if thing]
        if not at:
            return None
        keys = [thing["object_id"] for thing in found if thing]
        attributes = np.zeros((len(at), len(words.attributes)), np.float32)
        for row, key in enumerate(keys):
            attributes[row, [number["attributes"][name] for name in scene.objects[key].attributes]] = 1
        seen = store[image]
        regions = Regions(seen.features[at], seen.geometry[at])
        nouns = np.array([number["nouns"][scene.objects[key].name] for key in keys], np.int64)
        return Shown(regions, nouns, attributes, *_related(scene, keys, number["relations"]))

    return lru_cache(maxsize=KEPT)(shown)


def _related(scene: SceneGraph, keys: Sequence[str], number: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of regions [m, 2] of the different objects ``keys``, and how they are related [m], each way once."""
    known = defaultdict(list)
    for relation in scene.relations:
        if relation.name in number:
            known[relation.subject_id, relation.object_id].append(1 + number[relation.name])
    rows = [
        (i, j, relation)
        for i, one in enumerate(keys)
        for j, other in enumerate(keys)
        if one != other
        for relation in known.get((one, other), [0])
    ]
    found = np.array(rows, np.int64).reshape(-1, 3)
    return found[:, :2], found[:, 2]


def train(
    words: Words,
    images: Sequence[str],
    shown: Callable[[str], Shown | None],
    dimension: int,
    settings: RelationshipSettings,
    seed: int,
    what: str,
) -> RelationshipModel:
    """A model trained on what ``images`` show (None: nothing that is annotated), drawn anew for each step. The same for
    the same seed and machine type; torch's own generator must be seeded."""
    net = RelationshipModel(words, dimension, settings.size)
    optimizer = torch.optim.AdamW(net.parameters(), settings.learning_rate)
    half = settings.steps / 2
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (settings.steps - step) / half))
    order = np.random.default_rng(seed)
    for _ in track(range(settings.steps), what, unit="step"):
        drawn = order.choice(len(images), min(settings.images, len(images)), replace=False)
        found = [there for at in drawn.tolist() if (there := shown(images[at])) is not None]
        if found:
            optimizer.zero_grad()
            net.loss(found, settings.jitter).backward()
            optimizer.step()
        rate.step()
    return net.eval()
