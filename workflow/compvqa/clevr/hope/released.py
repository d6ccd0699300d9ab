"""The authors' released questions of CLEVR-HOPE, in HDF5, as a question file of CLEVR's release.

A file has a row a question: ``questions`` and ``programs`` are numbers of words in a vocabulary (vocab.json), programs
in prefix order and with START and END; ``answers`` numbers of answers; ``image_idxs`` places in the scene file;
``question_families`` numbers of families. Scene files are CLEVR's own, which the reader ``clevr`` reads. Texts have
lost their full stops, which is how models saw them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py

from compvqa.clevr.language import LANGUAGE, OPERATORS, to_functions
from compvqa.errors import InputError
from compvqa.files import read_json
from compvqa.programs.language import ProgramTypeError
from compvqa.programs.rows import Row
from compvqa.scenes.stream import elements_of
from compvqa.tables import replacing

COLUMNS = ("questions", "programs", "answers", "image_idxs")
NULL, START, END, UNKNOWN = "<NULL>", "<START>", "<END>", "<UNK>"
CHUNK = 10_000  # rows that are in memory
MALFORMED, STRANGE = "a program that is none", "a word that is in no vocabulary"


@dataclass(frozen=True)
class Vocabulary:
    """What the numbers of questions, programs and answers stand for."""

    questions: Mapping[int, str]
    programs: Mapping[int, str]
    answers: Mapping[int, str]


def read_vocabulary(path: Path) -> Vocabulary:
    """The words of a file vocab.json."""
    data, found = read_json(path), []
    for name in ("question", "program", "answer"):
        known = data.get(f"{name}_token_to_idx") if isinstance(data, dict) else None
        if not isinstance(known, dict):
            raise InputError(f"{path} has no {name}_token_to_idx: name the vocab.json beside the questions.")
        found.append({number: word for word, number in known.items()})
    return Vocabulary(*found)


def convert(questions: Path, vocabulary: Vocabulary, scenes: Path, split: str, out: Path) -> dict[str, int]:
    """Write the questions of an HDF5 file as a question file of CLEVR's, as part of the side ``split``; gives counts.

    A row that is no question is left out and counted. InputError where the file lacks a column, or asks about a picture
    that the scene file has not.
    """
    pictures = [record["image_filename"] for record in elements_of(scenes, "scenes")]
    counts: Counter[str] = Counter(out=0)
    with replacing(out) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(f'{{"info": {json.dumps({"split": split})}, "questions": [')
        for number, row in enumerate(_rows(questions)):
            counts["in"] += 1
            image = int(row["image_idxs"])
            if not 0 <= image < len(pictures):
                raise InputError(
                    f"{questions}, row {number}: it asks about picture {image}, of {len(pictures)} in {scenes}: name "
                    "its own scene file."
                )
            try:
                told = _question(row, vocabulary)
            except (ValueError, ProgramTypeError):
                counts[f"rejected: {MALFORMED}"] += 1
                continue
            except KeyError:
                counts[f"rejected: {STRANGE}"] += 1
                continue
            where = {"image_filename": pictures[image], "image_index": image, "split": split, "question_index": number}
            file.write(("," if counts["out"] else "") + "\n" + json.dumps(told | where))
            counts["out"] += 1
        file.write("\n]}\n")
    return dict(sorted(counts.items()))


def _rows(path: Path) -> Iterator[dict]:
    """The rows of a file, of which some are in memory at a time."""
    try:
        file = h5py.File(path, "r")
    except OSError:
        raise InputError(f"{path} is no HDF5 file: name one of the released question files.") from None
    with file:
        if missing := [name for name in COLUMNS if not isinstance(file.get(name), h5py.Dataset)]:
            raise InputError(f"{path} has no {missing[0]}: name one of the released question files.")
        names = [*COLUMNS, *(name for name in ("question_families",) if name in file)]
        lengths = {name: len(file[name]) for name in names}
        if len(set(lengths.values())) > 1:
            raise InputError(f"{path} has columns of different lengths ({lengths}): get it anew.")
        for start in range(0, lengths["questions"], CHUNK):
            chunk = {name: file[name][start : start + CHUNK] for name in names}
            for place in range(len(chunk["questions"])):
                yield {name: values[place] for name, values in chunk.items()}


def _question(row: Mapping, vocabulary: Vocabulary) -> dict:
    """A row as an entry of CLEVR's question files. KeyError of a strange word, ValueError of a program that is none."""
    program = parse(_words(row["programs"], vocabulary.programs))
    LANGUAGE.check(program)
    words = " ".join(_words(row["questions"], vocabulary.questions))
    text = words.replace(" ;", ";").replace(" ,", ",") + "?"
    told = {"question": text, "program": to_functions(program), "answer": vocabulary.answers[int(row["answers"])]}
    family = int(row.get("question_families", -1))
    return told | ({"question_family_index": family} if family >= 0 else {})


def _words(numbers: Sequence[int], known: Mapping[int, str]) -> list[str]:
    """The words of a row, without what only marks its beginning and end."""
    found = [known[int(number)] for number in numbers]
    if UNKNOWN in found:
        raise KeyError(UNKNOWN)
    return [word for word in found if word not in (NULL, START, END)]


def parse(tokens: Sequence[str]) -> list[Row]:
    """A program in prefix order, such as ``exist filter_color[red] scene``, as rows. ValueError where it is none."""
    rows: list[Row] = []

    def read(place: int) -> int:
        """Read what begins at a place; its rows end with its own. Gives the place after it."""
        if place == len(tokens):
            raise ValueError("a function lacks what it takes")
        name, _, rest = tokens[place].partition("[")
        if name not in OPERATORS:
            raise ValueError(f"there is no function {name}")
        place, given = place + 1, []
        for _ in OPERATORS[name].inputs:
            place = read(place)
            given.append(len(rows) - 1)
        rows.append(Row(name, tuple(rest.removesuffix("]").split(",")) if rest else (), tuple(given)))
        return place

    if read(0) != len(tokens):
        raise ValueError("something follows the program")
    return rows
