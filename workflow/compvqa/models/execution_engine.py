"""IEP's execution engine (Johnson et al., 2017b), batched over questions: a network of small networks, one a function,
put together for each question as its program says, over the grid of a picture.

A program is a list of tokens in prefix notation (:mod:`compvqa.programs.prefix`), and each token is a function with
convolutions of its own. The released code runs question by question and calls one function at a time; here, of all
questions of a batch, those nodes run together that have the same function and whose inputs are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isqrt

import torch
from pydantic import Field
from torch import nn
from torch.nn import functional

from compvqa.errors import InputError
from compvqa.models.lstm import classifier
from compvqa.programs.prefix import Tree, parsed
from compvqa.settings import Settings


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
        return functional.relu(grid + self.second(functional.relu(self.first(grid))))


class Joined(nn.Module):
    """A function of several grids: they are brought to the width of one, and a block follows."""

    def __init__(self, width: int, inputs: int):
        super().__init__()
        self.join = nn.Conv2d(inputs * width, width, 1)
        self.block = Block(width)

    def forward(self, *grids: torch.Tensor) -> torch.Tensor:
        """Of several times [n, C, S, S], once as many."""
        return self.block(functional.relu(self.join(torch.cat(grids, dim=1))))


@dataclass(eq=False)
class Node:
    """A function's call for a question."""

    question: int
    token: int
    far: int  # how many calls lie between it and the answer
    above: Node | None  # what takes what it gives
    inputs: list[Node] = field(default_factory=list)
    waiting: int = 0  # inputs that are not known yet


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
        roots = [_calls(question, self.tree(tokens)) for question, tokens in enumerate(programs.tolist())]
        known: dict[Node, torch.Tensor] = {}
        for token, together in _schedule(roots):
            if self.inputs[token]:
                given = zip(*(node.inputs for node in together), strict=True)
                grids = [torch.stack([known.pop(node) for node in place]) for place in given]
            else:
                grids = [seen[[node.question for node in together]]]
            known.update(zip(together, self.functions[token](*grids).unbind(), strict=True))
        return torch.stack([known[root] for root in roots])

    def tree(self, tokens: Sequence[int]) -> Tree[int]:
        """What a program means, however malformed."""
        end = tokens.index(self.end) if self.end in tokens else len(tokens)
        return parsed(tokens[:end], self.inputs.__getitem__, self.source)


def _calls(question: int, tree: Tree[int], above: Node | None = None) -> Node:
    """The calls of a question's program; gives the last."""
    node = Node(question, tree.token, 0 if above is None else above.far + 1, above)
    node.inputs = [_calls(question, taken, node) for taken in tree.inputs]
    node.waiting = len(node.inputs)
    return node


def _schedule(roots: Sequence[Node]) -> Iterator[tuple[int, list[Node]]]:
    """The order of all calls, as functions with the calls that run together.

    Of the functions that have calls whose inputs are known, next is the one with a call that is farthest from its
    answer: then few others are left that would have to run without it. On CLEVR's questions these are half as many
    steps as one level of all trees after the other.
    """
    ready: defaultdict[int, list[Node]] = defaultdict(list)
    for node in (node for root in roots for node in _all(root)):
        if not node.waiting:
            ready[node.token].append(node)
    while ready:
        token = max(ready, key=lambda token: (max(node.far for node in ready[token]), len(ready[token]), -token))
        together = ready.pop(token)
        yield token, together
        for above in (node.above for node in together if node.above is not None):
            above.waiting -= 1
            if not above.waiting:
                ready[above.token].append(above)


def _all(node: Node) -> Iterator[Node]:
    yield node
    for taken in node.inputs:
        yield from _all(taken)
