"""From a model of one image and its question to a model of several (COVR, section 5).

The backbone sees (q, image) for each image; its pooled vectors and a learned [CLS] go through transformer layers
over the images; the [CLS] is classified into the answers seen in training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertEncoder

from compvqa.models.backbone import BackboneSettings, initialise
from compvqa.models.loss import scored
from compvqa.models.task import Task

NEW = ("over_images.", "cls", "classifier.")  # parameters that no released weights give
CLASSIFIER = ("classifier.",)
GROUPS, WIDER = 3, 256  # groups of images in a batch by the length of their questions; one more for so much of width


class MultiImageModel(nn.Module):
    """``backbone`` for each (question, image), transformer layers over the images, a classifier.

    ``backbone`` maps (input_ids [n, L], attention_mask [n, L], features [n, K, D], geometry [n, K, 5], region_mask
    [n, K]) to vectors of the images [n, H] and of their regions [n, K, R], H and R its attributes ``hidden_size`` and
    ``region_size``. Features come as narrow as they are stored: the backbone widens them. Where ``settings.images`` is
    zeroed it sees one image of one region of zeros, however many there are (the text-only baseline VBText).
    """

    def __init__(self, backbone: Any, settings: BackboneSettings, n_answers: int):
        super().__init__()
        hidden = backbone.hidden_size
        self.backbone: Any = backbone
        self.zeroed = settings.images == "zeroed"
        self.over_images = BertEncoder(
            BertConfig(
                hidden_size=hidden,
                num_hidden_layers=settings.image_layers,
                num_attention_heads=settings.heads,
                intermediate_size=self.fed_size(hidden),
                hidden_dropout_prob=settings.dropout,
                attention_probs_dropout_prob=settings.dropout,
                attn_implementation="sdpa",
            )
        )
        self.cls = nn.Parameter(torch.zeros(hidden))
        self.classifier = nn.Linear(hidden, n_answers)
        self.draw(settings.initializer_range)
        self.new = NEW if getattr(settings, "checkpoint", "") else ("",)

    def fed_size(self, hidden: int) -> int:
        """How wide the layers over the images, ``hidden`` wide, are fed forward."""
        return 2 * hidden

    def draw(self, scale: float) -> None:
        """Draw the first weights of what comes after the backbone, ``scale`` being their spread."""
        initialise(self.over_images, scale)
        initialise(self.classifier, scale)
        nn.init.normal_(self.cls, std=scale)

    def start_from(self, weights: Mapping[str, torch.Tensor], words: Mapping[int, int]) -> None:
        """Take the ``weights`` of a pretraining, all but the classifier's (:func:`load_pretrained`)."""
        load_pretrained(self, weights, words)
        self.new = CLASSIFIER

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
        """Scores ``logits`` [B, answers] (and ``loss`` where ``labels`` [B] are given; -100 is ignored).

        ``input_ids`` and ``attention_mask`` [B, L] are the questions; ``features`` [n, K, D] (of any precision),
        ``geometry`` [n, K, 5] and ``region_mask`` [n, K] all their images in a row, without padded images;
        ``question_of`` [n], ascending, tells whose each image is.
        """
        if self.zeroed:
            nothing = features.new_zeros(len(input_ids), 1, features.shape[2])
            place = geometry.new_zeros(len(input_ids), 1, geometry.shape[2])
            mask = region_mask.new_ones(len(input_ids), 1)
            pooled = self.backbone(input_ids, attention_mask, nothing, place, mask)[0]
            question_of = torch.arange(len(input_ids), device=question_of.device)
        else:
            pooled = self.pooled(input_ids, attention_mask, features, geometry, region_mask, question_of)
        return self.answered(pooled, question_of, len(input_ids), labels)

    def answered(
        self, pooled: torch.Tensor, question_of: torch.Tensor, n: int, labels: torch.Tensor | None
    ) -> dict[str, torch.Tensor]:
        """What :meth:`forward` gives for ``n`` questions, of the vectors ``pooled`` [m, H] of their images."""
        rows, mask = self._rows(pooled, question_of, n)
        seen = self.over_images(rows, attention_mask=mask[:, None, None, :]).last_hidden_state[:, 0]
        return scored(self.classifier(seen), labels)

    def pooled(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor,
    ) -> torch.Tensor:
        """The images' vectors [n, H]. On a processor in groups by the length of their questions: words are padded to
        the longest of the group, a third of the work less than to that of the batch. (Batches of one length each learn
        less.) A GPU spends its time on starting kernels, and takes all images at once: three times as fast."""
        lengths = attention_mask.sum(dim=1)[question_of]
        order = torch.argsort(lengths, stable=True)
        parts, groups = [], 1 if order.is_cuda else GROUPS + self.backbone.region_size // WIDER
        for chosen in order.chunk(groups):
            whose, longest = question_of[chosen], int(lengths[chosen[-1]])
            words = input_ids[whose, :longest], attention_mask[whose, :longest]
            parts.append(self.backbone(*words, features[chosen], geometry[chosen], region_mask[chosen])[0])
        return torch.cat(parts)[torch.argsort(order)]

    def _rows(self, pooled: torch.Tensor, question_of: torch.Tensor, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The [CLS] and the pooled vectors of each question [B, 1 + most images, H], and which of them are real."""
        counts = torch.bincount(question_of, minlength=n)
        starts = torch.cumsum(counts, 0) - counts
        place = torch.arange(len(pooled), device=pooled.device) - starts[question_of]
        most = int(counts.max())
        rows = pooled.new_zeros(n, 1 + most, pooled.shape[1])
        rows = rows.index_put((question_of, place + 1), pooled)
        rows = torch.cat([self.cls.to(pooled.dtype).expand(n, 1, -1), rows[:, 1:]], dim=1)
        mask = torch.arange(1 + most, device=pooled.device)[None] <= counts[:, None]
        return rows, mask


def build(backbone: Callable[..., nn.Module], settings: BackboneSettings, task: Task) -> MultiImageModel:
    """The model over a new ``backbone``, which is its class: what the modules of backbones build."""
    return MultiImageModel(backbone(settings, task.words, task.dimension), settings, len(task.answers))


class MatchModel(nn.Module):
    """``backbone`` with a linear head for one image and its text, and one for each region.

    In training, the share ``zeroed`` of the regions, drawn at random, is seen as zeros (COVR, App. B).
    """

    def __init__(self, backbone: Any, settings: BackboneSettings, n_classes: int, zeroed: float = 0.0):
        super().__init__()
        self.backbone: Any = backbone
        self.zeroed = zeroed
        self.head = nn.Linear(backbone.hidden_size, n_classes)
        self.region_head = nn.Linear(backbone.region_size, 1)
        initialise(self.head, settings.initializer_range)
        initialise(self.region_head, settings.initializer_range)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor,
        labels: torch.Tensor | None = None,
        named: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """As :meth:`MultiImageModel.forward`, for texts with one image each; ``logits`` [B, classes].

        ``named`` [n, K] tells which regions the text is about (1 or 0; -1 where it is not known): where given, the
        loss has a second part, the cross-entropy of telling them.
        """
        words = input_ids[question_of], attention_mask[question_of]
        if self.training and self.zeroed:
            features = features * (torch.rand_like(geometry[..., :1]) >= self.zeroed)
        pooled, regions = self.backbone(*words, features, geometry, region_mask)
        result = scored(self.head(pooled), labels)
        if named is not None:
            known = named >= 0
            told = self.region_head(regions).squeeze(2)[known]
            lost = functional.binary_cross_entropy_with_logits(told, named[known], reduction="sum")
            result["loss"] = result["loss"] + lost / known.sum().clamp(min=1)
        return result


class WhichModel(MultiImageModel):
    """:class:`MultiImageModel` with a head for each image, too: whether the text is true of it.

    The head reads what the layers over images give of it: so these learn what to make of single images.
    """

    def __init__(self, backbone: Any, settings: BackboneSettings, n_classes: int):
        super().__init__(backbone, settings, n_classes)
        self.image_head = nn.Linear(backbone.hidden_size, 1)
        initialise(self.image_head, settings.initializer_range)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        features: torch.Tensor,
        geometry: torch.Tensor,
        region_mask: torch.Tensor,
        question_of: torch.Tensor,
        labels: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """As :meth:`MultiImageModel.forward`; where ``present`` [n] tells (1 or 0) which images the text is true of,
        the loss has a second part, the mean cross-entropy of telling them."""
        pooled = self.pooled(input_ids, attention_mask, features, geometry, region_mask, question_of)
        rows, mask = self._rows(pooled, question_of, len(input_ids))
        seen = self.over_images(rows, attention_mask=mask[:, None, None, :]).last_hidden_state
        result = scored(self.classifier(seen[:, 0]), labels)
        if present is not None:
            told = self.image_head(seen[:, 1:][mask[:, 1:]]).squeeze(1)
            result["loss"] = result["loss"] + functional.binary_cross_entropy_with_logits(told, present)
        return result


def load_pretrained(
    model: MultiImageModel | MatchModel,
    weights: Mapping[str, torch.Tensor],
    words: Mapping[int, int],
    new: tuple[str, ...] = CLASSIFIER,
) -> None:
    """Give ``model`` the ``weights`` of another one, all but those whose names begin with one of ``new``.

    ``words`` maps each token id of this model to the one of the other whose embedding it starts from.
    """
    own = model.state_dict()
    embedding = f"backbone.{model.backbone.word_embedding}"
    for name, value in own.items():
        if name == embedding:
            rows = torch.tensor(sorted(words.items()), dtype=torch.long)
            value[rows[:, 0]] = weights[name][rows[:, 1]].to(value.dtype)
        elif not name.startswith(new):
            value.copy_(weights[name])
