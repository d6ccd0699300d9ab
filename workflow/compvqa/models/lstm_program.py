"""An LSTM that is first taught the programs of questions, and then answers from a question and the program that it
reads in it: two phases of training, without an image.

The first phase is that of a program generator in the manner of IEP (Johnson et al., 2017b): from the question's last
state a second LSTM tells the operators of its program one after the other, taught by those of the train questions. In
the second phase the generator stays as it is; a reader of the operators that it tells, the likeliest at each step, and
one of the question learn to answer. Beside :mod:`compvqa.models.lstm` it tells what the structure of a question alone
gives away; no program is read when it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from pydantic import Field
from torch import nn
from torch.nn import functional

from compvqa.models import lstm
from compvqa.models.loss import UNKNOWN_LABEL, scored
from compvqa.models.lstm import Reader, classifier, optimizer
from compvqa.models.task import Asked, Task, Work
from compvqa.programs.rows import from_json, walk

READS = ("programs",)
END, OTHER = 0, 1  # tokens: after the last operator and before the first; an operator of no train program

__all__ = ["READS", "ModelSettings", "build", "optimizer", "survey", "train"]


class ModelSettings(lstm.ModelSettings):
    """As for the LSTM, with how long programs are taught."""

    program_share: float = Field(0.5, gt=0, lt=1, description="share of the steps, the first, that teach programs")
    longest_program: int = Field(48, ge=1, description="most operators of a program")


class Generator(nn.Module):
    """From a question to the operators of its program, one after the other, by an LSTM of so many ``layers``, which the
    question's state goes ``past`` or not."""

    def __init__(
        self, settings: lstm.ModelSettings, words: int, operators: int, most: int, layers: int = 1, past: bool = True
    ):
        super().__init__()
        self.most, self.past = most, past  # most: operators that it tells of a program
        sizes = settings.word_size, settings.hidden_size, settings.layers, settings.dropout
        self.reader = Reader(words, *sizes)
        self.operators = nn.Embedding(operators, settings.word_size)
        self.lstm = nn.LSTM(settings.word_size + settings.hidden_size, settings.hidden_size, layers, batch_first=True)
        # By default the question's state goes past it: through a small one alone, too little comes to learn from.
        self.next = nn.Linear((1 + past) * settings.hidden_size, operators)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """Scores of the operator after each of those ``before`` it [B, P, operators]."""
        question = self.reader(input_ids, attention_mask)
        return self._steps(question, before, None)[0]

    def _steps(
        self, question: torch.Tensor, before: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        told = question[:, None].expand(-1, before.shape[1], -1)
        states, state = self.lstm(torch.cat([self.operators(before), told], dim=2), state)
        return self.next(torch.cat([states, told], dim=2) if self.past else states), state

    @torch.no_grad()
    def told(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, drawn: bool = False) -> torch.Tensor:
        """The likeliest operators [B, P], each after those before it, or such as are ``drawn`` by how likely they are;
        END from the end of a program on."""
        question = self.reader(input_ids, attention_mask)
        last = input_ids.new_full((len(input_ids), 1), END)
        going, state = torch.ones_like(last, dtype=torch.bool), None
        found: list[torch.Tensor] = []
        while going.any() and len(found) < self.most:
            scores, state = self._steps(question, last, state)
            chosen = scores[:, 0].softmax(dim=1).multinomial(1) if drawn else scores.argmax(dim=2)
            last = chosen.masked_fill(~going, END)
            going = going & (last != END)
            found.append(last)
        return torch.cat(found, dim=1)


class LstmProgram(nn.Module):
    """A generator of programs, and readers of the question and of what it tells."""

    def __init__(self, settings: ModelSettings, words: int, operators: int, answers: int):
        super().__init__()
        sizes = settings.word_size, settings.hidden_size, settings.layers, settings.dropout
        self.generator = Generator(settings, words, operators, settings.longest_program)
        self.question, self.program = Reader(words, *sizes), Reader(operators, *sizes)
        self.classifier = classifier(2 * settings.hidden_size, settings.classifier, answers, settings.dropout)

    def train(self, mode: bool = True) -> LstmProgram:
        """As any net; but the generator, which is taught by then, drops nothing out."""
        super().train(mode)
        self.generator.eval()
        return self

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        """Scores ``logits`` [B, answers] of the questions ``input_ids`` [B, L], and ``loss`` where labels are given."""
        told = self.generator.told(input_ids, attention_mask)
        real = (told != END).long()
        real[:, 0] = 1  # where no operator is told, END itself is read
        read = torch.cat([self.question(input_ids, attention_mask), self.program(told, real)], dim=1)
        return scored(self.classifier(read), labels)


class Taught(nn.Module):
    """The first phase: a generator that is shown the operators before the one that it is to tell."""

    def __init__(self, generator: Generator):
        super().__init__()
        self.generator = generator

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """The ``loss`` of the operators ``labels`` [B, P] (-100: padding), and for ``logits`` those it tells [B, P]."""
        scores = self.generator(input_ids, attention_mask, before(labels.clamp(min=END)))
        loss = functional.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=UNKNOWN_LABEL)
        return {"loss": loss, "logits": scores.argmax(dim=2)}


def before(operators: torch.Tensor) -> torch.Tensor:
    """What comes before each of the ``operators`` [B, P] of programs."""
    return torch.cat([operators.new_full((len(operators), 1), END), operators[:, :-1]], dim=1)


@dataclass(frozen=True)
class Programs(torch.utils.data.Dataset):
    """Questions with the operators of their programs for labels."""

    questions: torch.utils.data.Dataset
    operators: Sequence[Sequence[int]]

    def __len__(self) -> int:
        return len(self.operators)

    def __getitem__(self, number: int) -> Mapping:
        return self.questions[number] | {"operators": self.operators[number]}


def survey(questions: Asked) -> dict[str, list[str]]:
    """The operators in the programs of the train questions; their numbers begin after OTHER."""
    return {"operators": sorted({row.operation for text in questions.programs for row in walk(from_json(text))})}


def build(settings: ModelSettings, task: Task) -> LstmProgram:
    """A net with random weights."""
    return LstmProgram(settings, task.words, OTHER + 1 + len(task.survey["operators"]), len(task.answers))


def train(job: Work) -> dict[str, float]:
    """Teach the programs, then, with a generator that stays as it is, the answers.

    The phases are ``program``, whose accuracy is the share of programs that are right as a whole, and ``answer``.
    """
    settings = job.model_settings
    number = {name: at for at, name in enumerate(job.task.survey["operators"], OTHER + 1)}
    taught = [
        Programs(job.examples(asked), _operators(asked.programs, number, settings.longest_program))
        for asked in (job.learnt, job.held_out)
    ]
    share = settings.program_share
    job.fit(
        Taught(job.net.generator), *taught,
        phase="program", settings=job.settings.part(share), collate=partial(with_programs, job.collate), right=right,
    )  # fmt: skip
    job.net.generator.requires_grad_(False)
    shown = [job.examples(asked) for asked in (job.learnt, job.held_out)]
    done = job.fit(job.net, *shown, phase="answer", settings=job.settings.part(1 - share))
    job.gather("program", "answer")
    return done


def right(told: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Which programs [n] are told as a whole: by the operators ``told`` and ``wanted`` [n, P], each after right
    ones."""
    return ((told == wanted) | (wanted == UNKNOWN_LABEL)).all(axis=1)


def _operators(programs: Sequence[str], number: Mapping[str, int], most: int) -> list[list[int]]:
    """The numbers of the programs' operators, then END, up to ``most``."""
    rows = ([number.get(row.operation, OTHER) for row in walk(from_json(text))] for text in programs)
    return [[*row, END][:most] for row in rows]


def with_programs(
    questions: Callable[[Sequence], dict],
    items: Sequence[Mapping],
    column: str = "labels",
    padding: int = UNKNOWN_LABEL,
) -> dict[str, torch.Tensor]:
    """A batch of :class:`Programs`, of whose ``questions`` that makes one: ``column`` is their operators [B, P]."""
    rows = [torch.tensor(item["operators"]) for item in items]
    return questions(items) | {column: nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)}
