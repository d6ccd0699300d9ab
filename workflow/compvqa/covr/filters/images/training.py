"""Training of the image filter: does this image have this simple subgraph (COVR, section 3.2, App. B)?

One model a fold of the images, which sees the other folds alone; they may start from one pretraining on images outside
all folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from pydantic import Field
from tokenizers import Tokenizer

from compvqa import tables
from compvqa.covr.filters.images import relationships
from compvqa.covr.filters.images.examples import EXAMPLES, TEXTS
from compvqa.covr.filters.images.relationships import RelationshipModel, RelationshipSettings, Words
from compvqa.errors import InputError
from compvqa.features.seen import write_seen
from compvqa.features.store import RegionStore
from compvqa.files import read_json, write_json
from compvqa.models.backbone import BackboneSettings
from compvqa.models.multi_image import MatchModel, load_pretrained
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.tables import SCENES
from compvqa.seeds import by_rank
from compvqa.settings import Settings
from compvqa.training.data import collate, shared_words
from compvqa.training.fit import OptimisationSettings, fit, prepare
from compvqa.training.modules import plugin, tokenizer_of
from compvqa.weights import load_weights, save_weights

FILES = ("model.safetensors", "model.json", "history.parquet", "saw.parquet")
HEADS = ("head.", "region_head.")  # new, whatever a model starts from
RELATIONSHIPS = "relationships"  # what the names of their weights begin with, and their key in model.json


class PresenceTraining(Settings):
    """Training of the image filter."""

    optimisation: OptimisationSettings = Field(OptimisationSettings(), description="steps and learning rate")
    zeroed: float = Field(0.15, ge=0, lt=1, description="share of an image's regions that are zeroed (paper: 0.15)")
    held_out: float = Field(0.05, gt=0, lt=0.5, description="share of the images that tell when to stop")
    most_held_out: int = Field(20_000, ge=1, description="examples of these images that are looked at, at most")
    most_regions: int = Field(36, ge=1, description="regions an image that models see, the first in the store")
    relationships: RelationshipSettings | None = Field(
        None,
        description="learn from annotated boxes how regions are related, and tell by that whether subgraphs with a "
        "relation are there; null: as the paper, by the model of texts and images",
    )


@dataclass(frozen=True)
class Pairs(torch.utils.data.Dataset):
    """Pairs of an image and a text, by their numbers; an item is as one of :class:`training.data.Examples`."""

    images: Sequence[str]
    texts: Sequence[Sequence[int] | np.ndarray]  # as tokens
    image: np.ndarray  # int [n]
    text: np.ndarray  # int [n]
    label: np.ndarray  # int [n]
    store: RegionStore

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, number: int) -> dict:
        regions = self.store[self.images[self.image[number]]]
        return {"tokens": self.texts[self.text[number]], "regions": [regions], "label": int(self.label[number])}

    def where(self, chosen: np.ndarray) -> Pairs:
        """Those pairs that ``chosen`` (numbers, or a mask) tells."""
        return Pairs(self.images, self.texts, self.image[chosen], self.text[chosen], self.label[chosen], self.store)


def train_presence(
    model: str,
    examples: Path,
    texts: Path,
    scenes: Path,
    regions: Path,
    features: Path,
    start: Path | None,
    fold: int | None,
    out: Path,
    model_settings: BackboneSettings,
    settings: PresenceTraining,
    seed: int,
) -> dict[str, int]:
    """Train ``model`` on the examples of all folds but ``fold`` (None: on all); write the :data:`FILES` into ``out``.

    Some of the images of these folds are held out to choose the weights. ``saw.parquet`` holds all images that had a
    part in it, those of ``start`` too, the folder of a pretraining on other images. ``scenes`` is the scenes table,
    that of objects and the others beside it.
    """
    number = prepare(settings.optimisation, seed, "presence", model, fold)
    store = RegionStore(regions, features, settings.most_regions)
    known = tables.read(texts, TEXTS)
    said = known["text"].to_pylist()
    base = None if start is None else Tokenizer.from_str(read_json(start / "model.json")["tokenizer"])
    tokenizer = tokenizer_of(model, model_settings, said, base)
    pairs = _pairs(
        examples, known["subgraph_key"], _tokens(tokenizer, said, model_settings.longest), scenes, store, fold
    )
    backbone = plugin(model).Backbone(model_settings, tokenizer.get_vocab_size(), store.dimension)
    made = MatchModel(backbone, model_settings, 2, settings.zeroed)
    if start is not None and base is not None:
        load_pretrained(made, load_weights(start / "model.safetensors"), shared_words(tokenizer, base), HEADS)
    learnt, held_out, images = _sides(pairs, settings, seed)
    recipe = [model, model_settings.model_dump_json(), settings.model_dump_json(), fold, start]
    recipe += [tables.recipe_of(path) for path in (examples, regions)]
    new = ("",) if start is None else HEADS
    what = f"presence {model}, fold {fold}"
    done = fit(made, learnt, held_out, out, settings.optimisation, number, what, recipe, collate=collate, new=new)
    described = {"model": model, "settings": model_settings.model_dump(), "dimension": store.dimension, "fold": fold}
    described |= {"most_regions": settings.most_regions, "tokenizer": tokenizer.to_str()}
    related = settings.relationships and _relationships(learnt, scenes, settings.relationships, number, what)
    if related:
        weights = {f"{RELATIONSHIPS}.{name}": value for name, value in related.state_dict().items()}
        save_weights(out / "model.safetensors", load_weights(out / "model.safetensors") | weights)
        described[RELATIONSHIPS] = {"words": asdict(related.words), "size": related.size}
    write_json(out / "model.json", described)
    before = [] if start is None else tables.read(start / FILES[-1])["image"].to_pylist()
    saw = write_seen(out / FILES[-1], [*before, *(pairs.images[image] for image in images)])
    counts = {"in": len(pairs), "learnt from": len(learnt), "held out": len(held_out), "images that it saw": saw}
    accuracy = round(1000 * done["accuracy"])
    return counts | {"steps": int(done["steps"]), "held-out accuracy, per mille": accuracy}


def _relationships(
    pairs: Pairs, scenes: Path, settings: RelationshipSettings, seed: int, what: str
) -> RelationshipModel | None:
    """What is learnt of the relationships in the images of ``pairs``, None where no boxes tell of any; ``scenes`` is
    the scenes table."""
    annotated = SceneStore(scenes.parent)
    columns = (annotated.scenes[name].to_pylist() for name in ("image", "scene_id"))
    scene_of = dict(zip(*columns, strict=True))
    images = sorted(pairs.images[number] for number in np.unique(pairs.image))
    words = Words.of(annotated.graph(scene_of[image]) for image in images)
    if not words.relations:
        return None
    shown = relationships.what_is_shown(annotated, scene_of, pairs.store, words)
    torch.manual_seed(seed)  # wherever the training before it was resumed
    return relationships.train(words, images, shown, pairs.store.dimension, settings, seed, f"{what}: relationships")


def load_relationships(described: Mapping, weights: Mapping[str, torch.Tensor]) -> RelationshipModel | None:
    """The model of relationships in what :func:`train_presence` wrote (model.json and the weights), of float64; None
    where there is none."""
    if RELATIONSHIPS not in described:
        return None
    known = described[RELATIONSHIPS]
    net = RelationshipModel(Words(**known["words"]), described["dimension"], known["size"])
    start = f"{RELATIONSHIPS}."
    net.load_state_dict({n.removeprefix(start): value for n, value in weights.items() if n.startswith(start)})
    return net.double().eval()


def _tokens(tokenizer: Tokenizer, said: Sequence[str], longest: int) -> list[np.ndarray]:
    return [np.array(encoding.ids[:longest], np.int32) for encoding in tokenizer.encode_batch(list(said))]


def _pairs(
    examples: Path, keys: pa.ChunkedArray, texts: list[np.ndarray], scenes: Path, store: RegionStore, fold: int | None
) -> Pairs:
    """The examples of all folds but ``fold`` whose image has regions."""
    known = tables.read(scenes, SCENES, ["scene_id", "image"])
    images = known["image"].to_pylist()
    columns = ["scene_id", "subgraph_key", "label", "fold"]
    rows = tables.read(examples, EXAMPLES, columns)
    if fold is not None:
        rows = rows.filter(pc.not_equal(rows["fold"], fold))
    image = pc.index_in(rows["scene_id"], known["scene_id"].combine_chunks()).to_numpy()
    text = pc.index_in(rows["subgraph_key"], keys.combine_chunks()).to_numpy()
    seen = np.array([name in store for name in images])[image]
    if not seen.any():
        raise InputError(f"no image of {examples} outside fold {fold} has regions: make features of its images.")
    label = rows["label"].to_numpy(zero_copy_only=False).astype(np.int8)
    return Pairs(images, texts, image[seen], text[seen], label[seen], store)


def _sides(pairs: Pairs, settings: PresenceTraining, seed: int) -> tuple[Pairs, Pairs, np.ndarray]:
    """The pairs to learn from, those held out, and the numbers of the images of both."""
    images = np.unique(pairs.image)
    ranked = by_rank(seed, "held-out image", images.tolist(), key=lambda image: pairs.images[image])
    apart = np.isin(pairs.image, ranked[: max(1, round(settings.held_out * len(ranked)))])
    ranked_pairs = np.random.default_rng(seed).permutation(np.flatnonzero(apart))
    return pairs.where(~apart), pairs.where(np.sort(ranked_pairs[: settings.most_held_out])), images
