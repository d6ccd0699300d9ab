"""The word filter's model: a sequence classifier that reads two phrases in the manner of NLI (COVR, App. A).

It predicts contradiction for pairs that exclude each other and neutral for others; entailment is never a target.
m(x, y) is the probability of contradiction. On request it is told what the lexicon thinks of a pair, by a word behind
the second phrase: it then learns how far the lexicon is to be trusted, and has more to go by where words are new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import Encoding, Tokenizer
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from compvqa.covr.filters.words.pairs import DIRECTED
from compvqa.covr.filters.words.settings import EncoderSettings
from compvqa.errors import InputError
from compvqa.files import read_json
from compvqa.scenes.lexicon import Lexicon
from compvqa.weights import load_weights

CLASSES = ("contradiction", "entailment", "neutral")
LENGTHS = 4  # sequences are padded to a multiple of so many tokens
ROWS = {"cpu": 32, "cuda": 512}
# the word for a lexicon's m up to the number
HINTS = ((0.0, "same"), (0.1, "kind"), (0.5, "perhaps"), (0.75, "other"), (1.0, "different"))


@dataclass(frozen=True)
class WordModel:
    """A classifier of pairs of phrases, with what it needs to read them; ``name`` is its checkpoint's."""

    name: str
    network: PreTrainedModel
    tokenizer: Tokenizer
    inputs: tuple[str, ...]  # of the tokenizer's outputs, those that the network takes
    contradiction: int  # the number of each class
    neutral: int
    hints: bool

    def encode(self, kind: str, xs: Sequence[str], ys: Sequence[str], lexicon: Lexicon) -> list[Encoding]:
        """The pairs (xs[i], ys[i]) of a kind as tokens, not padded."""
        if self.hints:
            ys = [f"{y} {hint(lexicon.exclusive(kind, x, y))}" for x, y in zip(xs, ys, strict=True)]
        return self.tokenizer.encode_batch(list(zip(xs, ys, strict=True)))

    def batch(self, encodings: Sequence[Encoding], length: int | None = None) -> dict[str, torch.Tensor]:
        """The network's inputs, each [B, L]: padded to the longest, or to ``length``."""
        length = length or max(len(encoding) for encoding in encodings)
        padding = {"input_ids": self.network.config.pad_token_id or 0}
        values = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        batch = {}
        for name in self.inputs:
            array = np.full((len(encodings), length), padding.get(name, 0), np.int64)
            for row, encoding in zip(array, encodings, strict=True):
                row[: len(encoding)] = getattr(encoding, values[name])
            batch[name] = torch.from_numpy(array)
        return batch

    def describe(self) -> dict:
        """All but the weights, as JSON."""
        return {
            "name": self.name,
            "config": self.network.config.to_diff_dict(),
            "inputs": list(self.inputs),
            "hints": self.hints,
            "tokenizer": self.tokenizer.to_str(),
        }


def hint(m: float) -> str:
    """The word for the m that a lexicon gives."""
    return next(word for most, word in HINTS if m <= most)


def pretrained(settings: EncoderSettings) -> tuple[WordModel, tuple[str, ...]]:
    """The checkpoint's model, ready to be fine-tuned, and the beginnings of the names of its new parameters.

    A checkpoint with no NLI head gets a new one, drawn by torch's seed.
    """
    folder = settings.folder()
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        config = AutoConfig.from_pretrained(folder, revision=settings.revision)
        reader = AutoTokenizer.from_pretrained(folder, revision=settings.revision)
        if not _classes(config.id2label):
            config.id2label, config.label2id = dict(enumerate(CLASSES)), {name: i for i, name in enumerate(CLASSES)}
        if settings.changes:
            config.update(settings.changes)
            network, new = AutoModelForSequenceClassification.from_config(config), ("",)
        else:
            network, loaded = AutoModelForSequenceClassification.from_pretrained(
                folder, revision=settings.revision, config=config, dtype=torch.float32, output_loading_info=True
            )
            new = tuple(sorted(loaded["missing_keys"])) or ("classifier.",)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"word_filter.encoder.checkpoint: {folder} cannot be loaded ({reason}).") from None
    finally:
        transformers.logging.set_verbosity(verbosity)
    _freeze(network, settings)
    tokenizer = Tokenizer.from_str(reader.backend_tokenizer.to_str())
    tokenizer.no_padding()
    inputs = tuple(reader.model_input_names)
    return _made(Path(settings.checkpoint).name, network, tokenizer, inputs, settings.hints), new


def load(folder: Path) -> WordModel:
    """The fine-tuned model in ``folder`` (model.json, model.safetensors)."""
    weights = load_weights(folder / "model.safetensors")
    described = read_json(folder / "model.json")
    kind = described["config"].pop("model_type")
    network = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(kind, **described["config"]))
    network.load_state_dict(weights)
    tokenizer = Tokenizer.from_str(described["tokenizer"])
    return _made(described["name"], network, tokenizer, tuple(described["inputs"]), described["hints"])


def _made(name: str, network: PreTrainedModel, tokenizer: Tokenizer, inputs: tuple[str, ...], hints: bool) -> WordModel:
    classes = _classes(network.config.id2label)
    return WordModel(name, network, tokenizer, inputs, classes["contradiction"], classes["neutral"], hints)


def _classes(id2label: dict[int, str]) -> dict[str, int]:
    """The numbers of NLI's classes by the checkpoint's own labels; empty where it has others."""
    found = {str(label).lower(): int(number) for number, label in id2label.items()}
    return found if set(found) == set(CLASSES) else {}


def _freeze(network: PreTrainedModel, settings: EncoderSettings) -> None:
    layers = tuple(f"layer.{number}." for number in range(settings.frozen_layers))
    for name, value in network.named_parameters():
        words = settings.frozen_words and ".embeddings." in name
        if words or any(f".{layer}" in name for layer in layers):
            value.requires_grad = False


@torch.no_grad()
def scores(model: WordModel, kind: str, xs: Sequence[str], ys: Sequence[str], lexicon: Lexicon) -> np.ndarray:
    """m of the pairs (xs[i], ys[i]) of a kind, float32 [n]; where m is symmetric, the mean over both orders.

    A pair is always read in a batch of one shape, filled up where need be: what it gets does not depend on which
    pairs are scored with it.
    """
    forward = _one_way(model, model.encode(kind, xs, ys, lexicon))
    return forward if DIRECTED[kind] else (forward + _one_way(model, model.encode(kind, ys, xs, lexicon))) / 2


def _one_way(model: WordModel, encodings: list[Encoding]) -> np.ndarray:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = model.network.to(device).eval()
    result = np.empty(len(encodings), np.float32)
    for length, numbers in _batches(encodings, ROWS[device]):
        filled = [encodings[number] for number in numbers]
        filled += filled[:1] * (ROWS[device] - len(filled))
        batch = {name: value.to(device) for name, value in model.batch(filled, length).items()}
        probability = torch.softmax(network(**batch).logits.float(), dim=1)[: len(numbers), model.contradiction]
        result[numbers] = probability.cpu().numpy()
    return result


def _batches(encodings: Sequence[Encoding], rows: int) -> Iterator[tuple[int, list[int]]]:
    """Batches of at most ``rows`` pairs (by number) of one padded length."""
    by_length: dict[int, list[int]] = {}
    for number, encoding in enumerate(encodings):
        by_length.setdefault(-(-len(encoding) // LENGTHS) * LENGTHS, []).append(number)
    for length, numbers in sorted(by_length.items()):
        for start in range(0, len(numbers), rows):
            yield length, numbers[start : start + rows]
