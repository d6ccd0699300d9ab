"""The questions that a model is asked, with the files of their pictures, and the shots that go before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from compvqa import tables
from compvqa.asking.settings import AskedModel
from compvqa.errors import InputError
from compvqa.models.baseline import GENERATED, PARAPHRASED
from compvqa.questions.dataset import language_of
from compvqa.questions.tables import PARAPHRASES
from compvqa.scenes.images import find_image
from compvqa.scenes.tables import SCENES
from compvqa.seeds import generator
from compvqa.splits.splitters import SPLITS

_COLUMNS = ("question_id", "part", "text", "answer", "scene_ids")


@dataclass(frozen=True)
class Shown:
    """A question with the pictures that it is asked of, in the order in which they are shown; none if blind."""

    question_id: str
    question: str
    answer: str
    images: tuple[str, ...]
    pictures: tuple[Path, ...]


@dataclass(frozen=True)
class Asked:
    """A question of a run: which of its texts is asked, and the shots before it."""

    text: str
    shown: Shown
    shots: tuple[Shown, ...]

    @property
    def question_id(self) -> str:
        return self.shown.question_id


class Questions:
    """What a run asks: the questions in ``parts``, and shots from those in ``shot_parts``.

    Parts are those of the split table ``split``, or the dataset's own where it is None. ``folders`` are those of
    pictures by image space. All that is drawn is drawn by ``seed`` and the question's id.
    """

    def __init__(
        self,
        dataset: Path,
        split: Path | None,
        scenes: Path,
        folders: Mapping[str, Path],
        settings: AskedModel,
        seed: int,
    ):
        language_of(dataset)
        self._rows = tables.read(dataset, columns=_COLUMNS)
        self._parts = tables.read(split, SPLITS, ["part", "question_id"]) if split else self._rows
        self._from, self._scenes = split or dataset, scenes
        known = tables.read(scenes, SCENES, ["scene_id", "image"])
        self._image = dict(zip(known["scene_id"].to_pylist(), known["image"].to_pylist(), strict=True))
        self._folders, self._settings, self._seed = folders, settings, seed
        self._found: dict[str, Path] = {}

    def asked(
        self,
        parts: Sequence[str],
        shot_parts: Sequence[str] = (),
        paraphrases: Path | None = None,
        left_out: Sequence[str] = (),
    ) -> Iterator[Asked]:
        """Each question by its text, and those that have a paraphrase by it as well, sorted by id.

        Shots come from ``shot_parts``. With ``left_out`` these are the dataset's own parts, and shots are of the
        questions that none of these parts of the split has.
        """
        rows = self._of(parts)
        if not rows:
            there = ", ".join(sorted(pc.unique(self._parts["part"]).to_pylist())) or "none"
            raise InputError(
                f"{self._from} has no question of the dataset in {' and '.join(parts)}: choose of {there}."
            )
        others = tables.read_all([paraphrases] if paraphrases else [], PARAPHRASES)
        second = dict(zip(others["question_id"].to_pylist(), others["text"].to_pylist(), strict=True))
        drawn = self._shown_by(shot_parts, left_out) if self._settings.shots else []
        for row in rows:
            shots = self._shots(row, drawn)
            for kind, text in ((GENERATED, row["text"]), (PARAPHRASED, second.get(row["question_id"]))):
                if text is not None:
                    yield Asked(kind, self._shown({**row, "text": text}), shots)

    def answers(self) -> list[str]:
        """The answers that the dataset's questions have, sorted."""
        return sorted(pc.unique(self._rows["answer"]).to_pylist())

    def _ids(self, parts: Collection[str]) -> pa.Array:
        chosen = self._parts.filter(pc.is_in(self._parts["part"], pa.array(list(parts), pa.string())))
        return chosen["question_id"].combine_chunks()

    def _of(self, parts: Collection[str]) -> list[dict]:
        chosen = self._rows.filter(pc.is_in(self._rows["question_id"], self._ids(parts)))
        return list(chosen.sort_by("question_id").to_pylist())

    def _shown_by(self, parts: Sequence[str], left_out: Sequence[str]) -> list[dict]:
        """What shots are drawn from."""
        if not left_out:
            return self._of(parts)
        kept, own = self._ids(left_out), pc.is_in(self._rows["part"], pa.array(list(parts), pa.string()))
        chosen = pc.and_not(own, pc.is_in(self._rows["question_id"], kept))
        return list(self._rows.filter(chosen).sort_by("question_id").to_pylist())

    def _shots(self, row: dict, drawn: Sequence[dict]) -> tuple[Shown, ...]:
        """The shots of a question: drawn from ``drawn`` without any of its own images."""
        wanted, own, shots = self._settings.shots if drawn else 0, {*self._images(row)}, []
        random = generator(self._seed, "shots", row["question_id"])
        for number in random.sample(range(len(drawn)), len(drawn)) if wanted else ():
            if own.isdisjoint(self._images(drawn[number])):
                shots.append(self._shown(drawn[number]))
                if len(shots) == wanted:
                    return tuple(shots)
        if len(shots) < wanted:
            raise InputError(
                f"question {row['question_id']} has only {len(shots)} shots that share no image with it, of {wanted}: "
                "ask with fewer."
            )
        return ()

    def _images(self, row: dict) -> list[str]:
        try:
            return [self._image[scene] for scene in row["scene_ids"]]
        except KeyError as lost:
            raise InputError(
                f"question {row['question_id']} is about the scene {lost.args[0]}, which {self._scenes} has not: give "
                "the scenes of its test-bed."
            ) from None

    def _shown(self, row: dict) -> Shown:
        images = self._images(row)
        if self._settings.order == "permuted":
            generator(self._seed, "order", row["question_id"]).shuffle(images)
        images = images if self._settings.images == "seen" else []
        pictures = tuple(map(self._picture, images))
        return Shown(row["question_id"], row["text"], row["answer"], tuple(images), pictures)

    def _picture(self, image: str) -> Path:
        if image not in self._found:
            path = find_image(image, self._folders)
            if path is None:
                raise InputError(
                    f"the picture of {image} is in no folder of `images`: make it, or correct the folders."
                )
            self._found[image] = path
        return self._found[image]
