"""Randomness is keyed: it depends on what is chosen, never on when or where."""

import os
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.covr.subgraphs.store import StoreSettings, connect
from compvqa.seeds import by_rank, generator, of_shard, shard_of, shuffle, stable_hash, text_key

parts = st.tuples(st.one_of(st.text(), st.integers(), st.booleans(), st.none()))


def test_the_hash_is_the_same_in_every_process():
    command = "from compvqa.seeds import stable_hash; print(stable_hash('a', 1, None, ('b', 2.5)))"
    values = {
        subprocess.run(
            [sys.executable, "-c", command],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert values == {f"{stable_hash('a', 1, None, ('b', 2.5))}\n"}


@pytest.mark.parametrize(("one", "other"), [((1,), ("1",)), (("a", "b"), ("ab",)), ((None,), ("None",))])
def test_the_hash_tells_types_and_boundaries_apart(one, other):
    assert stable_hash(*one) != stable_hash(*other)


@given(st.lists(st.integers(), unique=True), st.randoms())
def test_a_ranking_does_not_depend_on_the_order_given(items, random):
    shuffled = list(items)
    random.shuffle(shuffled)
    assert by_rank(1, "x", items) == by_rank(1, "x", shuffled)


@given(st.lists(st.text(), unique=True), st.integers(1, 7))
def test_shards_are_a_partition(items, shards):
    pieces = [of_shard(items, shard, shards) for shard in range(shards)]
    assert sorted(sum(pieces, [])) == sorted(items)
    assert all(0 <= shard_of(item, shards) < shards for item in items)


def test_generators_of_different_choices_differ():
    assert generator(1, "a").random() == generator(1, "a").random()
    assert len({generator(1, "a").random(), generator(1, "b").random(), generator(2, "a").random()}) == 3


@given(texts=st.lists(st.text()))
def test_duckdb_makes_the_keys_of_texts_that_python_makes(tmp_path_factory, texts):
    with connect(tmp_path_factory.mktemp("store") / "x", StoreSettings()) as connection:
        rows = connection.execute("select text_key(unnest(?::varchar[]))", [texts]).fetchall()
    assert [row[0] for row in rows] == [text_key(text) for text in texts]
    assert all(0 <= text_key(text) < 2**60 for text in texts)


@given(st.integers(), st.lists(st.integers(), max_size=40))
def test_a_shuffle_is_that_of_the_library_and_leaves_the_generator_as_it_does(number, items):
    mine, theirs = random.Random(number), random.Random(number)
    shuffled, expected = list(items), list(items)
    shuffle(mine, shuffled)
    theirs.shuffle(expected)
    assert shuffled == expected and mine.random() == theirs.random()
