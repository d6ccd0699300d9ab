"""IEP's execution engine (Johnson et al., 2017b), batched over questions: a network of small networks, one a function,
put together for each question as its program says, over the grid of a picture.

A program is a list of tokens in prefix notation (:mod:`compvqa.programs.prefix`), and each token is a function with
convolutions of its own. The released code runs question by question and calls one function at a time; here calls of all
questions of a batch whose inputs are known run together, those of different functions by grouped convolutions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, zip_longest
from math import ceil, isqrt
from typing import cast

import torch
from pydantic import Field
from torch import nn
from torch.nn import functional

from compvqa.errors import InputError
from compvqa.models.lstm import classifier
from compvqa.programs.prefix import Tree, parsed
from compvqa.settings import Settings

Convolves = Callable[[torch.Tensor], torch.Tensor]

ENOUGH = 4  # calls of a function that run as soon as they can, whichever others of it still wait for their inputs


class EngineSettings(Settings):
    """The sizes of an engine."""

    stem: tuple[int, ...] = Field((64,), description="widths of the convolutions before the first of `width`")
    width: int = Field(128, ge=1, description="channels of what a function takes and gives")
    projection: int = Field(512, ge=1, description="channels of the 1x1 convolution before cells are pooled")
    classifier: tuple[int, ...] = Field((1024,), description="widths of the classifier's hidden layers")
    dropout: float = Field(0.0, ge=0, lt=1, description="before each layer of the classifier")


class Block(nn.Module):
    """A function of one grid: two convolutions, and the grid itself added to what they give."""

    def __init__(self, width: int):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, grid: torch.Tensor) -> torch.Tensor:
        """Of grids [n, C, S, S], as many."""
        return with_shortcut(grid, self.first, self.second)


class Joined(nn.Module):
    """A function of several grids: they are brought to the width of one, and a block follows."""

    def __init__(self, width: int, inputs: int):
        super().__init__()
        self.join = nn.Conv2d(inputs * width, width, 1)
        self.block = Block(width)

    def forward(self, *grids: torch.Tensor) -> torch.Tensor:
        """Of several times [n, C, S, S], once as many."""
        return self.block(functional.relu(self.join(torch.cat(grids, dim=1))))


def with_shortcut(grids: torch.Tensor, first: Convolves, second: Convolves) -> torch.Tensor:
    """What a block's two convolutions make of ``grids`` [n, C, S, S], or several blocks' of [n, blocks * C, S, S]."""
    return functional.relu(grids + second(functional.relu(first(grids))))


@dataclass(eq=False)
class Node:
    """A function's call for a question."""

    question: int
    token: int
    far: int  # how many calls lie between it and the answer
    above: Node | None  # what takes what it gives
    inputs: list[Node] = field(default_factory=list)
    waiting: int = 0  # inputs that are calls not run yet


@dataclass(frozen=True)
class Slots:
    """Where calls stand in one grouped convolution: each function has as many slots as its calls fill, all slots have
    the same number of rows, and what is left of a function's last one is empty."""

    tokens: list[int]  # the function of each slot
    calls: list[Node | None]  # row by row

    @classmethod
    def of(cls, calls: Mapping[int, Sequence[Node]]) -> Slots:
        """With as many rows as make it cheapest, where a slot costs about as much as a row more."""
        counts = [len(nodes) for nodes in calls.values()]
        rows = min(sorted({1, *counts}), key=lambda rows: (rows + 1) * sum(ceil(count / rows) for count in counts))
        parts = [(token, nodes[at : at + rows]) for token, nodes in calls.items() for at in range(0, len(nodes), rows)]
        return cls([token for token, _ in parts], [*chain(*zip_longest(*(nodes for _, nodes in parts)))])

    def filled(self, grids: Mapping[Node, Sequence[torch.Tensor]]) -> torch.Tensor:
        """The ``grids`` that each call takes, [C, S, S] each, as [rows, slots * grids * C, S, S]."""
        empty = [torch.zeros_like(grid) for grid in next(grids[node] for node in self.calls if node is not None)]
        given = torch.stack([*chain(*(empty if node is None else grids[node] for node in self.calls))])
        return given.unflatten(0, (-1, len(self.tokens) * len(empty))).flatten(1, 2)

    def opened(self, made: torch.Tensor) -> dict[Node, torch.Tensor]:
        """The grids [C, S, S] of the calls, from [rows, slots * C, S, S]."""
        each = made.unflatten(1, (len(self.tokens), -1)).flatten(0, 1).unbind()
        return {node: grid for node, grid in zip(self.calls, each, strict=True) if node is not None}


@dataclass(frozen=True)
class Step:
    """Calls that run together."""

    calls: list[Node]
    slots: Slots
    joining: dict[int, Slots]  # of those that take several, by how many

    @classmethod
    def of(cls, calls: Mapping[int, Sequence[Node]]) -> Step:
        """Of calls by function."""
        takes = {token: len(nodes[0].inputs) for token, nodes in calls.items()}
        joining = {
            several: Slots.of({token: nodes for token, nodes in calls.items() if takes[token] == several})
            for several in sorted({*takes.values()} - {1})
        }
        return cls([*chain(*calls.values())], Slots.of(calls), joining)


def side_by_side(layers: Mapping[int, nn.Conv2d], slots: Sequence[Slots]) -> Iterator[Convolves]:
    """For each of ``slots`` in turn, the convolutions of its functions, ``layers`` of one shape, beside each other.

    The weights of all slots are looked up at once: one by one they would take longer than small convolutions do.
    """
    if not slots:
        return
    number = {token: at for at, token in enumerate(layers)}
    one = next(iter(layers.values()))
    chosen = torch.tensor([number[token] for each in slots for token in each.tokens], device=one.weight.device)
    weights, biases = (
        functional.embedding(chosen, torch.stack(rows).flatten(1)).split([len(each.tokens) for each in slots])
        for rows in zip(*((layer.weight, cast(torch.Tensor, layer.bias)) for layer in layers.values()), strict=True)
    )
    for weight, bias in zip(weights, biases, strict=True):
        shaped = weight.reshape(-1, *one.weight.shape[1:])
        yield partial(functional.conv2d, weight=shaped, bias=bias.flatten(), padding=one.padding, groups=len(weight))


class Engine(nn.Module):
    """A stem over the picture's cells, a function a token, and a classifier of what the program's first token gives.

    ``inputs`` tells how many each token takes; one that takes none reads the picture, as ``source`` does, which is one
    of them, in the place of any input that a program lacks. Tokens from ``end`` on are not read.
    """

    def __init__(
        self,
        settings: EngineSettings,
        dimension: int,
        cells: int,
        inputs: Sequence[int],
        source: int,
        end: int,
        answers: int,
    ):
        super().__init__()
        self.side, self.inputs, self.source, self.end = isqrt(cells), inputs, source, end
        if self.side**2 != cells or self.side < 2:
            raise InputError(
                f"models with an execution engine look at square grids of 2x2 cells or more, and {cells} regions make "
                "none: write as many cells as its pictures have as most_regions in the file of the model."
            )
        widths = dimension, *settings.stem, settings.width
        layers: list[nn.Module] = []
        for before, after in zip(widths, widths[1:], strict=False):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
        self.stem = nn.Sequential(*layers)
        width = settings.width
        self.functions = nn.ModuleList(Block(width) if takes < 2 else Joined(width, takes) for takes in inputs)
        self.projection = nn.Sequential(
            nn.Conv2d(width, settings.projection, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        pooled = settings.projection * (self.side // 2) ** 2
        self.classifier = classifier(pooled, settings.classifier, answers, settings.dropout)

    def forward(self, picture: torch.Tensor, programs: torch.Tensor) -> torch.Tensor:
        """Scores [B, answers] of the ``programs`` [B, P] on a ``picture`` [B, K, D] each, row by row; InputError where
        its grid is of another size."""
        if picture.shape[1] != self.side**2:
            raise InputError(
                f"the engine was made for {self.side**2} cells a picture, and there are {picture.shape[1]}: write that "
                "as most_regions in the file of the model."
            )
        seen = self.stem(picture.transpose(1, 2).unflatten(2, (self.side, self.side)))
        return self.classifier(self.projection(self._executed(seen, programs)))

    def _executed(self, seen: torch.Tensor, programs: torch.Tensor) -> torch.Tensor:
        """What the programs give [B, C, S, S] on the stem's grids, as many."""
        asked = [_calls(question, self.tree(tokens)) for question, tokens in enumerate(programs.tolist())]
        calls = [*chain(*asked)]
        known = self._looked(seen, calls)
        steps = [Step.of(together) for together in _schedule(calls)]
        first, second = (self._layers(name, [step.slots for step in steps]) for name in ("first", "second"))
        joins = {
            takes: self._layers("join", [step.joining[takes] for step in steps if takes in step.joining])
            for takes in {*chain(*(step.joining for step in steps))}
        }
        for step in steps:
            grids = {node: [known.pop(taken) for taken in node.inputs] for node in step.calls}
            for takes, slots in step.joining.items():
                joined = slots.opened(functional.relu(next(joins[takes])(slots.filled(grids))))
                grids |= {node: [grid] for node, grid in joined.items()}
            known |= step.slots.opened(with_shortcut(step.slots.filled(grids), next(first), next(second)))
        return torch.stack([known[last] for last, *_ in asked])

    def _looked(self, seen: torch.Tensor, calls: Iterable[Node]) -> dict[Node, torch.Tensor]:
        """What the functions give that read the picture, which run once for each question that calls them."""
        looking: defaultdict[int, list[Node]] = defaultdict(list)
        for node in calls:
            if not node.inputs:
                looking[node.token].append(node)
        known: dict[Node, torch.Tensor] = {}
        for token, nodes in looking.items():
            asked = sorted({node.question for node in nodes})
            made = dict(zip(asked, self.functions[token](seen[asked]).unbind(), strict=True))
            known.update((node, made[node.question]) for node in nodes)
        return known

    def _layers(self, name: str, slots: Sequence[Slots]) -> Iterator[Convolves]:
        """For each of ``slots`` in turn, the convolutions called ``name`` of their functions, beside each other."""
        functions = {token: self.functions[token] for token in sorted({*chain(*(each.tokens for each in slots))})}
        within = {
            token: function if name == "join" else getattr(function, "block", function)
            for token, function in functions.items()
        }
        return side_by_side({token: getattr(part, name) for token, part in within.items()}, slots)

    def tree(self, tokens: Sequence[int]) -> Tree[int]:
        """What a program means, however malformed."""
        end = tokens.index(self.end) if self.end in tokens else len(tokens)
        return parsed(tokens[:end], self.inputs.__getitem__, self.source)


def _calls(question: int, tree: Tree[int], above: Node | None = None) -> list[Node]:
    """The calls of a question's program, each before its inputs."""
    node = Node(question, tree.token, 0 if above is None else above.far + 1, above)
    below = [_calls(question, taken, node) for taken in tree.inputs]
    node.inputs = [taken for taken, *_ in below]
    node.waiting = sum(bool(taken.inputs) for taken in node.inputs)
    return [node, *chain(*below)]


def _schedule(calls: Iterable[Node]) -> Iterator[dict[int, list[Node]]]:
    """The order of all calls that have inputs: those that run together, by function.

    Of the functions that have calls whose inputs are known, all run that have the call farthest from its answer, or
    ``ENOUGH`` calls. The others wait for more: on CLEVR's questions these are as few steps as the longest program has,
    and two thirds of the calls of functions that running the trees level by level would make.
    """
    ready: defaultdict[int, list[Node]] = defaultdict(list)
    for node in calls:
        if node.inputs and not node.waiting:
            ready[node.token].append(node)
    while ready:
        far = {token: max(node.far for node in nodes) for token, nodes in ready.items()}
        farthest = max(far.values())
        chosen = [token for token in sorted(ready) if far[token] == farthest or len(ready[token]) >= ENOUGH]
        together = {token: ready.pop(token) for token in chosen}
        yield together
        for above in (node.above for nodes in together.values() for node in nodes if node.above is not None):
            above.waiting -= 1
            if not above.waiting:
                ready[above.token].append(above)
