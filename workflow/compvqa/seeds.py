"""Keyed, order-free randomness.

Every choice draws from a hash of (seed, what is being chosen, the key of the thing), so that it does
not depend on shard counts, cores, the order of jobs, ``PYTHONHASHSEED`` or the graph backend.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b, md5
from typing import Any, TypeVar

T = TypeVar("T")


def stable_hash(*parts: object) -> int:
    """A signed 64-bit hash of ``parts`` (strings, integers, floats, booleans, None, nested tuples).

    The same on every machine, Python version and run; type-sensitive (``1`` and ``"1"`` differ).
    """
    digest = blake2b("\x1f".join(map(repr, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def text_key(text: str) -> int:
    """The first 60 bits of a text's MD5; DuckDB makes the same number by the macro ``text_key`` of its
    connections."""
    return int(md5(text.encode(), usedforsecurity=False).hexdigest()[:15], 16)


def generator(seed: int, *key: object) -> random.Random:
    """A random generator of its own for the choice named by ``key``."""
    return random.Random(stable_hash(seed, *key))


def shuffle(rng: random.Random, items: list[Any]) -> None:
    """What ``rng.shuffle`` does, by the same draws, in half its time: of small lists most of that is calls."""
    draw = rng.getrandbits
    for last in range(len(items) - 1, 0, -1):
        bits = (last + 1).bit_length()
        place = draw(bits)
        while place > last:
            place = draw(bits)
        items[last], items[place] = items[place], items[last]


def by_rank(seed: int, what: str, items: Iterable[T], key: Callable[[T], Any] = lambda item: item) -> list[T]:
    """``items`` in the stable random order of the choice ``what``; each has a ``key(item)`` of its own."""
    return sorted(items, key=lambda item: (stable_hash(seed, what, key(item)), repr(key(item))))


def shard_of(key: object, shards: int) -> int:
    """The shard (0 … shards - 1) that the thing named ``key`` belongs to."""
    return stable_hash("shard", key) % shards


def of_shard(items: Sequence[T], shard: int, shards: int, key: Callable[[T], Any] = lambda item: item) -> list[T]:
    """The items whose key falls into ``shard``, in their given order."""
    return [item for item in items if shard_of(key(item), shards) == shard]
