"""LXMERT with the head that answers questions about one picture (Tan and Bansal, 2019; CLEVR-HOPE, App. D).

The backbone of :mod:`compvqa.models.lxmert`, which knows a region's place by its four edges alone; its pooled [CLS]
goes through a perceptron to a score for each answer. Each score is told apart from the others: binary cross-entropy, of
which LXMERT takes the mean times the number of classes.

With ``checkpoint`` (LXMERT-p) all layers start from released weights, the last one too: an answer that their list has
(``answers``) starts from its row, any other from zeros. Without (LXMERT-s) all start from random numbers.
"""

from __future__ import annotations

import torch
from pydantic import Field, model_validator
from tokenizers import Tokenizer
from torch import nn
from transformers import LxmertConfig, LxmertForQuestionAnswering
from transformers.models.lxmert.modeling_lxmert import LxmertVisualAnswerHead

from compvqa.errors import InputError
from compvqa.models import lxmert
from compvqa.models.backbone import initialise, released_tokenizer
from compvqa.models.bert_adam import optimizer
from compvqa.models.loss import scored_apart
from compvqa.models.lxmert import EDGES, LxmertSettings
from compvqa.models.single_image import Looking, PictureSettings
from compvqa.models.task import Task
from compvqa.scenes.stream import elements

READS = ("regions",)
POSITIONS = 512  # that BERT has embeddings of, however long texts are
LAST = "logit_fc.3"  # the layer of the head that has a row an answer

__all__ = ["READS", "ModelSettings", "build", "optimizer", "tokenizer"]


class ModelSettings(LxmertSettings, PictureSettings):
    """The size of LXMERT, what it starts from, and its classes."""

    answers: str = Field(
        "", description="file of the answers that the checkpoint's head has rows for (LXMERT's all_ans.json)"
    )
    words: str = Field(
        "",
        description="name or folder of the tokenizer; empty: that of the checkpoint, or one of the train questions",
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="in all layers that are not released")
    initializer_range: float = Field(0.02, gt=0, description="spread of the first weights that are not released")
    longest: int = Field(49, ge=8, le=POSITIONS, description="most tokens of a text")
    unused: int = Field(
        4, ge=0, description="classes besides the train answers, which are no answer (the code: of four special tokens)"
    )

    @model_validator(mode="after")
    def _answers_of_a_checkpoint(self) -> ModelSettings:
        if bool(self.checkpoint) != bool(self.answers):
            raise ValueError("checkpoint and answers belong together: name both or none")
        return self

    def config(self, vocab_size: int, feature_dim: int) -> LxmertConfig:
        """LXMERT's own: layers within layers are four times as wide, and a region's place is its edges."""
        sizes = super().config(vocab_size, feature_dim).to_dict()
        sizes |= {"intermediate_size": 4 * self.hidden_size, "max_position_embeddings": POSITIONS}
        return LxmertConfig(**sizes | {"visual_pos_dim": EDGES})


class LxmertVqa(nn.Module):
    """The backbone over a picture and its question, and a head for the ``answers`` and the ``unused`` classes."""

    def __init__(self, settings: ModelSettings, words: int, dimension: int, answers: int):
        super().__init__()
        self.looking, self.answers = Looking(settings), answers
        self.backbone = lxmert.Backbone(settings, words, dimension)
        self.head = LxmertVisualAnswerHead(self.backbone.lxmert.config, answers + settings.unused)

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
        """Scores ``logits`` [B, answers] of the questions ``input_ids`` [B, L] about a picture each, of the regions
        ``features`` [B, K, D] at the places ``geometry`` [B, K, 5]; and ``loss`` where ``labels`` are given.

        The loss counts the unused classes too; none of them is ever given for an answer. Where pictures are zeroed, all
        have one region of zeros.
        """
        seen = self.looking(features, question_of, len(input_ids))
        if self.looking.zeroed:
            seen, geometry, region_mask = seen[:, :1], 0 * geometry[:, :1], torch.ones_like(region_mask[:, :1])
        pooled, _ = self.backbone(input_ids, attention_mask, seen, geometry, region_mask)
        found = scored_apart(self.head(pooled), labels)
        return found | {"logits": found["logits"][:, : self.answers]}


def build(settings: ModelSettings, task: Task) -> LxmertVqa:
    """A net with random weights, or with released ones."""
    net = LxmertVqa(settings, task.words, task.dimension or 0, len(task.answers))
    if settings.checkpoint:
        net.head.load_state_dict(released_head(settings, task.answers))
    else:
        initialise(net, settings.initializer_range)
    return net


def released_head(settings: ModelSettings, answers: list[str]) -> dict[str, torch.Tensor]:
    """The weights of the released head, its last layer with a row for each of ``answers`` and ``settings.unused`` of
    zeros; InputError where there is no such head, or its answers are not those of the file."""
    found, told = LxmertForQuestionAnswering.from_pretrained(settings.checkpoint, output_loading_info=True)
    weights = found.answer_head.state_dict()
    known = _rows(settings.answers)
    if missing := sorted(name for name in told["missing_keys"] if name.startswith("answer_head.")):
        raise InputError(f"the weights {settings.checkpoint} have no {missing[0]}: take some with a head for answers.")
    for name in (f"{LAST}.weight", f"{LAST}.bias"):
        theirs = weights[name]
        if len(theirs) != len(known):
            raise InputError(
                f"{settings.answers} has {len(known):,} answers, and the head of {settings.checkpoint} has "
                f"{len(theirs):,}: name the list that its head was trained by."
            )
        weights[name] = theirs.new_zeros(len(answers) + settings.unused, *theirs.shape[1:])
        for row, answer in enumerate(answers):
            if answer in known:
                weights[name][row] = theirs[known[answer]]
    return weights


def _rows(path: str) -> dict[str, int]:
    """The row that each answer of a file has: a list of objects with ``ans``, in their order."""
    rows = list(elements(path))
    if not all(isinstance(row, dict) and isinstance(row.get("ans"), str) for row in rows):
        raise InputError(f'{path} is no list of answers, each as {{"ans": "yes"}}: name LXMERT\'s all_ans.json.')
    return {row["ans"]: number for number, row in enumerate(rows)}


def tokenizer(settings: ModelSettings) -> Tokenizer | None:
    """The tokenizer that the settings name, which cuts a text before its [SEP]; None where they name none."""
    name = settings.words or settings.checkpoint
    if not name:
        return None
    found = released_tokenizer(name)
    found.enable_truncation(settings.longest)
    return found
