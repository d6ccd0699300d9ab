"""The word filter's table: which pairs are found in context, and what m they get."""

import json
from collections import defaultdict
from functools import partial
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.words.overlap import OVERLAP, OverlapSettings, overlap
from compvqa.errors import InputError
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS, SCENES

LEXICON = {
    "nouns": {"cat": {}, "dog": {"hypernyms": ["animal"]}, "animal": {}, "jug": {}, "cup": {}},
    "attributes": {"red": {"group": "color"}, "blue": {"group": "color"}, "old": {"group": "age"}},
    "relations": {"riding": {"entails": ["on"]}, "on": {}, "near": {}},
}


def write(folder, objects, relations=(), modifiers=()):
    """objects: (scene, id, name, attributes); relations: (scene, id, subject, object, name); modifiers."""
    boxless = {"x": None, "y": None, "w": None, "h": None}
    rows = {
        SCENES: [],
        OBJECTS: [{"scene_id": s, "object_id": o, "name": n, **boxless} for s, o, n, _ in objects],
        ATTRIBUTES: [
            {"scene_id": s, "object_id": o, "name": a, "group": None} for s, o, _, found in objects for a in found
        ],
        RELATIONS: [
            {"scene_id": s, "relation_id": r, "subject_id": a, "object_id": b, "name": n} for s, r, a, b, n in relations
        ],
        MODIFIERS: [{"scene_id": s, "relation_id": r, "name": n, "object_id": o} for s, r, n, o in modifiers],
    }
    for schema, found in rows.items():
        tables.write(folder / f"{schema.name}.parquet", schema, found)
    (folder / "lexicon.json").write_text(json.dumps(LEXICON))


def run(folder, **changes):
    counts = overlap(folder, folder / "lexicon.json", folder / "overlap.parquet", OverlapSettings(**changes))
    rows = tables.read(folder / "overlap.parquet", OVERLAP).to_pylist()
    return {(row["kind"], row["x"], row["y"]): row["m"] for row in rows}, counts


def test_pairs_of_each_kind(tmp_path):
    write(
        tmp_path,
        [
            ("1", "a", "cat", ["red"]),
            ("1", "b", "jug", []),
            ("2", "a", "cat", ["blue", "old"]),
            ("2", "b", "jug", ["old"]),
            ("3", "a", "dog", []),
            ("3", "b", "cup", []),
        ],
        [("1", "0", "a", "b", "on"), ("2", "0", "a", "b", "riding"), ("3", "0", "a", "b", "on")],
        [("1", "0", "with", "b"), ("3", "0", "with", "a")],
    )
    found, counts = run(tmp_path)
    pairs = {
        ("attribute", "red", "blue"): True,
        ("attribute", "red", "old"): False,
        ("attribute", "blue", "old"): False,
        ("noun", "cat", "dog"): True,  # both are subjects of "on"
        ("noun", "jug", "cup"): True,  # both are objects of "on"
        ("noun", "cat", "jug"): True,  # both are old
        ("noun", "dog", "jug"): True,  # both are modifiers "with" of "on"
    }
    both = pairs | {(kind, y, x): exclusive for (kind, x, y), exclusive in pairs.items()}
    relations = {("relation", "on", "riding"): False, ("relation", "riding", "on"): False}
    assert {key: m > 0.5 for key, m in found.items()} == both | relations
    assert counts == {
        "attribute pairs": 3,
        "attribute pairs exclusive": 1,
        "noun pairs": 4,
        "noun pairs exclusive": 4,
        "relation pairs": 2,
        "relation pairs exclusive": 0,
        "out": 16,
    }


nouns = st.sampled_from(["cat", "dog", "animal", "jug"])
scene = st.tuples(
    nouns,
    nouns,
    st.sampled_from(["on", "near"]),
    st.frozensets(st.sampled_from(["red", "blue", "old"]), max_size=2),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(scenes=st.lists(scene, max_size=5))
def test_against_brute_force(tmp_path, scenes):
    objects, relations, seen = [], [], defaultdict(set)
    for number, (one, other, relation, attributes) in enumerate(scenes):
        objects += [(str(number), "a", one, sorted(attributes)), (str(number), "b", other, [])]
        relations.append((str(number), "0", "a", "b", relation))
        seen["noun", "subject", relation].add(one)
        seen["noun", "object", relation].add(other)
        seen["relation", one, other].add(relation)
        for attribute in attributes:
            seen["attribute", one].add(attribute)
            seen["noun", "attribute", attribute].add(one)
    expected = {(context[0], x, y) for context, names in seen.items() for x, y in permutations(names, 2)}
    names = {name for _, _, name, _ in objects}
    if {"dog", "animal"} <= names:  # seen in one context or not
        expected |= {("noun", "dog", "animal"), ("noun", "animal", "dog")}
    write(tmp_path, objects, relations)
    assert set(run(tmp_path)[0]) == expected


def apart(folder):
    """Names of which one entails another, each in a context of its own."""
    objects = [("1", "a", "cat", []), ("1", "b", "dog", []), ("2", "a", "jug", []), ("2", "b", "water jug", [])]
    objects += [("3", "a", "animal", []), ("3", "b", "cup", [])]
    write(folder, objects, [("1", "0", "a", "b", "riding"), ("2", "0", "b", "a", "near"), ("3", "0", "a", "b", "on")])


def test_names_that_entail_each_other_are_scored_whatever_their_contexts(tmp_path):
    apart(tmp_path)
    found, counts = run(tmp_path)
    nouns = [("noun", "animal", "dog"), ("noun", "jug", "water jug")]
    assert set(found) == {*nouns, *((k, y, x) for k, x, y in nouns), *permute("relation", "on", "riding")}
    assert max(found.values()) <= 0.5
    assert counts["noun pairs"] == counts["relation pairs"] == 0
    assert counts["noun pairs entailed"] == 2 and counts["relation pairs entailed"] == 2


def permute(kind, *names):
    return {(kind, *pair) for pair in permutations(names, 2)}


def test_a_method_is_asked_about_pairs_in_context_only(tmp_path, monkeypatch):
    """Another method calls all names exclusive; what entails what, and was never seen in one context, is as the
    lexicon has it."""
    asked = []

    def score(kind, xs, ys):
        asked.extend(zip(xs, ys, strict=True))
        return [0.9] * len(xs)

    monkeypatch.setattr("compvqa.covr.filters.words.methods.lexicon.scorer", lambda kind, given: partial(score, kind))
    apart(tmp_path)
    found, _ = run(tmp_path)
    assert asked == [] and len(found) == 6 and max(found.values()) <= 0.5
    write(tmp_path, [("1", "a", "dog", ["old"]), ("2", "a", "animal", ["old"])])
    assert run(tmp_path)[0] == dict.fromkeys(permute("noun", "dog", "animal"), pytest.approx(0.9))


def test_without_a_filter_all_pairs_in_context_are_exclusive_and_no_others_are_added(tmp_path):
    apart(tmp_path)
    assert run(tmp_path, method="none")[0] == {}
    write(tmp_path, [("1", "a", "dog", ["old"]), ("2", "a", "animal", ["old"])])
    assert run(tmp_path, method="none")[0] == dict.fromkeys(permute("noun", "dog", "animal"), 1.0)


def test_a_context_gives_pairs_of_its_most_frequent_names_only(tmp_path):
    names = ["cat"] * 3 + ["dog"] * 2 + ["jug"]
    write(tmp_path, [(str(i), "a", name, ["red"]) for i, name in enumerate(names)])
    assert set(run(tmp_path, names_per_context=2)[0]) == {("noun", "cat", "dog"), ("noun", "dog", "cat")}
    assert set(run(tmp_path, min_seen=3)[0]) == set()


def test_an_unknown_method_is_named(tmp_path):
    write(tmp_path, [])
    for method in ("nonsense", "../lexicon", "__init__"):
        with pytest.raises(InputError, match="use one of .*lexicon"):
            run(tmp_path, method=method)
