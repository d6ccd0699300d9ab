"""VOLTA's files of released weights (Bugliarello et al., 2021): which of their names is which of ours.

Read are those of the controlled setup, ``ctrl_visualbert_base`` and ``ctrl_vilbert_base``: the state of a model as
torch saves it; and a net that COVR's authors fine-tuned from one, in its archive or not, whose parts above the
backbone (:mod:`compvqa.models.as_released`) are no loss where the backbone alone is taken. VOLTA counts sub-layers,
attention and feed-forward apart, first those over the text alone; a number stands for both streams, whose names differ
by ``v_``. The tables below map its modules to ours, weights and biases alike. The heads of its pretraining (``cls.``)
have no place here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn

from compvqa.errors import InputError
from compvqa.models.allennlp import ENDING, Archive
from compvqa.weights import load_saved

BACKBONE = "bert."  # how the names of the model begin, without its heads
INNER = "encoder."  # how all of VOLTA's names begin in a net that was fine-tuned
FINE_TUNED = ("agg_fc.", "img_cls_token", "hidden_layer.", "classifier_layer.", "head.")  # the names above it there
HEAD_SIZE = 64  # of an attention head, in BERT's models of every size
TEXT, IMAGE = "", "v_"  # the two streams in VOLTA's names

# A sub-layer of attention: {own} is the stream that asks, {seen} the one that it attends to.
ATTENTION = {
    "attention_self.{own}query": "attention.self.query",
    "attention_self.{seen}key": "attention.self.key",
    "attention_self.{seen}value": "attention.self.value",
    "attention_output.{own}dense": "attention.output.dense",
    "attention_output.{own}LayerNorm": "attention.output.LayerNorm",
}
FEED_FORWARD = {
    "intermediate.{own}dense": "intermediate.dense",
    "output.{own}dense": "output.dense",
    "output.{own}LayerNorm": "output.LayerNorm",
}
POOLERS = {"t_pooler.dense": "pooler.text", "v_pooler.dense": "pooler.image"}
VISUALBERT = POOLERS | {
    "embeddings.word_embeddings": "bert.embeddings.word_embeddings",
    "embeddings.position_embeddings": "bert.embeddings.position_embeddings",
    "embeddings.token_type_embeddings": "bert.embeddings.token_type_embeddings",
    "embeddings.LayerNorm": "bert.embeddings.LayerNorm",
    "embeddings.projection": "bert.embeddings.visual_projection",
    "embeddings.position_embeddings_visual": "bert.embeddings.visual_position_embeddings",
    "embeddings.token_type_embeddings_visual": "bert.embeddings.visual_token_type_embeddings",
}
VILBERT = POOLERS | {
    "embeddings.word_embeddings": "text.word_embeddings",
    "embeddings.position_embeddings": "text.position_embeddings",
    "embeddings.token_type_embeddings": "text.token_type_embeddings",
    "embeddings.LayerNorm": "text.LayerNorm",
    "v_embeddings.image_embeddings": "image.features",
    "v_embeddings.image_location_embeddings": "image.place",
    "v_embeddings.LayerNorm": "image.LayerNorm",
}


def visualbert_names(layers: int) -> dict[str, str]:
    """VOLTA's names of VisualBERT's modules, and ours. Both streams share every layer, which has two names there."""
    names = dict(VISUALBERT)
    for number in range(layers):
        for stream in (TEXT, IMAGE):
            names |= _layer(2 * number, f"bert.encoder.layer.{number}", stream, stream)
    return names


def vilbert_names(text_layers: int, blocks: int) -> dict[str, str]:
    """VOLTA's names of ViLBERT's modules, and ours: layers of the text, then blocks of a layer across and one apart."""
    names = dict(VILBERT)
    for number in range(text_layers):
        names |= _layer(2 * number, f"text_layers.{number}", TEXT, TEXT)
    for number in range(blocks):
        across = 2 * text_layers + 4 * number
        names |= _layer(across, f"blocks.{number}.text_to_image", TEXT, IMAGE)
        names |= _layer(across, f"blocks.{number}.image_to_text", IMAGE, TEXT)
        names |= _layer(across + 2, f"blocks.{number}.text", TEXT, TEXT)
        names |= _layer(across + 2, f"blocks.{number}.image", IMAGE, IMAGE)
    return names


def _layer(number: int, ours: str, own: str, seen: str) -> dict[str, str]:
    """The modules of the sub-layers ``number`` (attention) and ``number + 1`` (fed forward), and those of our layer."""
    parts = ((number, ATTENTION), (number + 1, FEED_FORWARD))
    return {
        f"encoder.layer.{at}.{theirs.format(own=own, seen=seen)}": f"{ours}.{name}"
        for at, part in parts
        for theirs, name in part.items()
    }


@dataclass(frozen=True)
class Weights:
    """A file of VOLTA's, its tensors by name; the names of the model itself are without ``bert.``."""

    path: str
    state: Mapping[str, torch.Tensor]
    others: Mapping[str, torch.Tensor] = field(default_factory=dict)  # what is no part of the model itself

    @classmethod
    def read(cls, path: str) -> Weights:
        """The weights in a file that torch or safetensors saved, or in an archive of AllenNLP's; InputError where they
        can't be read."""
        return cls.of(path, Archive.read(path).state if path.endswith(ENDING) else load_saved(Path(path), path))

    @classmethod
    def of(cls, path: str, named: Mapping[str, torch.Tensor]) -> Weights:
        """The weights in the file ``path``, whose tensors are known by name; InputError where none are VOLTA's."""
        state = {name.removeprefix(INNER): value for name, value in named.items()}
        if not any(name.startswith(BACKBONE) for name in state):
            raise InputError(f"{path} holds no weights named {BACKBONE}…: give the model file of VOLTA's release.")
        own = {name.removeprefix(BACKBONE): value for name, value in state.items() if name.startswith(BACKBONE)}
        return cls(path, own, {name: value for name, value in state.items() if not name.startswith(BACKBONE)})

    def size(self, name: str, axis: int) -> int:
        """The size of an axis of the tensor ``name``; InputError where there is none."""
        if name not in self.state:
            raise InputError(f"{self.path} lacks {BACKBONE}{name}: it is no file of this model, choose another.")
        return self.state[name].shape[axis]

    def bert(self) -> dict[str, int]:
        """The sizes of the text's stream, by transformers' names."""
        hidden = self.size("embeddings.word_embeddings.weight", 1)
        return {
            "vocab_size": self.size("embeddings.word_embeddings.weight", 0),
            "hidden_size": hidden,
            "num_attention_heads": max(1, hidden // HEAD_SIZE),
            "intermediate_size": self.size("encoder.layer.1.intermediate.dense.weight", 0),
            "max_position_embeddings": self.size("embeddings.position_embeddings.weight", 0),
            "type_vocab_size": self.size("embeddings.token_type_embeddings.weight", 0),
        }

    def pooled(self) -> int:
        """The length of the vector that it makes of a text and an image."""
        return self.size("t_pooler.dense.weight", 0)

    def sublayers(self, query: str) -> list[int]:
        """The numbers of the sub-layers that have the projection ``query`` (``query`` or ``v_query``)."""
        found = (re.fullmatch(rf"encoder\.layer\.(\d+)\.attention_self\.{query}\.weight", name) for name in self.state)
        return sorted(int(match[1]) for match in found if match)

    def load(self, module: nn.Module, names: Mapping[str, str]) -> None:
        """Give ``module`` all its weights by ``names``, VOLTA's of its modules and ours; warn of what is not used.

        InputError where one is missing or has another shape, or where two that are shared there differ.
        """
        found: dict[str, torch.Tensor] = {}
        for theirs, ours in names.items():
            for kind in ("weight", "bias"):
                value = self.state.get(f"{theirs}.{kind}")
                if value is None:
                    continue
                if not torch.equal(found.setdefault(f"{ours}.{kind}", value), value):
                    raise InputError(
                        f"{self.path}: {BACKBONE}{theirs}.{kind} differs from the text's, which the controlled setup"
                        " shares: choose the file of that setup."
                    )
        own = module.state_dict()
        missing = sorted(own.keys() - found.keys())
        if missing:
            known = {ours: name for name, ours in reversed([*names.items()])}
            module_name, _, kind = missing[0].rpartition(".")
            wanted = f"{BACKBONE}{known.get(module_name, module_name)}.{kind}"
            raise InputError(f"{self.path} lacks {len(missing)} weights, {wanted} first: choose another file.")
        for name, value in found.items():
            if name in own and own[name].shape != value.shape:
                shapes = f"{tuple(value.shape)}, not {tuple(own[name].shape)}"
                raise InputError(f"{self.path}: what becomes {name} has the shape {shapes}: choose another file.")
        used = {f"{theirs}.{kind}" for theirs in names for kind in ("weight", "bias")}
        others = [name for name in self.others if not name.startswith(FINE_TUNED)]
        unused = [*(BACKBONE + name for name in self.state if name not in used), *others]
        if unused:
            tops = ", ".join(sorted({name.split(".")[0] for name in unused}))
            warnings.warn(
                f"{self.path}: {len(unused)} weights, of {tops}, are not used, {unused[0]} first.", stacklevel=2
            )
        module.load_state_dict({name: found[name] for name in own})
