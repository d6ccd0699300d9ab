"""Texts of CLEVR's questions: synonyms, words that may be left out, and "other"."""

import json
from collections import Counter
from random import Random

import pytest

from compvqa.clevr.templates import Template
from compvqa.clevr.words import Words, read_words, text
from compvqa.errors import InputError

PLAIN = Words({}, {})
KINDS = dict(zip(("<Z>", "<C>", "<M>", "<S>"), ("size", "color", "material", "shape"), strict=True))
PAIR = KINDS | {slot.replace(">", "2>"): kind for slot, kind in KINDS.items()}


def asked(sentence, slots, values, words=PLAIN, seed=0):
    filled = dict(zip(slots, values, strict=True))
    return text(Template("t", (sentence,), (), slots), filled, words, Random(seed))


def test_empty_slots_leave_no_space_and_an_object_of_any_shape_is_a_thing():
    assert asked("How many <Z> <C> <M> <S>s?", KINDS, (None, "red", None, None)) == "How many red things?"


def test_one_synonym_stands_for_all_of_a_slot_and_each_is_as_frequent():
    words = Words({}, {"thing": ("thing", "object")})
    found = Counter(asked("A <S> or <S>?", {"<S>": "shape"}, [None], words, seed) for seed in range(1000))
    assert found.keys() == {"A thing or thing?", "A object or object?"}
    assert all(abs(n - 500) < 80 for n in found.values())


def test_words_in_brackets_are_there_half_the_time_each_for_itself():
    found = Counter(asked("A [b c] d [e]?", {}, [], PLAIN, seed) for seed in range(2000))
    assert found.keys() == {"A b c d e?", "A b c d ?", "A d e?", "A d ?"}
    assert all(abs(n - 500) < 100 for n in found.values())


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ((None, "red", None, "cube"), (None, "blue", None, None), "Is there a blue thing? Any thing?"),
        ((None, "red", None, "cube"), (None, None, None, "ball"), "Is there a ball? Any ball?"),
        ((None, "red", None, "cube"), (None, None, None, None), "Is there a thing? Any thing?"),  # a thing is told, too
        ((None, "red", None, None), (None, "red", None, None), "Is there another red thing? Any other thing?"),
        ((None, "red", None, None), ("big", None, None, None), "Is there another big thing? Any other thing?"),
    ],
)
def test_other_is_left_out_where_two_descriptions_differ_in_what_both_tell(one, two, expected):
    sentence = "Is there another <Z2> <C2> <M2> <S2>? Any other <S2>?"
    assert asked(sentence, PAIR, (*one, *two)) == expected


def test_other_stays_where_there_is_one_description():
    assert asked("Any other like the <Z> <C> <M> <S>?", KINDS, (None, "red", None, "cube")).startswith("Any other ")


def test_the_words_that_ship_are_read_and_broken_ones_told(root, tmp_path):
    words = read_words(root / "config/words/clevr.json")
    assert [len(words.values[group]) for group in ("size", "color", "material", "shape", "relation")] == [2, 8, 2, 3, 4]
    data = json.loads((root / "config/words/clevr.json").read_text())
    path = tmp_path / "words.json"
    del data["values"]["color"]
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match="lacks 'color': give values of size, color"):
        read_words(path)
    path.write_text(json.dumps(data | {"values": dict.fromkeys(words.values, [])}))
    with pytest.raises(InputError, match="is malformed .* is no list of words"):
        read_words(path)
