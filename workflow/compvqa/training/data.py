"""What models read: words as tokens, questions with their images' regions, and batches of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from compvqa import tables
from compvqa.errors import InputError
from compvqa.features.grids import GridStore
from compvqa.features.store import RegionStore
from compvqa.models.loss import UNKNOWN_LABEL
from compvqa.questions.dataset import language_of
from compvqa.questions.tables import PARAPHRASES
from compvqa.scenes.tables import SCENES
from compvqa.seeds import stable_hash
from compvqa.training import processes

Store = RegionStore | GridStore
Encode = Callable[[str], np.ndarray]  # a model's own: from a program in JSON to rows int64 [P, C]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ENDINGS = ("##es", "##s")
UNKNOWN, MASK = SPECIAL[1], SPECIAL[4]
MORE = "make more questions, or leave it out of models.splits"
COLUMNS = ("question_id", "text", "answer", "scene_ids")


def word_tokenizer(texts: Iterable[str], base: Tokenizer | None = None) -> Tokenizer:
    """A tokenizer of the words of ``texts`` (lower case, punctuation apart), after those of ``base``.

    A regular plural is two tokens, the singular and its ending, where the singular is a word too. Ids: the special
    tokens, the words of ``base`` as there, then the new ones by alphabet.
    """
    split, lower = pre_tokenizers.Whitespace(), normalizers.Lowercase()
    words = {word for text in texts for word, _ in split.pre_tokenize_str(lower.normalize_str(text))}
    known = dict(base.get_vocab()) if base else {token: number for number, token in enumerate((*SPECIAL, *ENDINGS))}
    words |= set(known)
    for word in sorted(words - set(known)):
        if not any(word.endswith(ending) and word.removesuffix(ending) in words for ending in ("es", "s")):
            known[word] = len(known)
    tokenizer = Tokenizer(models.WordPiece(known, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = lower
    tokenizer.pre_tokenizer = split
    tokenizer.add_special_tokens(list(SPECIAL))
    ends = [(token, known[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


def shared_words(tokenizer: Tokenizer, other: Tokenizer) -> dict[int, int]:
    """For each id in ``tokenizer`` the id of the same token in ``other``, or of its token for unknown words."""
    theirs = other.get_vocab()
    return {number: theirs.get(word, theirs[UNKNOWN]) for word, number in tokenizer.get_vocab().items()}


@dataclass(frozen=True)
class Examples(torch.utils.data.Dataset):
    """Texts with images and a label each; an item holds its tokens, its label and, where there is a store, the regions
    of those images that have any (how many may lack them was settled when features were read); and where they are read,
    the rows of its program."""

    tokens: Sequence[Sequence[int]]
    images: Sequence[Sequence[str]]
    labels: Sequence[int]  # -100: no known class
    store: Store | None
    named: Sequence[Sequence[int]] | None = None  # for one image each: 1 for the regions that the text is about
    programs: Sequence[np.ndarray] | None = None  # int64 [P, C] each
    present: Sequence[Sequence[bool]] | None = None  # for several images: which of them the text is true of

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, number: int) -> dict:
        item = {"tokens": self.tokens[number], "label": self.labels[number]}
        if self.store is not None:
            images = self.images[number]
            there = [image for image in images if image in self.store] or images  # which the store refuses, if none is
            item["regions"] = [self.store[image] for image in there]
        if self.programs is not None:
            item["program"] = self.programs[number]
        if self.present is not None:
            item["present"] = self.present[number]
        return item if self.named is None else item | {"named": self.named[number]}


def examples(
    texts: Sequence[str],
    images: Sequence[Sequence[str]],
    labels: Sequence[int],
    tokenizer: Tokenizer,
    store: Store | None,
    longest: int,
    named: Sequence[Sequence[int]] | None = None,
    programs: Sequence[np.ndarray] | None = None,
    present: Sequence[Sequence[bool]] | None = None,
) -> Examples:
    """Examples of ``texts``, cut at ``longest`` tokens; a line on standard error tells how many were."""
    found = tokenizer.encode_batch(list(texts))
    cut = sum(len(encoding.ids) > longest or bool(encoding.overflowing) for encoding in found)
    if cut and processes.is_first():
        _tell(f"{cut:,} of {len(found):,} texts were cut at {longest} tokens, as the model's setting longest says.")
    return Examples([encoding.ids[:longest] for encoding in found], images, labels, store, named, programs, present)


@cache  # phases of a training read the same texts
def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def labelled(
    questions: Questions,
    answers: Sequence[str],
    tokenizer: Tokenizer,
    store: Store | None,
    longest: int,
    encode: Encode | None = None,
) -> Examples:
    """Examples of ``questions``, each labelled by the number of its answer in ``answers``; with ``encode``, of a model
    that reads each question's own program, with its rows."""
    number = {answer: at for at, answer in enumerate(answers)}
    labels = [number.get(answer, UNKNOWN_LABEL) for answer in questions.answers]
    programs = encode and list(map(cache(encode), questions.programs))
    return examples(questions.texts, questions.images, labels, tokenizer, store, longest, programs=programs)


@dataclass
class ByPicture(torch.utils.data.Dataset):
    """Examples of one image each, those about the same image side by side; images are drawn anew for each pass. A batch
    of them has each of its images once (:func:`collate`)."""

    examples: Examples
    seed: int

    def __post_init__(self) -> None:
        if self.examples.store is None or any(len(images) != 1 for images in self.examples.images):
            raise InputError(
                "optimisation.order: pictures is for models that look, and questions about one image each: take drawn."
            )
        self._of = np.unique([images[0] for images in self.examples.images], return_inverse=True)[1]
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Draw the images of the pass with this number."""
        place = np.random.default_rng(stable_hash(self.seed, "order", epoch) & 0xFFFFFFFF).permutation(
            1 + self._of.max()
        )
        self._order = np.argsort(place[self._of], kind="stable")

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, number: int) -> dict:
        chosen = int(self._order[number])
        return self.examples[chosen] | {"picture": int(self._of[chosen])}


def collate(items: Sequence[Mapping]) -> dict[str, torch.Tensor]:
    """A batch: questions padded to the longest, and all their images in a row, regions padded to the most.

    Gives ``labels`` [B], ``input_ids`` and ``attention_mask`` [B, L] and, where items have regions, ``features``
    [n, K, D], ``geometry`` [n, K, 5], ``region_mask`` [n, K] and ``question_of`` [n]; where they have programs,
    ``programs`` [B, P, C], padded with rows of 0; where they tell of images, ``present`` [n]. No image is padded
    in. Where questions share images (:class:`ByPicture`), each image comes once, and ``picture_of`` [B], the row of a
    question's image, stands in the place of ``question_of``.
    Features keep the type of their store: half as much to move where it is float16, and the models widen them.
    """
    lengths = np.array([len(item["tokens"]) for item in items])
    words = np.arange(lengths.max()) < lengths[:, None]
    input_ids = np.zeros(words.shape, np.int64)
    input_ids[words] = np.concatenate([item["tokens"] for item in items])
    batch = {
        "labels": np.array([item["label"] for item in items], np.int64),
        "input_ids": input_ids,
        "attention_mask": words.astype(np.int64),
    }
    if "regions" in items[0]:
        batch |= _regions(items)
    if "program" in items[0]:
        programs = [item["program"] for item in items]
        lengths = np.array([len(program) for program in programs])
        batch["programs"] = _padded(programs, np.arange(lengths.max()) < lengths[:, None])
    return {name: torch.from_numpy(value) for name, value in batch.items()}


def _regions(items: Sequence[Mapping]) -> dict[str, np.ndarray]:
    """The columns of a batch that tell its images."""
    if "picture" in items[0]:
        shown = {item["picture"]: item for item in items}
        row = {picture: number for number, picture in enumerate(shown)}
        whose = {"picture_of": np.array([row[item["picture"]] for item in items])}
        items = list(shown.values())
    else:
        whose = {"question_of": np.repeat(np.arange(len(items)), [len(item["regions"]) for item in items])}
    regions = [region for item in items for region in item["regions"]]
    counts = np.array([len(region.features) for region in regions])
    mask = np.arange(counts.max()) < counts[:, None]
    columns = {
        "features": _padded([region.features for region in regions], mask),
        "geometry": _padded([region.geometry for region in regions], mask),
        "region_mask": mask.astype(np.int64),
        **whose,
    }
    if "named" in items[0]:
        columns["named"] = np.full(mask.shape, -1, np.float32)
        columns["named"][mask] = np.concatenate([item["named"] for item in items])
    if "present" in items[0]:
        columns["present"] = np.concatenate([item["present"] for item in items]).astype(np.float32)
    return columns


def _padded(rows: list[np.ndarray], mask: np.ndarray) -> np.ndarray:
    """``rows`` [k, D] each, in one array [n, K, D] where ``mask`` [n, K] tells which places they fill."""
    result = np.zeros((*mask.shape, rows[0].shape[1]), rows[0].dtype)
    for place, row in zip(result, rows, strict=True):  # one copy, from the memory map
        place[: len(row)] = row
    return result


@dataclass(frozen=True)
class Questions:
    """The columns of questions that models need, sorted by question id."""

    ids: list[str]
    texts: list[str]
    answers: list[str]
    images: list[list[str]]
    programs: list[str] = field(default_factory=list)  # as JSON; empty where they were not asked for

    def __len__(self) -> int:
        return len(self.ids)


def read_questions(
    dataset: Path, scenes: Path, split: Path | None, parts: Sequence[str], programs: bool = False
) -> Questions:
    """The questions of ``dataset`` in ``parts``: of the split table ``split``, or of the dataset's own column part.

    ``scenes`` is the scenes table (scene id to image); ``programs``: with these. Raises InputError where a part is
    empty, or a program is in another language than the dataset's.
    """
    language_of(dataset)
    table = tables.read(dataset, columns=[*COLUMNS, "part", *(["program"] if programs else [])])
    if split is None:
        table = table.filter(pc.is_in(table["part"], pa.array(parts, pa.string())))
    else:
        rows = tables.read(split, columns=["part", "question_id"])
        chosen = rows.filter(pc.is_in(rows["part"], pa.array(parts, pa.string())))["question_id"]
        table = table.filter(pc.is_in(table["question_id"], chosen.combine_chunks()))
    if not len(table):
        raise _empty(split or dataset, parts, MORE if split else "choose others")
    table = table.sort_by("question_id")
    pairs = tables.read(scenes, SCENES, ["scene_id", "image"])
    image = dict(zip(pairs["scene_id"].to_pylist(), pairs["image"].to_pylist(), strict=True))
    return Questions(
        table["question_id"].to_pylist(),
        table["text"].to_pylist(),
        table["answer"].to_pylist(),
        [[image[scene] for scene in row] for row in table["scene_ids"].to_pylist()],
        table["program"].to_pylist() if programs else [],
    )


def check_asked(split: Path, parts: Sequence[str]) -> None:
    """Refuse a split of which a model could be asked nothing once it is trained: all of ``parts`` are empty."""
    if not pc.any(pc.is_in(tables.read(split, columns=["part"])["part"], pa.array(parts, pa.string()))).as_py():
        raise _empty(split, parts, MORE)


def _empty(table: Path, parts: Sequence[str], remedy: str) -> InputError:
    return InputError(f"{table} has no questions in the parts {', '.join(parts)}: {remedy}.")


def paraphrased(questions: Questions, paraphrases: Path) -> Questions:
    """The questions that have a paraphrase in the table ``paraphrases``, with that for their text."""
    texts = dict(zip(*(column.to_pylist() for column in tables.read(paraphrases, PARAPHRASES)), strict=True))
    asked = [number for number, question_id in enumerate(questions.ids) if texts.get(question_id)]
    ids = [questions.ids[number] for number in asked]
    return Questions(
        ids,
        [texts[question_id] for question_id in ids],
        [questions.answers[number] for number in asked],
        [questions.images[number] for number in asked],
        [questions.programs[number] for number in asked] if questions.programs else [],
    )
