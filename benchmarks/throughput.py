"""Samples a second of the loop that trains question models, beside the way of COVR's released code.

    python benchmarks/throughput.py FOLDER --testbed results/covr-sprites
    python benchmarks/throughput.py FOLDER --testbed results/covr-sprites --size base --steps 6 --batch 4

The questions are a test-bed's; their images get 36 regions of 2,048 random numbers. One model is trained four times,
from the same weights on the same batches. The first way is the released loop's: five images of 36 regions in float32
for each question, whose text is tokenised in forward, once for each image, and padded to 60 tokens; all layers are
computed for all tokens, and attention, layer norm and activation in single operations, as VOLTA computes them; AdamW
goes from weight to weight, operation by operation (released: huggingface_adamw). The second has our way to compute the
same layers, and our AdamW. The third pads to the longest text of the batch besides (the released code does). The last
is the workflow's own loop. Images that are padded in are masked, else the losses could not be compared (the released
code attends to them). Where other work shares the machine, compare CPU time. FOLDER keeps the features: 150 KB an
image.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filter_gpu import Clocked, made_store
from measure import print_table
from tokenizers import Tokenizer

from compvqa.models import visualbert
from compvqa.models.backbone import waves
from compvqa.models.loss import scored
from compvqa.models.multi_image import MultiImageModel
from compvqa.training import fit as fitting
from compvqa.training.data import Examples, collate, examples, read_questions, word_tokenizer
from compvqa.training.fit import OptimisationSettings, fit, prepare

MOST_IMAGES, LONGEST = 5, 60  # images and tokens of a question, as released
SIZES = {
    "small": {"hidden_size": 128, "layers": 2, "heads": 4},
    "base": {"hidden_size": 768, "layers": 12, "heads": 12, "initializer_range": 0.02},
}
OURS = "this workflow"
REGIONS = 36  # to which the released code pads an image
TARGET = "2.0"  # times as many samples a second
Batch = dict[str, torch.Tensor | list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the store of features is made and kept")
    parser.add_argument("--testbed", type=Path, required=True, help="folder with dataset/ and scenes/")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=12, help="questions a step (released: 12)")
    parser.add_argument("--images", type=int, default=1000, help="images in the store")
    parser.add_argument("--workers", type=int, default=1, help="processes that load data (released: 1)")
    parser.add_argument("--warm-up", type=int, default=5, help="first steps that do not count")
    options = parser.parse_args()
    options.warm_up = min(options.warm_up, options.steps // 2)
    texts, asked, tokenizer = read_examples(options)
    ways = {
        "released": Released(tokenizer, LONGEST, whole=True),
        f"{LONGEST} tokens": Released(tokenizer, LONGEST),
        "longest text": Released(tokenizer, 0),
    }
    runs = [trained(name, Texts(texts, asked), way, options) for name, way in ways.items()]
    runs.append(trained(OURS, asked, None, options))
    report(runs, options)


def read_examples(options: argparse.Namespace) -> tuple[list[str], Examples, Tokenizer]:
    """The train questions of the test-bed, with random features: their texts, what our loop reads, their tokenizer."""
    store = made_store(options.folder / f"{options.images}-float16", options.images, "float16")
    scenes = options.testbed / "scenes/scenes.parquet"
    asked = read_questions(options.testbed / "dataset/questions.parquet", scenes, None, ["train"])
    tokenizer = word_tokenizer(asked.texts)
    classes = {answer: number for number, answer in enumerate(sorted(set(asked.answers)))}
    known = {image: number for number, image in enumerate(sorted({image for row in asked.images for image in row}))}
    shown = [[f"vg:{known[image] % options.images}" for image in row] for row in asked.images]
    labels = [classes[answer] for answer in asked.answers]
    return asked.texts, examples(asked.texts, shown, labels, tokenizer, store, LONGEST), tokenizer


@dataclass(frozen=True)
class Texts(torch.utils.data.Dataset):
    """``asked`` with its texts as they are, not as tokens."""

    texts: Sequence[str]
    asked: Examples

    def __len__(self) -> int:
        return len(self.asked)

    def __getitem__(self, number: int) -> dict:
        return self.asked[number] | {"text": self.texts[number]}


@dataclass(frozen=True)
class Released:
    """The released way to make and read a batch: texts padded to ``longest`` tokens, or (0) to the longest of them.

    ``whole``: transformers' own model computes all layers for all tokens, in the operations of VOLTA's (:func:`apart`),
    and AdamW is not fused.
    """

    tokenizer: Tokenizer
    longest: int
    whole: bool = False

    def collate(self, items: Sequence[dict]) -> Batch:
        """A batch of questions with five images each, the missing ones zeros."""
        features = np.zeros((len(items), MOST_IMAGES, REGIONS, items[0]["regions"][0].features.shape[1]), np.float32)
        geometry = np.zeros((*features.shape[:3], items[0]["regions"][0].geometry.shape[1]), np.float32)
        real = np.zeros(features.shape[:2], np.int64)
        for row, item in enumerate(items):
            for place, regions in enumerate(item["regions"]):
                features[row, place], geometry[row, place] = regions.features, regions.geometry
                real[row, place] = 1
        arrays = {"labels": np.array([item["label"] for item in items]), "features": features, "geometry": geometry}
        batch = {name: torch.from_numpy(value) for name, value in (arrays | {"real": real}).items()}
        return batch | {"texts": [item["text"] for item in items]}

    def tokens(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens of every text for every image, and which of them are real."""
        rows = [self.tokenizer.encode(text).ids[:LONGEST] for text in texts for _ in range(MOST_IMAGES)]
        width = self.longest or max(map(len, rows))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        return ids, (torch.arange(width) < torch.tensor([[len(row)] for row in rows])).long()


class ReleasedModel(torch.nn.Module):
    """``model`` as the released code calls it: with texts, and five images for each."""

    def __init__(self, model: MultiImageModel, way: Released):
        super().__init__()
        self.model, self.way = model, way

    def forward(
        self,
        texts: Sequence[str],
        features: torch.Tensor,
        geometry: torch.Tensor,
        real: torch.Tensor,
        labels: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """``loss`` and ``logits``, as the model itself gives them for the images that are real."""
        words = (tensor.to(features.device) for tensor in self.way.tokens(texts))
        regions = torch.ones(features.shape[:3], dtype=torch.long, device=features.device).flatten(0, 1)
        backbone = whole if self.way.whole else type(self.model.backbone).forward
        pooled = backbone(self.model.backbone, *words, features.flatten(0, 1), geometry.flatten(0, 1), regions)[0]
        rows = torch.cat([self.model.cls.expand(len(texts), 1, -1), pooled.unflatten(0, (len(texts), -1))], dim=1)
        mask = torch.cat([real.new_ones(len(texts), 1), real], dim=1).bool()
        seen = self.model.over_images(rows, attention_mask=mask[:, None, None, :]).last_hidden_state[:, 0]
        return scored(self.model.classifier(seen), labels)


def whole(
    backbone: visualbert.Backbone,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    features: torch.Tensor,
    geometry: torch.Tensor,
    region_mask: torch.Tensor,
) -> tuple[torch.Tensor]:
    """The pooled vectors that transformers' VisualBERT computes with the weights of ``backbone``."""
    seen = backbone.bert(
        input_ids=input_ids,
        attention_mask=attention_mask,
        visual_embeds=torch.cat([features, geometry, *waves(geometry)], dim=2),
        visual_attention_mask=region_mask,
    )
    return (seen.pooler_output,)


class Norm(torch.nn.Module):
    """A layer norm in the operations of VOLTA's (which takes apex's where that is installed; COVR does not list it)."""

    def __init__(self, norm: torch.nn.LayerNorm):
        super().__init__()
        self.weight, self.bias, self.eps = norm.weight, norm.bias, norm.eps

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        centred = tokens - tokens.mean(-1, keepdim=True)
        return self.weight * (centred / (centred.pow(2).mean(-1, keepdim=True) + self.eps).sqrt()) + self.bias


class Activation(torch.nn.Module):
    """GELU in the operations of VOLTA's."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return 0.5 * tokens * (1 + torch.erf(tokens / 2**0.5))


def apart(model: torch.nn.Module) -> None:
    """Let layer norms and activations of transformers' model be several operations each, as VOLTA's are."""
    for part in list(model.modules()):
        for name, child in part.named_children():
            if isinstance(child, torch.nn.LayerNorm):
                setattr(part, name, Norm(child))
        if hasattr(part, "intermediate_act_fn"):
            part.intermediate_act_fn = Activation()


@dataclass(frozen=True)
class Run:
    """What one way of training took, step by step."""

    name: str
    begun: list[float]
    waited: list[float]
    cpu: list[float]
    losses: list[float]


def trained(name: str, asked: torch.utils.data.Dataset, way: Released | None, options: argparse.Namespace) -> Run:
    """Train by ``way`` (None: by the workflow's own loop), from weights and on batches that the seed gives."""
    settings = OptimisationSettings(
        epochs=options.steps, most_steps=options.steps, batch_size=options.batch, learning_rate=1e-4, evaluations=1,
        patience=0, keep="last", workers=options.workers,
    )  # fmt: skip
    number = prepare(settings, 1, "throughput")
    examples = asked.asked if way else asked
    size = visualbert.ModelSettings(**SIZES[options.size], longest=LONGEST)
    words, answers = 1 + max(map(max, examples.tokens)), 1 + max(examples.labels)
    model = MultiImageModel(visualbert.Backbone(size, words, examples.store.dimension), size, answers)
    noted = Run(name, [], [], [], [])
    fitting.Course = clocked(noted, fused=not (way and way.whole))
    make: Callable = way.collate if way else collate
    made = ReleasedModel(model, way) if way else model
    if way and way.whole:
        apart(model.backbone.bert)
    out, dev = options.folder / "run", torch.utils.data.Subset(asked, range(options.batch))
    fit(made, asked, dev, out, settings, number, name, [name, time.time()], collate=make)
    shutil.rmtree(out)
    return noted


def clocked(noted: Run, fused: bool) -> type[Clocked]:
    """A course that notes for each step when it began, its CPU seconds, its wait for data and its loss; ``fused``:
    AdamW is one loop for all weights."""

    class Clock(Clocked):
        begun, waited = noted.begun, noted.waited

        def __init__(self, net: torch.nn.Module, optimizer: torch.optim.Optimizer, *given: Any, **named: Any):
            for group in optimizer.param_groups:
                group |= {"fused": fused, "foreach": False}
            super().__init__(net, optimizer, *given, **named)

        def step(self, batch: Any) -> torch.Tensor:
            noted.cpu.append(time.process_time())
            loss = super().step(batch)
            noted.losses.append(float(loss))
            return loss

    return Clock


def report(runs: Sequence[Run], options: argparse.Namespace) -> None:
    """Print what the steps after the warm-up took, and how near the losses are."""
    spans = [np.diff(run.begun)[options.warm_up :] for run in runs]
    rates = [options.batch / span.mean() for span in spans]
    cpu = [1e3 * np.diff(run.cpu)[options.warm_up :].mean() / options.batch for run in runs]
    waits = [
        np.array(run.waited)[options.warm_up : -1].sum() / span.sum() for run, span in zip(runs, spans, strict=True)
    ]
    marks = sorted({round(at) for at in np.linspace(0, options.steps - 1, 5)})
    apart = [max(abs(a - b) for a, b in zip(run.losses, runs[-1].losses, strict=True)) for run in runs]
    rows = [
        ["samples a second", *(f"{rate:,.2f}" for rate in rates)],
        [f"times faster is {OURS} (target {TARGET})", *(f"{rates[-1] / rate:.2f}" for rate in rates)],
        ["CPU ms a sample, without loading", *(f"{value:,.1f}" for value in cpu)],
        [f"times less is {OURS}", *(f"{value / cpu[-1]:.2f}" for value in cpu)],
        ["share of the time waiting for data", *(f"{100 * wait:.1f} %" for wait in waits)],
        *([f"loss of step {at + 1}", *(f"{run.losses[at]:.5f}" for run in runs)] for at in marks),
        [f"largest difference of a loss to {OURS}", *(f"{value:.1e}" for value in apart)],
    ]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "processor, one thread"
    print(f"{options.size}, batch {options.batch}, {options.steps} steps, {options.workers} workers, {device}")
    print_table(["", *(run.name for run in runs)], rows)


if __name__ == "__main__":
    main()
