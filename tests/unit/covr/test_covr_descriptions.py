"""What programs say of one object: on the programs of the properties' tests."""

import pytest

from compvqa.covr.descriptions import descriptions
from compvqa.programs.rows import Row
from unit.covr.test_covr_properties import PROGRAMS

LARGEST = {
    "how many red": {("dog", "red")},
    "which color": {("dog", "the answer", "wooden")},
    "red or blue": {("dog", "red"), ("blue", "dog")},
    "what": {("bed",), ("cat", "the answer")},
    "no red": {("dog", "red", "standing")},
    "images with 2": {("cat",), ("bed",)},
    "same material": {("cat", "the answer"), ("dog", "the answer")},
}


def largest(program, answer="the answer"):
    """The descriptions that are part of no other."""
    found = {words for words in descriptions(program, answer) if words}
    return {tuple(sorted(words)) for words in found if not any(words < other for other in found)}


def test_a_relation_joins_no_descriptions():
    program = [
        Row("Find", ("cat",)),
        Row("Filter", ("red",), (0,)),
        Row("Find", ("bed",)),
        Row("Filter", ("old",), (2,)),
        Row("WithRelation", ("on",), (1, 3)),
        Row("Filter", ("wet",), (4,)),
        Row("WithRelationObject", ("on",), (5, 3)),
        Row("Filter", ("wooden",), (6,)),
        Row("Count", (), (7,)),
    ]
    assert largest(program) == {("cat", "red", "wet"), ("bed", "old", "wooden")}


@pytest.mark.parametrize("name", LARGEST)
def test_what_programs_say_of_one_object(name):
    assert largest(PROGRAMS[name]) == LARGEST[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_word_of_a_program_but_relations_is_in_a_description(name):
    nouns_and_attributes = {
        word for row in PROGRAMS[name] if row.operation in ("Find", "Filter") for word in row.arguments
    }
    assert nouns_and_attributes <= {word for words in descriptions(PROGRAMS[name], "") for word in words}
