"""A module network over the regions of one picture, whose sets of objects are attention: one share for each region.

A question's own program says which modules are applied to what (gold programs): at training and at prediction, so that
such a model is about pictures alone, as CLEVR-HOPE's perfect program generator would have it. A module network in the
manner of Andreas et al. (2016) and Hu et al. (2017), over objects: ``filter`` multiplies the shares by how much each
region is of the word, ``relate`` moves them by what it learnt of two regions' places, ``query`` reads the region that
is left. Nothing but the words of filters and relations and the values that are asked for is learnt. Other functions are
arithmetic: ``intersect`` is a product, ``count`` a sum, ``exist`` that not all shares are nothing.

Modules that are equal, and stand equally deep in their programs, run as one over all questions of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import torch
from pydantic import Field
from torch import nn
from torch.nn import functional

from compvqa.clevr.language import GROUPS, NUMBER, OPERATORS, VALUES
from compvqa.errors import InputError
from compvqa.features.store import GEOMETRY
from compvqa.models.loss import scored
from compvqa.models.single_image import Looking, PictureSettings, Standardised
from compvqa.models.task import Asked, Task
from compvqa.programs.language import TRUTH
from compvqa.programs.rows import from_json

READS = ("regions", "own_programs")
FILTER, RELATE = "filter", "relate"
# The kinds of rows of an encoded program, numbered from 1: functions (filters that follow each other as one), and the
# words of such filters.
WORD = "word"
KINDS = (WORD, FILTER, *(name for name in OPERATORS if not name.startswith("filter_")))
NUMBER_OF = {kind: number for number, kind in enumerate(KINDS, 1)}
KIND, ARGUMENT, ONE, OTHER, DEPTH = range(5)  # columns: inputs are rows of the program, from 1
FILTERS = {f"filter_{group}" for group in GROUPS}
UNKNOWN = 0  # a word of no train program
LITTLE = 1e-6
NEVER = -1e4  # score of an answer of another kind


class ModelSettings(PictureSettings):
    """The sizes of what a region is turned into."""

    longest: int = Field(64, ge=1, description="most tokens of a text, of which it reads none")
    hidden_size: int = Field(64, ge=1, description="width of the layers that a region's features go through")
    layers: int = Field(1, ge=0, description="of these layers; 0: words are told from the features themselves")
    relation_size: int = Field(32, ge=1, description="width of the layer that sees the places of two regions")
    standardised: bool = Field(
        True, description="each number of a feature is brought to mean 0 and spread 1 over the train regions"
    )


def survey(questions: Asked) -> dict[str, list[str]]:
    """The words of filters and the relations in the train programs; their numbers begin after UNKNOWN."""
    rows = {
        (row.operation, word) for text in set(questions.programs) for row in from_json(text) for word in row.arguments
    }
    words = sorted(f"{operation} {word}" for operation, word in rows if operation in FILTERS)
    return {FILTER: words, RELATE: sorted(word for operation, word in rows if operation == RELATE)}


def encoder(task: Task) -> Callable[[str], np.ndarray]:
    """What makes of a program in JSON the rows [P, 5] that the net reads."""
    number = {kind: {word: at for at, word in enumerate(words, 1)} for kind, words in task.survey.items()}
    return lambda text: encoded(text, number)


def encoded(text: str, number: Mapping[str, Mapping[str, int]]) -> np.ndarray:
    """A program as rows of numbers [P, 5], each after those that it takes: its kind, the number of its argument, its
    inputs' rows from 1 (0: none), and how deep it is. InputError where it has a function that CLEVR has not."""
    program = from_json(text)
    rows: list[list[int]] = []
    place: list[int] = []  # of each row of the program in these, from 1
    depth: list[int] = []

    def add(kind: str, argument: int, inputs: Sequence[int]) -> int:
        depth.append(1 + max((depth[one - 1] for one in inputs), default=0))
        rows.append([NUMBER_OF[kind], argument, *inputs, *[0] * (2 - len(inputs)), depth[-1]])
        return len(rows)

    taken = [other for row in program for other in row.dependencies]
    for row in program:
        inputs = [place[other] for other in row.dependencies]
        if row.operation in FILTERS:
            (before,) = row.dependencies
            goes_on = program[before].operation in FILTERS and taken.count(before) == 1
            place.append(inputs[0] if goes_on else add(FILTER, 0, inputs))
            add(WORD, number[FILTER].get(f"{row.operation} {row.arguments[0]}", UNKNOWN), [place[-1]])
        elif row.operation in NUMBER_OF:
            argument = number[RELATE].get(row.arguments[0], UNKNOWN) if row.operation == RELATE else 0
            place.append(add(row.operation, argument, inputs))
        else:
            raise InputError(f"the model clevr.module_net knows no function {row.operation!r}: it is for CLEVR's.")
    return np.array(rows, np.int64)


class Seen:
    """What modules are told of the pictures of a batch, K regions each."""

    def __init__(self, net: ModuleNet, regions: torch.Tensor, places: torch.Tensor, mask: torch.Tensor):
        n, k = mask.shape
        self.real = mask.to(regions.dtype)
        self.words = functional.logsigmoid(net.words(regions)).transpose(1, 2)  # [n, words, K]
        self.values = {group: net.values[group](regions) for group in GROUPS}  # [n, K, answers] each
        both = torch.cat([places[:, :, None].expand(n, k, k, -1), places[:, None].expand(n, k, k, -1)], dim=3)
        others = self.real[:, None] * (1 - torch.eye(k, dtype=regions.dtype, device=mask.device))
        self.related = net.relations(both).sigmoid().permute(0, 3, 1, 2) * others[:, None]  # [n, relations, K, K]
        self.others = others

    def same(self, group: str, pictures: torch.Tensor) -> torch.Tensor:
        """How likely each two regions of these pictures have the same value: [m, K, K]."""
        told = self.values[group][pictures].softmax(dim=2)
        return told @ told.transpose(1, 2) * self.others[pictures]


class Memory:
    """The values of modules that have run, and where each is."""

    def __init__(self, nodes: int):
        self.values: list[torch.Tensor] = []
        self.place, self.many = np.full(nodes, -1), 0

    def add(self, nodes: np.ndarray, values: torch.Tensor) -> None:
        """Keep the values [n, …] of some nodes."""
        self.place[nodes] = np.arange(self.many, self.many + len(nodes))
        self.many += len(nodes)
        self.values.append(values)

    def of(self, nodes: np.ndarray) -> torch.Tensor:
        """The values [n, …] of some nodes."""
        if len(self.values) > 1:
            self.values = [torch.cat(self.values)]
        return self.values[0][torch.from_numpy(self.place[nodes]).to(self.values[0].device)]


class ModuleNet(nn.Module):
    """What regions, words and relations are to the modules, and the modules."""

    def __init__(self, settings: ModelSettings, words: int, relations: int, dimension: int, answers: Sequence[str]):
        super().__init__()
        self.looking = Looking(settings)
        told = dimension + GEOMETRY
        self.standard = Standardised(told) if settings.standardised else None
        sizes = [told, *[settings.hidden_size] * settings.layers]
        layers = [part for pair in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(*pair), nn.ReLU())]
        self.regions = nn.Sequential(*layers)
        self.words = nn.Linear(sizes[-1], 1 + words)
        self.values = nn.ModuleDict({group: nn.Linear(sizes[-1], len(answers)) for group in GROUPS})
        hidden = settings.relation_size
        self.relations = nn.Sequential(nn.Linear(2 * GEOMETRY, hidden), nn.ReLU(), nn.Linear(hidden, 1 + relations))
        self.sharpness = nn.Parameter(torch.tensor(1.0))  # of numbers: how far they are apart that differ by one
        self.numbers = [int(answer) if answer.isdecimal() else -1 for answer in answers]
        self.truths = [answers.index(word) if word in answers else -1 for word in ("no", "yes")]

    def forward(
        self,
        programs: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor | None = None,
        picture_of: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        **text: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Scores ``logits`` [B, answers] of questions whose encoded programs are ``programs`` [B, P, 5], about pictures
        of the regions ``features`` [n, K, D] at the places ``geometry`` [n, K, 5]; ``loss`` where ``labels`` are given.
        Each question has the picture of its own row, or, where ``picture_of`` [B] tells it, shares it with others.
        The ``text`` is not read."""
        regions, places = self.read(self.looking(features, question_of, len(programs)), geometry, region_mask)
        seen = Seen(self, regions, places, region_mask)
        rows = programs.cpu().numpy()
        pictures = np.arange(len(rows)) if picture_of is None else picture_of.cpu().numpy()
        return scored(Run(self, seen, rows, pictures).answers(), labels)

    def read(
        self, features: torch.Tensor, geometry: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The regions [n, K, H] as words and values are told from them: from what is in them, and from how large they
        are and where, without which nothing tells a size. Then their places [n, K, 5], for relations. Padding takes no
        part in what is standard."""
        found = torch.cat([features, geometry], dim=2)
        if self.standard is not None:
            real = mask.bool()
            found = found.masked_scatter(real[..., None], self.standard(found[real]))
        return self.regions(found), found[..., -GEOMETRY:]


Given: TypeAlias = tuple[Memory, torch.Tensor]  # what modules give, and where it is kept


class Run:
    """The modules of a batch's programs [B, P, 5], run over its pictures: each question's row among these is told."""

    def __init__(self, net: ModuleNet, seen: Seen, programs: np.ndarray, pictures: np.ndarray):
        self.net, self.seen, self.pictures = net, seen, pictures
        self.width = programs.shape[1]
        self.rows = programs.reshape(-1, programs.shape[2])
        self.attention, self.single, self.scores = (Memory(len(self.rows)) for _ in range(3))
        self.last = np.arange(len(programs)) * self.width + (programs[..., KIND] > 0).cumsum(axis=1).argmax(axis=1)
        self._filters()
        nodes = np.flatnonzero(self.rows[:, KIND] > NUMBER_OF[WORD])
        keys = self.rows[nodes][:, [DEPTH, KIND]]
        order = np.lexsort((nodes, keys[:, 1], keys[:, 0]))
        ends = np.flatnonzero(np.any(np.diff(keys[order], axis=0), axis=1)) + 1
        for alike in np.split(nodes[order], ends):
            self._run(KINDS[self.rows[alike[0], KIND] - 1], alike)

    def answers(self) -> torch.Tensor:
        """The scores [B, answers] of what the last modules give."""
        net, found, order = self.net, [], []
        for kinds, told in (
            (_giving(TRUTH), self._truths),
            (_giving(NUMBER), self._numbers),
            (_giving(*VALUES.values()), self.scores.of),
        ):
            here = np.flatnonzero(np.isin(self.rows[self.last, KIND], kinds))
            if len(here):
                order.append(here)
                found.append(told(self.last[here]))
        if sum(map(len, order)) < len(self.last):
            raise InputError("a question's program gives objects, which are no answer: correct the dataset.")
        return torch.cat(found)[torch.from_numpy(np.argsort(np.concatenate(order))).to(net.sharpness.device)]

    def _truths(self, nodes: np.ndarray) -> torch.Tensor:
        """Scores of yes and no, by how likely it is that these nodes are true."""
        yes = self.single.of(nodes)
        return self._spread(torch.stack([1 - yes, yes], dim=1).clamp(min=LITTLE).log(), self.net.truths)

    def _numbers(self, nodes: np.ndarray) -> torch.Tensor:
        """Scores of the answers that are numbers, by how far they are from those of these nodes."""
        numbers = torch.tensor(self.net.numbers, device=self.net.sharpness.device)
        away = self.single.of(nodes)[:, None] - numbers
        return (-away.square() * self.net.sharpness.exp()).masked_fill(numbers < 0, NEVER)

    def _spread(self, scores: torch.Tensor, places: Sequence[int]) -> torch.Tensor:
        """Scores [n, some] at their places among all answers, -1 for one that train has not."""
        kept = [number for number, place in enumerate(places) if place >= 0]
        every = scores.new_full((len(scores), len(self.net.numbers)), NEVER)
        if kept:
            every[:, [places[number] for number in kept]] = scores[:, kept]
        return every

    def _filters(self) -> None:
        """Find for each node of filters how much each region is of all its words."""
        rows = np.flatnonzero(self.rows[:, KIND] == NUMBER_OF[WORD])
        nodes = np.flatnonzero(self.rows[:, KIND] == NUMBER_OF[FILTER])
        words = self.seen.words
        of = np.searchsorted(nodes, self._questions(rows) * self.width + self.rows[rows, ONE] - 1)
        told = words[self._seen(rows), self._at(self.rows[rows, ARGUMENT])]
        shares = words.new_zeros(len(nodes), words.shape[2]).index_add(0, self._at(of), told).exp()
        self.shares = Memory(len(self.rows))
        self.shares.add(nodes, shares)

    def _run(self, kind: str, nodes: np.ndarray) -> None:
        """Run the modules of one kind at these nodes, whose inputs have run."""
        inputs = [self._questions(nodes) * self.width + self.rows[nodes, column] - 1 for column in (ONE, OTHER)]
        name, _, group = kind.partition("_")
        module = getattr(self, f"_{kind}", None) or getattr(self, f"_{name}")
        many = len(OPERATORS[kind].inputs) if kind in OPERATORS else 1
        memory, value = module(nodes, group, *inputs[:many])
        memory.add(nodes, value)

    def _scene(self, nodes: np.ndarray, _: str) -> Given:
        return self.attention, self.seen.real[self._seen(nodes)]

    def _filter(self, nodes: np.ndarray, _: str, given: np.ndarray) -> Given:
        return self.attention, self.attention.of(given) * self.shares.of(nodes)

    def _unique(self, _: np.ndarray, __: str, given: np.ndarray) -> Given:
        shares = self.attention.of(given)
        return self.attention, shares / (shares.sum(dim=1, keepdim=True) + LITTLE)

    def _relate(self, nodes: np.ndarray, _: str, given: np.ndarray) -> Given:
        moved = self.seen.related[self._seen(nodes), self._at(self.rows[nodes, ARGUMENT])]
        return self.attention, _moved(self.attention.of(given), moved)

    def _same(self, nodes: np.ndarray, group: str, given: np.ndarray) -> Given:
        return self.attention, _moved(self.attention.of(given), self.seen.same(group, self._seen(nodes)))

    def _union(self, _: np.ndarray, __: str, one: np.ndarray, other: np.ndarray) -> Given:
        return self.attention, torch.maximum(self.attention.of(one), self.attention.of(other))

    def _intersect(self, _: np.ndarray, __: str, one: np.ndarray, other: np.ndarray) -> Given:
        return self.attention, self.attention.of(one) * self.attention.of(other)

    def _count(self, _: np.ndarray, __: str, given: np.ndarray) -> Given:
        return self.single, self.attention.of(given).sum(dim=1)

    def _exist(self, _: np.ndarray, __: str, given: np.ndarray) -> Given:
        return self.single, 1 - (1 - self.attention.of(given)).prod(dim=1)

    def _query(self, nodes: np.ndarray, group: str, given: np.ndarray) -> Given:
        regions = self.seen.values[group][self._seen(nodes)]
        return self.scores, (self.attention.of(given)[:, None] @ regions)[:, 0]

    def _equal(self, _: np.ndarray, __: str, one: np.ndarray, other: np.ndarray) -> Given:
        told = [self.scores.of(nodes).softmax(dim=1) for nodes in (one, other)]
        return self.single, (told[0] * told[1]).sum(dim=1)

    def _equal_object(self, _: np.ndarray, __: str, one: np.ndarray, other: np.ndarray) -> Given:
        return self.single, (self.attention.of(one) * self.attention.of(other)).sum(dim=1)

    def _equal_integer(self, _: np.ndarray, __: str, one: np.ndarray, other: np.ndarray) -> Given:
        away = self.single.of(one) - self.single.of(other)
        return self.single, (-away.square() * self.net.sharpness.exp()).exp()

    def _less_than(self, _: np.ndarray, __: str, one: np.ndarray, other: np.ndarray) -> Given:
        return self.single, self._more(self.single.of(other) - self.single.of(one))

    def _greater_than(self, _: np.ndarray, __: str, one: np.ndarray, other: np.ndarray) -> Given:
        return self.single, self._more(self.single.of(one) - self.single.of(other))

    def _more(self, away: torch.Tensor) -> torch.Tensor:
        """How likely a number is larger than another that is so far below it."""
        return ((away - 0.5) * self.net.sharpness.exp()).sigmoid()

    def _questions(self, nodes: np.ndarray) -> np.ndarray:
        found: np.ndarray = nodes // self.width
        return found

    def _seen(self, nodes: np.ndarray) -> torch.Tensor:
        """The pictures of these nodes."""
        return self._at(self.pictures[self._questions(nodes)])

    def _at(self, places: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(places).to(self.seen.real.device)


def _moved(shares: torch.Tensor, related: torch.Tensor) -> torch.Tensor:
    """Where shares [n, K] come by what each region is related to [n, K, K]."""
    return (shares[:, None] @ related)[:, 0]


def _giving(*types: str) -> list[int]:
    """The numbers of the functions that give a value of these types."""
    return [NUMBER_OF[name] for name in KINDS if name in OPERATORS and OPERATORS[name].output in types]


def build(settings: ModelSettings, task: Task) -> ModuleNet:
    """A net with random weights."""
    words, relations = (len(task.survey[kind]) for kind in (FILTER, RELATE))
    return ModuleNet(settings, words, relations, task.dimension or 0, task.answers)
