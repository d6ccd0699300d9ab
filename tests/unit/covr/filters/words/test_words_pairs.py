"""Which pairs of names are found in context, and which of them come first."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.words.pairs import PairSettings, in_context, most_useful, opened
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS


def write(folder, attributes=(), relations=()):
    """attributes: (noun, attribute) of an object each; relations: (subject's noun, name, object's noun)."""
    objects, marked, related = [], [], []

    def add(noun):
        objects.append(
            {"scene_id": "1", "object_id": str(len(objects)), "name": noun, **dict.fromkeys(("x", "y", "w", "h"))}
        )
        return objects[-1]["object_id"]

    for noun, attribute in attributes:
        marked.append({"scene_id": "1", "object_id": add(noun), "name": attribute, "group": None})
    for number, (subject, name, target) in enumerate(relations):
        sides = {"subject_id": add(subject), "object_id": add(target)}
        related.append({"scene_id": "1", "relation_id": str(number), **sides, "name": name})
    rows = {OBJECTS: objects, ATTRIBUTES: marked, RELATIONS: related, MODIFIERS: []}
    for schema, found in rows.items():
        tables.write(folder / f"{schema.name}.parquet", schema, found)


def first(folder, kind, most=100, known=(), **changes):
    wanted = PairSettings(**changes)
    with opened(folder, folder, wanted) as connection:
        return most_useful(connection, kind, wanted, most, set(known))


def test_pairs_of_most_contexts_come_first_with_contexts_as_examples(tmp_path):
    write(
        tmp_path,
        [
            *[("apple", "red"), ("apple", "green"), ("car", "red"), ("car", "green"), ("car", "old")],
            *[("hat", "old"), ("hat", "blue"), ("hat", "old"), ("hat", "blue")],
        ],
    )
    found = first(tmp_path, "attribute")
    assert [(one.x, one.y, one.contexts) for one in found] == [
        ("green", "red", 2),
        ("blue", "old", 1),  # seen twice each, the next two once
        ("green", "old", 1),
        ("old", "red", 1),
    ]
    assert found[0].examples == ("apple that is …", "car that is …")
    assert first(tmp_path, "attribute", most=1) == found[:1]
    assert first(tmp_path, "attribute", known={("attribute", "green", "red"), ("noun", "blue", "old")}) == found[1:]


def test_relations_are_shown_between_their_nouns(tmp_path):
    write(tmp_path, relations=[("man", "riding", "horse"), ("man", "on", "horse"), ("man", "on", "car")])
    (found,) = first(tmp_path, "relation")
    assert (found.x, found.y, found.examples) == ("on", "riding", ("man … horse",))


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("pqrst")), max_size=25), st.integers(1, 3))
def test_ranks_are_those_of_counting_one_by_one(tmp_path, attributes, min_seen):
    write(tmp_path, attributes)
    seen = Counter(attributes)
    expected: dict = {}
    for noun in "abcd":
        names = sorted(name for name in "pqrst" if seen[noun, name] >= min_seen)
        for x, y in combinations(names, 2):
            contexts, times = expected.get((x, y), (0, 0))
            expected[x, y] = (contexts + 1, times + min(seen[noun, x], seen[noun, y]))
    order = sorted(expected, key=lambda pair: (-expected[pair][0], -expected[pair][1], pair))
    found = first(tmp_path, "attribute", min_seen=min_seen)
    assert [(one.x, one.y) for one in found] == order
    assert [one.contexts for one in found] == [expected[pair][0] for pair in order]
    wanted = PairSettings(min_seen=min_seen)
    with opened(tmp_path, tmp_path, wanted) as connection:
        pairs = in_context(connection, "attribute", wanted, 2).read_all().to_pylist()
    assert [(pair["x"], pair["y"]) for pair in pairs] == sorted(expected)


def test_an_unknown_kind_is_refused(tmp_path):
    write(tmp_path)
    with pytest.raises(ValueError, match="no kind of name"):
        first(tmp_path, "verb")
