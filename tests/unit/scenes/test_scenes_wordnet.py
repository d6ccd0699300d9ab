"""What nouns mean by WordNet's files, on a small world of them in their format."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.senses import SenseData, Senses
from compvqa.scenes.wordnet import read

ARTIFACT, BODY, ANIMAL, GROUP, PERSON, ACT = 6, 8, 5, 14, 18, 4
# number: (lexicographer file, words, pointers); below five kinds, nouns are concrete enough to share
CHAIN = {n: (3, [f"kind_{'abcde'[n - 1]}"], [("@", n - 1)] if n > 1 else []) for n in range(1, 6)}
SYNSETS = CHAIN | {
    10: (BODY, ["arm"], [("@", 5)]),
    11: (BODY, ["hand", "manus"], [("@", 5), ("#p", 10)]),
    12: (BODY, ["finger"], [("@", 5), ("#p", 11)]),
    20: (ARTIFACT, ["bag"], [("@", 5)]),
    21: (ARTIFACT, ["suitcase", "bag", "grip"], [("@", 5)]),
    30: (ARTIFACT, ["wheel"], [("@", 5)]),
    31: (ARTIFACT, ["car_wheel"], [("@", 30), ("#p", 32)]),
    32: (ARTIFACT, ["car", "auto"], [("@", 5), ("~", 33)]),
    33: (ARTIFACT, ["taxi", "cab"], [("@", 32)]),
    40: (ANIMAL, ["cat"], [("@", 5)]),
    41: (PERSON, ["gossip", "cat"], [("@", 42)]),
    42: (PERSON, ["nurse"], [("@", 5)]),
    50: (GROUP, ["police"], [("@", 5)]),
    51: (PERSON, ["policeman", "officer"], [("@", 5), ("#m", 50)]),
    60: (ACT, ["walk"], [("@", 5)]),
    61: (PERSON, ["Newton"], [("@i", 42)]),
}
INDEX = {"cat": ([40, 41], 1), "bag": ([20, 21], 1), "newton": ([], 0)}


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    """A folder with the synsets above as WordNet writes them."""
    folder = tmp_path_factory.mktemp("wordnet")
    licence, data, index = "  1 This software is provided as is  \n", "", ""
    nouns = {}
    for number, (file, words, pointers) in SYNSETS.items():
        said = " ".join(f"{word} 0" for word in words)
        to = " ".join(f"{sign} {other:08} n 0000" for sign, other in pointers)
        data += (
            f'{number:08} {file:02} n {len(words):02x} {said} {len(pointers):03} {to} | what it is; "so | it is"  \n'
        )
        for word in words:
            nouns.setdefault(word.lower(), []).append(number)
    for noun, found in nouns.items():
        found, tagged = INDEX[noun] if INDEX.get(noun, ([],))[0] else (found, 0)
        index += f"{noun} n {len(found)} 2 @ ~ {len(found)} {tagged} {' '.join(f'{one:08}' for one in found)}  \n"
    (folder / "data.noun").write_text(licence + data)
    (folder / "index.noun").write_text(licence + index)
    return folder


@pytest.fixture(scope="module")
def lexicon(wordnet):
    return Lexicon(LexiconData(complete=False)).with_wordnet(wordnet)


@pytest.mark.parametrize(
    ("x", "y", "overlap"),
    [
        ("finger", "hand", True),
        ("fingers", "arm", True),  # a part of a part
        ("bag", "suitcase", True),  # the second of its meanings
        ("grip", "bag", True),
        ("wheel", "taxi", True),  # that of a car, which a taxi is
        ("police", "policeman", True),  # a member
        ("hand", "wheel", False),
        ("bag", "car", False),  # both are of a kind, which says too little
        ("cat", "nurse", False),  # a word for people that no corpus has
        ("car wheel", "auto", True),
        ("spare wheel", "wheel", True),  # by its last word
        ("spare wheel", "cab", True),
        ("walk", "walker", False),
        ("unheard", "bag", False),
    ],
)
def test_kinds_and_parts_overlap_in_any_of_their_meanings(lexicon, x, y, overlap):
    assert (lexicon.exclusive("noun", x, y) <= 0.5) == (lexicon.exclusive("noun", y, x) <= 0.5) == overlap


def test_only_common_nouns_that_can_be_seen_are_read(wordnet):
    assert {"hand", "manus", "car wheel"} <= read(wordnet).nouns.keys()
    assert not {"walk", "newton", "Newton"} & read(wordnet).nouns.keys()


def test_what_a_lexicon_states_goes_before_what_wordnet_tells(lexicon):
    stated = {"finger": {"excludes": ["hand"]}, "woman": {"hypernyms": ["person"], "facets": {"sex": "female"}}}
    stated |= {"policeman": {"hypernyms": ["person"], "facets": {"sex": "male"}}, "person": {}}
    both = Lexicon(LexiconData(nouns=stated, senses=lexicon.data.senses))
    assert both.exclusive("noun", "finger", "hand") > 0.5 and both.exclusive("noun", "policeman", "woman") > 0.5
    assert both.exclusive("noun", "finger", "arm") <= 0.5


def test_a_lexicon_s_file_keeps_it(lexicon, tmp_path):
    lexicon.dump(tmp_path / "lexicon.json")
    again = Lexicon.load(tmp_path / "lexicon.json")
    assert again.data == lexicon.data and json.loads((tmp_path / "lexicon.json").read_text())["senses"]["nouns"]["arm"]


@pytest.mark.parametrize(
    ("name", "line"), [("data.noun", "12345 06 n zz"), ("index.noun", "arm n many"), ("data.noun", "x 06 n 01 a 0 000")]
)
def test_a_line_that_is_not_wordnet_s_is_named(wordnet, tmp_path, name, line):
    for file in ("data.noun", "index.noun"):
        (tmp_path / file).write_text((wordnet / file).read_text() + (f"{line}\n" if file == name else ""))
    number = len((tmp_path / name).read_text().splitlines())
    with pytest.raises(InputError, match=f"{name}, line {number}: .* unchanged"):
        read(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="data.noun .*WordNet"):
        read(tmp_path)


@given(st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=3)), st.data())
def test_who_is_above_whom_ends_and_is_alike_both_ways(kinds, data):
    """Also where kinds go round in a circle, as no release should have it."""
    names = {f"n{number}": [number] for number in range(13)}
    senses = Senses(SenseData(nouns=names, kinds=kinds, wholes=data.draw(st.just(kinds) | st.just({}))))
    for x in names:
        assert senses.overlap((x,), (x,)) in (True, False)
        assert all(senses.overlap((x,), (y,)) == senses.overlap((y,), (x,)) for y in names)
