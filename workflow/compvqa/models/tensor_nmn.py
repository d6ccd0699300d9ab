"""Tensor-NMN, the model of IEP (Johnson et al., 2017b) as CLEVR-HOPE trains it: a generator tells a question's program,
and an engine that is put together by it runs over the grid of the picture.

Training has three phases. The generator is taught the programs of train questions; the engine learns the answers by
these programs; then both learn from answers alone: programs are drawn from the generator, which is told by REINFORCE
how much better than usual each was answered, while the engine learns to answer by them. To answer, the likeliest
program is run, and none is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import torch
from pydantic import Field, model_validator
from torch import nn
from torch.nn import functional

from compvqa.errors import InputError
from compvqa.models.execution_engine import Engine, EngineSettings
from compvqa.models.loss import scored
from compvqa.models.lstm import optimizer
from compvqa.models.lstm_program import END, OTHER, Generator, Programs, Taught, before, right, with_programs
from compvqa.models.single_image import Looking, SingleImageSettings
from compvqa.models.task import Asked, Task, Work
from compvqa.programs.prefix import nodes, tree_of
from compvqa.programs.rows import from_json

READS = ("regions", "programs")
# Tokens that are no function of a train program: END, OTHER, and two that the released code has besides, for padding
# and the start. Where one but END is drawn, it is run as a function of one input, like any other.
SPECIAL = 4

__all__ = ["READS", "ModelSettings", "build", "optimizer", "survey", "train"]


class ModelSettings(EngineSettings, SingleImageSettings):
    """The sizes of both parts, and how the phases share the steps; their learning rates are shares of the engine's."""

    word_size: int = Field(300, ge=1, description="length of the embedding of a word and of a program's token")
    hidden_size: int = Field(256, ge=1, description="width of the generator's LSTMs")
    layers: int = Field(2, ge=1, description="layers of each of them")
    longest_program: int = Field(30, ge=1, description="most tokens of a program that the generator tells")
    program_share: float = Field(0.25, gt=0, lt=1, description="share of the steps, the first, that teach programs")
    engine_share: float = Field(
        0.625,
        gt=0,
        lt=1,
        description="share of the steps, the next, in which the engine learns; both learn in the rest",
    )
    program_rate: float = Field(7.0, gt=0, description="learning rate of the first phase: times the engine's")
    both_rate: float = Field(0.5, gt=0, description="learning rate of the last phase: times the engine's")
    baseline_decay: float = Field(
        0.9, ge=0, lt=1, description="share that stays, a step, of the mean reward to which rewards are compared"
    )

    @model_validator(mode="after")
    def _both_have_steps(self) -> Self:
        if self.program_share + self.engine_share >= 1:
            raise ValueError("program_share and engine_share leave no steps for both: make their sum less than 1")
        return self


class TensorNmn(nn.Module):
    """A generator of programs and an engine that runs them."""

    def __init__(self, settings: ModelSettings, task: Task):
        super().__init__()
        functions, source = task.survey["functions"], task.survey["source"]
        inputs = [1] * SPECIAL + list(functions.values())
        undropped = settings.model_copy(update={"dropout": 0.0})  # so that what is drawn is learnt from
        self.generator = Generator(
            undropped, task.words, len(inputs), settings.longest_program, settings.layers, past=False
        )
        self.looking, self.decay = Looking(settings), settings.baseline_decay
        self.engine = Engine(
            settings, task.dimension or 0, task.most_regions or 0, inputs, SPECIAL + list(functions).index(source), END,
            len(task.answers),
        )  # fmt: skip
        self.baseline: torch.Tensor
        self.register_buffer("baseline", torch.zeros(()))  # the moving mean of rewards, kept where a run is stopped

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor,
        labels: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """Scores ``logits`` [B, answers] of the questions ``input_ids`` [B, L] about a picture each, of the cells
        ``features`` [B, K, D]; and ``loss`` where ``labels`` are given: in training, when programs are drawn, that of
        both parts."""
        picture = self.looking(features, question_of, len(input_ids))
        programs = self.generator.told(input_ids, attention_mask, drawn=self.training)
        found = scored(self.engine(picture, programs), labels)
        if self.training and labels is not None:
            gained = self._gained((found["logits"].argmax(dim=1) == labels).to(self.baseline))
            found["loss"] = found["loss"] + (gained * self._surprise(input_ids, attention_mask, programs)).mean()
        return found

    @torch.no_grad()
    def _gained(self, rewards: torch.Tensor) -> torch.Tensor:
        """By how much ``rewards`` [B] are above their moving mean, which takes them in first."""
        self.baseline.lerp_(rewards.mean(), 1 - self.decay)
        return rewards - self.baseline

    def _surprise(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, programs: torch.Tensor) -> torch.Tensor:
        """The negative log-likelihoods [B] of ``programs`` [B, P], each up to its END."""
        shown = before(programs)
        scores = self.generator(input_ids, attention_mask, shown)
        each = functional.cross_entropy(scores.flatten(0, 1), programs.flatten(), reduction="none").view_as(shown)
        told = shown != END
        told[:, 0] = True
        return (each * told).sum(dim=1)


class Executed(nn.Module):
    """The second phase: an engine that is given the programs."""

    def __init__(self, net: TensorNmn):
        super().__init__()
        self.looking, self.engine = net.looking, net.engine

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor,
        programs: torch.Tensor,
        labels: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """``logits`` [B, answers] of the ``programs`` [B, P], and their ``loss``; else as :class:`TensorNmn`."""
        return scored(self.engine(self.looking(features, question_of, len(programs)), programs), labels)


def survey(questions: Asked) -> dict[str, Any]:
    """The ``functions`` in the programs of the train questions, by alphabet, with how many inputs each takes, and the
    ``source``, the most frequent of those that take none; InputError where one takes now more, now less."""
    calls: dict[str, int] = {}
    inputs: dict[str, int] = {}
    for text in questions.programs:
        for node in nodes(tree_of(from_json(text))):
            calls[node.token] = calls.get(node.token, 0) + 1
            if inputs.setdefault(node.token, len(node.inputs)) != len(node.inputs):
                raise InputError(
                    f"the function {node.token} takes {len(node.inputs)} inputs in one program and another number in "
                    "another: tensor_nmn has functions of one number of inputs each; choose another model."
                )
    source = max((token for token, takes in inputs.items() if not takes), key=lambda token: (calls[token], token))
    return {"functions": dict(sorted(inputs.items())), "source": source}


def build(settings: ModelSettings, task: Task) -> TensorNmn:
    """A net with random weights."""
    return TensorNmn(settings, task)


def train(job: Work) -> dict[str, float]:
    """Teach the generator, then the engine, then both.

    The phases are ``program``, whose accuracy is the share of programs that are right as a whole, ``engine``, whose
    answers are by the questions' own programs, and ``joint``.
    """
    settings = job.model_settings
    number = {token: at for at, token in enumerate(job.task.survey["functions"], SPECIAL)}
    parts = [(job.examples(asked), _tokens(asked.programs, number)) for asked in (job.learnt, job.held_out)]
    unseen = [Programs(replace(shown, store=None), [[*row, END] for row in tokens]) for shown, tokens in parts]
    job.fit(
        Taught(job.net.generator), *unseen, phase="program", right=right,
        settings=job.settings.part(settings.program_share, settings.program_rate),
        collate=partial(with_programs, job.collate),
    )  # fmt: skip
    job.fit(
        Executed(job.net), *(Programs(*part) for part in parts), phase="engine",
        settings=job.settings.part(settings.engine_share),
        collate=partial(with_programs, job.collate, column="programs", padding=END),
    )  # fmt: skip
    left = 1 - settings.program_share - settings.engine_share
    done = job.fit(
        job.net, *(shown for shown, _ in parts), phase="joint", settings=job.settings.part(left, settings.both_rate)
    )
    job.gather("program", "engine", "joint")
    return done


def _tokens(programs: Sequence[str], number: dict[str, int]) -> list[list[int]]:
    """The numbers of the programs' tokens, in prefix notation."""
    trees = (tree_of(from_json(text)) for text in programs)
    return [[number.get(node.token, OTHER) for node in nodes(tree)] for tree in trees]
