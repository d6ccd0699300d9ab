"""What nouns mean by WordNet's own files, ``data.noun`` and ``index.noun`` (wndb(5WN)); see ``scenes/senses.py``.

Princeton's release has them in ``dict/``, Debian's package ``wordnet-base`` in ``/usr/share/wordnet``. Only common
nouns for what can be seen are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from compvqa.errors import InputError
from compvqa.files import read_text
from compvqa.scenes.senses import MEANINGS, SenseData, reached

FILES = ("data.noun", "index.noun")
# Lexicographer files (lexnames(5WN)) of what can be seen: the topmost nouns, animals, artifacts, bodies, food, groups,
# locations, natural objects, people, plants and substances.
SEEN = {3, 5, 6, 8, 13, 14, 15, 17, (PERSON := 18), 20, 27}
# pointers to a hypernym; to what the synset is a part or a member of; to what a single one is an instance of
KIND, WHOLE, SINGLE = ("@",), ("#p", "#m"), "@i"
_COMMON = re.compile(r"[a-z][a-z '-]*")


def read(folder: Path) -> SenseData:
    """The meanings of common nouns; :class:`InputError` names a line that is not as WordNet's."""
    synsets = dict(_synsets(folder / "data.noun"))
    file_of = {synset: file for synset, (file, _, _) in synsets.items()}
    nouns = {}
    for noun, found, tagged in _index(folder / "index.noun"):
        meanings = [(n, synset) for n, synset in enumerate(found) if file_of.get(synset) in SEEN]
        person = bool(meanings) and file_of[meanings[0][1]] == PERSON
        # words for people that no corpus has ("cat" for a gossip) are slang
        kept = [synset for n, synset in meanings if n < tagged or person or file_of[synset] != PERSON]
        if kept and _COMMON.fullmatch(noun):
            nouns[noun] = kept[:MEANINGS]
    kinds = {synset: of for synset, (_, of, _) in synsets.items()}
    return _numbered(nouns, kinds, {synset: of for synset, (_, _, of) in synsets.items()})


def _numbered(nouns: dict[str, list[int]], kinds: dict[int, list[int]], wholes: dict[int, list[int]]) -> SenseData:
    """The nouns, and what is reached from them, with small numbers in the place of synsets' places in the file."""
    both = {synset: [*kinds[synset], *wholes[synset]] for synset in kinds}
    used = reached({synset for of in nouns.values() for synset in of}, both)
    small = {synset: number for number, synset in enumerate(sorted(used))}
    return SenseData(
        nouns={noun: [small[synset] for synset in nouns[noun]] for noun in sorted(nouns)},
        kinds={small[synset]: [small[kind] for kind in of] for synset in small if (of := kinds.get(synset))},
        wholes={small[synset]: [small[whole] for whole in of] for synset in small if (of := wholes.get(synset))},
    )


def _synsets(path: Path) -> Iterator[tuple[int, tuple[int, list[int], list[int]]]]:
    """Of each synset its number, lexicographer file, hypernyms, and what it is a part or member of; none of single
    people and places."""
    for number, fields in _lines(path):
        try:
            after = 4 + 2 * int(fields[3], 16)
            pointers = [fields[at : at + 3] for at in range(after + 1, after + 1 + 4 * int(fields[after]), 4)]
            of = [(sign, int(synset)) for sign, synset, part_of_speech in pointers if part_of_speech == "n"]
            kinds, wholes = ([synset for sign, synset in of if sign in signs] for signs in (KIND, WHOLE))
            if all(sign != SINGLE for sign, _ in of):
                yield int(fields[0]), (int(fields[1]), kinds, wholes)
        except (ValueError, IndexError):
            raise _unlike(path, number) from None


def _index(path: Path) -> Iterator[tuple[str, list[int], int]]:
    """Of each noun its synsets, the most frequent first, and how many of them a corpus has."""
    for number, fields in _lines(path):
        try:
            many = int(fields[2])
            yield fields[0].replace("_", " "), [int(synset) for synset in fields[-many:]], int(fields[-many - 1])
        except (ValueError, IndexError):
            raise _unlike(path, number) from None


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line, without its definition, by its number; the licence before them begins with blanks."""
    text = read_text(path, "give the folder of WordNet's data.noun and index.noun")
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("  "):
            yield number, line.partition("|")[0].split()


def _unlike(path: Path, number: int) -> InputError:
    return InputError(
        f"{path}, line {number}: this is no line of WordNet's; give the folder of its release, unchanged."
    )
