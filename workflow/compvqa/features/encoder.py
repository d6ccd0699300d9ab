"""A small learned encoder of image regions, trained like the head of a bottom-up-attention detector.

A few convolutions over each region's pixels give a vector, from which the name and the attributes of the object in
it are predicted. A region's feature holds these predictions, one column a word, and then the vector itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from compvqa import tables
from compvqa.features.settings import EncoderSettings
from compvqa.progress import track
from compvqa.seeds import stable_hash
from compvqa.weights import load_metadata, load_weights

SHAPE = 4  # numbers that tell a region's place and shape to the encoder


@dataclass(frozen=True)
class Vocabulary:
    """The words that the encoder tells: the nouns, and the attributes by group."""

    nouns: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]

    @property
    def words(self) -> list[str]:
        """All words in the order of the columns of a feature."""
        return [*self.nouns, *(word for group in self.groups for word in group)]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The columns of the nouns, and those of each group of attributes: in each, one word is true."""
        ends = np.cumsum([len(self.nouns), *map(len, self.groups)]).tolist()
        return list(zip([0, *ends[:-1]], ends, strict=True))


@dataclass(frozen=True)
class Labels:
    """What the annotation says of regions."""

    names: np.ndarray  # int64 [n], numbers of nouns, -100 where unknown
    attributes: np.ndarray  # float32 [n, A]: within each group the annotated ones share 1, all 0 where none is known
    vocabulary: Vocabulary


class RegionEncoder(nn.Module):
    """Convolutions over a region's pixels, its shape joined in, a projection to a vector, and a head for all words."""

    def __init__(self, settings: EncoderSettings, vocabulary: Vocabulary):
        super().__init__()
        self.vocabulary = vocabulary
        first, second, third = settings.channels
        self.convolutions = nn.Sequential(
            *_block(3, first, 5), *_block(first, second, 3), *_block(second, third, 3), nn.Flatten()
        )
        side = settings.pixels // 8
        self.projection = nn.Linear(third * side * side + SHAPE, settings.dimension)
        self.norm = nn.LayerNorm(settings.dimension, elementwise_affine=False)
        self.dropout = nn.Dropout(settings.dropout)
        self.head = nn.Linear(settings.dimension, len(vocabulary.words))

    def forward(self, pixels: torch.Tensor, shape: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The scores [n, words] and vectors [n, dimension] of regions with ``pixels`` [n, 3, S, S], 0 to 255, and
        ``shape`` float [n, 4]."""
        seen = self.convolutions(pixels.float() / 127.5 - 1)
        vector = self.norm(self.projection(torch.cat([seen, shape], dim=1)))
        return self.head(self.dropout(vector)), vector

    def features(self, pixels: torch.Tensor, shape: torch.Tensor) -> torch.Tensor:
        """Features [n, words + dimension]: the probability of each noun and, within its group, of each attribute; then
        the vector, about as long."""
        scores, vector = self(pixels, shape)
        parts = [functional.softmax(scores[:, start:end], dim=1) for start, end in self.vocabulary.spans]
        return torch.cat([*parts, vector / vector.shape[1] ** 0.5], dim=1)


def _block(inside: int, outside: int, kernel: int) -> list[nn.Module]:
    convolution = nn.Conv2d(inside, outside, kernel, padding=kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outside), nn.ReLU(), nn.MaxPool2d(2)]


def shapes(boxes: np.ndarray, size: tuple[float, float]) -> np.ndarray:
    """Width, height, aspect and lower edge of ``boxes`` [k, 4] in an image of ``size``: float32 [k, 4], -1 to 1."""
    width, height = boxes[:, 2] / size[0], boxes[:, 3] / size[1]
    bottom = (boxes[:, 1] + boxes[:, 3]) / size[1]
    shape = np.stack([2 * width - 1, 2 * height - 1, np.log(width / height).clip(-2, 2) / 2, 2 * bottom - 1], axis=1)
    return shape.astype(np.float32)


def fit(
    pixels: np.ndarray, shape: np.ndarray, labels: Labels, settings: EncoderSettings, seed: int
) -> tuple[RegionEncoder, dict[str, float]]:
    """An encoder trained to tell the labels of regions, and its share of right names and attributes on the last
    quarter of its training steps. The same bytes for the same input, seed and machine type.
    """
    torch.set_num_threads(settings.threads)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(stable_hash(seed, "region encoder"))
    encoder = RegionEncoder(settings, labels.vocabulary)
    optimizer = torch.optim.AdamW(encoder.parameters(), settings.learning_rate, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.learning_rate, settings.steps, pct_start=0.1)
    known = np.flatnonzero((labels.names >= 0) | (labels.attributes.sum(axis=1) > 0))
    order = np.random.default_rng(stable_hash(seed, "region batches") & 0xFFFFFFFF)
    tally = _Tally(settings.steps * 3 // 4)
    for step in track(range(settings.steps), "region encoder", unit="step"):
        chosen = order.choice(known, min(settings.batch_size, len(known)), replace=False)
        seen = _varied(torch.from_numpy(pixels[chosen]), settings, order)
        scores, _ = encoder(seen, torch.from_numpy(shape[chosen]))
        loss = _loss(scores, labels, chosen, settings.label_smoothing)
        tally.add(step, scores, labels, chosen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return encoder.eval(), tally.shares()


def _varied(pixels: torch.Tensor, settings: EncoderSettings, draw: np.random.Generator) -> torch.Tensor:
    """``pixels`` [n, 3, S, S] each zoomed into somewhere and perhaps mirrored: else the few annotated regions are
    learnt by heart, and features tell of train images what they do not tell of others."""
    n = len(pixels)
    sizes = 1 - settings.zoom * draw.random((n, 2))
    mirrored = np.where(settings.flip & (draw.random(n) < 0.5), -1, 1)
    views = np.zeros((n, 2, 3), np.float32)
    views[:, 0, 0], views[:, 1, 1] = sizes[:, 0] * mirrored, sizes[:, 1]
    views[:, :, 2] = (1 - sizes) * draw.uniform(-1, 1, (n, 2))
    grid = functional.affine_grid(torch.from_numpy(views), list(pixels.shape), align_corners=False)
    return functional.grid_sample(pixels.float(), grid, padding_mode="border", align_corners=False)


def _loss(scores: torch.Tensor, labels: Labels, chosen: np.ndarray, smoothing: float) -> torch.Tensor:
    """Cross-entropy of the name plus that of each group of attributes, where they are annotated."""
    (_, nouns), *groups = labels.vocabulary.spans
    names = torch.from_numpy(labels.names[chosen])
    known = (names >= 0).sum().clamp(min=1)
    loss = functional.cross_entropy(scores[:, :nouns], names, label_smoothing=smoothing, reduction="sum") / known
    for start, end in groups:
        target = torch.from_numpy(labels.attributes[chosen, start - nouns : end - nouns])
        loss = loss - (target * functional.log_softmax(scores[:, start:end], dim=1)).sum() / len(chosen)
    return loss


class _Tally:
    """Counts right predictions from a given step on."""

    def __init__(self, start: int):
        self.start = start
        self.right = {"name": 0, "attribute": 0}
        self.asked = {"name": 0, "attribute": 0}

    def add(self, step: int, scores: torch.Tensor, labels: Labels, chosen: np.ndarray) -> None:
        if step < self.start:
            return
        guesses = scores.detach().numpy()
        (_, nouns), *groups = labels.vocabulary.spans
        names = labels.names[chosen]
        self._add("name", (guesses[:, :nouns].argmax(axis=1) == names)[names >= 0])
        for start, end in groups:
            truth = labels.attributes[chosen, start - nouns : end - nouns]
            best = guesses[:, start:end].argmax(axis=1)
            asked = truth.sum(axis=1) > 0
            self._add("attribute", truth[np.arange(len(best)), best][asked] > 0)

    def _add(self, what: str, right: np.ndarray) -> None:
        self.right[what] += int(right.sum())
        self.asked[what] += len(right)

    def shares(self) -> dict[str, float]:
        return {what: self.right[what] / max(self.asked[what], 1) for what in self.right}


@torch.no_grad()
def encode(encoder: RegionEncoder, pixels: np.ndarray, shape: np.ndarray, batch: int = 512) -> np.ndarray:
    """The features [n, D] (float32) of regions, by an encoder in evaluation mode."""
    parts = [
        encoder.features(torch.from_numpy(pixels[at : at + batch]), torch.from_numpy(shape[at : at + batch])).numpy()
        for at in range(0, len(pixels), batch)
    ]
    return np.concatenate(parts)


def save(encoder: RegionEncoder, path: Path) -> None:
    """Write the encoder's weights as safetensors, its words in the file's metadata."""
    recipe = {tables.RECIPE.decode(): tables.running()}  # within the one entry: the order of several is not kept
    words = {"nouns": encoder.vocabulary.nouns, "groups": encoder.vocabulary.groups, **recipe}
    weights = {name: value.contiguous() for name, value in encoder.state_dict().items()}
    with tables.replacing(path) as temporary:
        save_file(weights, temporary, {"vocabulary": json.dumps(words, ensure_ascii=False)})


def load(path: Path, settings: EncoderSettings) -> RegionEncoder:
    """The encoder that :func:`save` wrote, in evaluation mode."""
    encoder = RegionEncoder(settings, read_vocabulary(path))
    encoder.load_state_dict(load_weights(path))
    return encoder.eval()


def read_vocabulary(path: Path) -> Vocabulary:
    """The words of the encoder at ``path``."""
    words = json.loads(load_metadata(path)["vocabulary"])
    return Vocabulary(tuple(words["nouns"]), tuple(map(tuple, words["groups"])))
