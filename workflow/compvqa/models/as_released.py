"""The multi-image model as COVR's released code builds it (benbogin/covr-dataset), where section 5 does not say so.

Questions have five images there. Those that a question lacks are images whose regions are all zeros, and words, regions
and the layers over the images attend to them as to any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from compvqa.errors import InputError
from compvqa.models import multi_image
from compvqa.models.allennlp import Archive
from compvqa.models.backbone import BertSettings
from compvqa.models.multi_image import MultiImageModel
from compvqa.models.task import Task
from compvqa.models.volta import Weights

# What is above the backbone, by our names and by the authors'.
THEIRS = {"over_images.layer.": "agg_fc.", "cls": "img_cls_token", "classifier.": "classifier_layer."}
IMAGES = 5  # of every question; the text-only baseline has one
# What their config calls some of a model's settings.
CALLED = {"max_seq_length": "longest", "classifier_transformer_layers": "image_layers"}
Shown = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


class ReleasedModel(MultiImageModel):
    """A :class:`MultiImageModel` that the released code's weights fit, and that answers as it does.

    ``regions``: how many an image of zeros has. Where ``settings.images`` is zeroed, a question has one such image.
    """

    def __init__(self, backbone: Any, settings: BertSettings, n_answers: int, regions: int):
        super().__init__(backbone, settings, n_answers)
        self.regions, self.settings = regions, settings
        self.dropout = nn.Dropout(settings.dropout)

    def fed_size(self, hidden: int) -> int:
        """The layers over images are fed forward as wide as those of the backbone."""
        return int(self.backbone.fed_size)

    def draw(self, scale: float) -> None:
        """Weights and biases stay as torch draws them, all but the [CLS]."""
        nn.init.normal_(self.cls, std=scale)

    def fine_tuned(self, archive: Archive) -> None:
        """Be the net that the authors fine-tuned and released as ``archive``; InputError where its config tells of
        another."""
        said = {"type": "volta", "classifier_transformer_layers_cls": True}
        said |= {theirs: getattr(self.settings, ours) for theirs, ours in CALLED.items()}
        said |= {"num_images": 0 if self.zeroed else IMAGES}  # so few for the text-only baseline
        for theirs, wanted in said.items():
            if (found := archive.model.get(theirs)) != wanted:
                where = f"set {CALLED[theirs]} to it" if theirs in CALLED else "name another archive"
                raise InputError(f"{archive.path} is of a model with {theirs} {found!r}, not {wanted!r}: {where}.")
        self.take(Weights.of(archive.path, archive.state))

    @torch.no_grad()
    def take(self, weights: Weights) -> None:
        """Take from a fine-tuned net of the authors all that is above its backbone.

        InputError where it lacks a weight, has one of another shape, or has further layers.
        """
        left = {name for name in weights.others if name.startswith(tuple(THEIRS.values()))}
        for name, value in self.state_dict().items():
            ours = next((start for start in THEIRS if name.startswith(start)), None)
            if ours is None:
                continue
            theirs = THEIRS[ours] + name.removeprefix(ours)
            if theirs not in left:
                raise InputError(f"{weights.path} lacks {theirs}: it is no net that COVR's authors fine-tuned.")
            found = weights.others[theirs]
            if found.shape != value.shape:
                shapes = f"{tuple(found.shape)}, not {tuple(value.shape)}"
                raise InputError(
                    f"{weights.path}: {theirs} has the shape {shapes}: name its own answers, and its own size."
                )
            value.copy_(found)
            left.remove(theirs)
        if left:
            raise InputError(f"{weights.path} has {min(left)} besides: set image_layers to as many as it has.")

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
        """As :meth:`MultiImageModel.forward`."""
        n, shown = len(input_ids), (features, geometry, region_mask, question_of)
        if self.zeroed:
            shown = (features[:0], geometry[:0], region_mask[:0], question_of[:0])
        shown = filled(shown, n, 1 if self.zeroed else IMAGES, self.regions)
        pooled = self.dropout(self.pooled(input_ids, attention_mask, *shown))
        return self.answered(pooled, shown[3], n, labels)


def filled(shown: Shown, n: int, images: int, regions: int) -> Shown:
    """The images ``shown`` of ``n`` questions (features, geometry, region_mask and question_of), and as many of zeros
    after those of each question as it lacks of ``images``. These have ``regions`` regions, all real."""
    *columns, question_of = shown
    lacking = (images - torch.bincount(question_of, minlength=n)).clamp(min=0)
    number = torch.arange(n, device=question_of.device)
    whose = torch.cat([question_of, number.repeat_interleave(lacking)])
    order = torch.argsort(whose, stable=True)
    new, most = len(whose) - len(question_of), max(regions, columns[0].shape[1])
    features, geometry, mask = (
        functional.pad(column, (*[0] * (2 * column.dim() - 3), most - column.shape[1], 0, new)) for column in columns
    )
    mask[len(question_of) :, :regions] = 1
    return features[order], geometry[order], mask[order], whose[order]


def build(backbone: Callable[..., nn.Module], settings: BertSettings, task: Task) -> MultiImageModel:
    """The model over a new ``backbone``, which is its class: as released, where the settings say so, or ours."""
    if not settings.as_released:
        return multi_image.build(backbone, settings, task)
    made = backbone(settings, task.words, task.dimension)
    return ReleasedModel(made, settings, len(task.answers), task.most_regions or 0)
