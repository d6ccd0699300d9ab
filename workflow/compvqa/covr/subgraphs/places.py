"""The shapes of subgraphs as small tables, by number, for a set-wise search: how a shape can be read, which of its
names can be replaced, alone or in twos, and what each such change is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from compvqa.covr.subgraphs import shapes
from compvqa.seeds import text_key

_WHOLE_SCENE = ("pos", "no_mult", "mult")
_SLOTS = pa.list_(pa.int8())  # of a shape, from 1
_SHAPE = pa.schema([("id", pa.int16()), ("shape", pa.string()), ("salt", pa.int64()), ("leaf", pa.int8())])
_KEY = pa.schema([("id", pa.int16()), ("key", pa.string()), ("node", pa.int16()), ("node2", pa.int16())])
_OTHER_READING = pa.schema(
    [
        ("shape", pa.int16()),
        ("reading", pa.int16()),
        ("read_shape", pa.int16()),  # the shape when read so
        ("salt", pa.int64()),  # that shape's
        ("slots", _SLOTS),  # in the order in which they are read
    ]
)
_PLACE = pa.schema(  # the slots with a name that can be replaced, or with two, and the number of the key for that
    [("shape", pa.int16()), ("id", pa.int16()), ("slots", _SLOTS), ("salt", pa.int64())]
)
_CHANGE = pa.schema(
    [
        ("places2", pa.int16()),
        ("key_id", pa.int16()),
        ("slot2", pa.int8()),
        ("without_salt", pa.int64()),  # of the shape of what must be absent
        ("without", _SLOTS),
        ("relations", _SLOTS),
        ("leaves", _SLOTS),
        ("seen", _SLOTS),
    ]
)


def tables_of(found: Sequence[str]) -> dict[str, pa.Table]:
    """The tables of the shapes ``found``, and of what they are when read otherwise; slots count from 1.

    ``salt`` stands for all subgraphs of a shape, or for all of them with these slots masked.
    """
    orders = {shape: shapes.readings(shape) for shape in found}
    known = sorted({shape for order in orders.values() for shape, _ in order})
    slots = {shape: shapes.slots(shape) for shape in known}
    changes = {shape: shapes.changes2(shape) for shape in known}
    nodes = _nodes(slots.values(), changes.values())
    ids, keys = _numbers(known), _numbers(sorted(nodes))
    twos = _numbers(sorted({(shape, *change.slots) for shape, row in changes.items() for change in row}))
    return {
        "shape": _table(_SHAPE, ([ids[s], s, _salt_of(s), _last_noun(slots[s])] for s in known)),
        "other_reading": _table(_OTHER_READING, _other_readings(orders, ids)),
        "place": _table(_PLACE, ([ids[s], *place] for s, row in slots.items() for place in _places(s, row, keys))),
        "places2": _table(_PLACE, ([ids[s], i, _from_1(both), _salt_of(s, *both)] for (s, *both), i in twos.items())),
        "change": _table(
            _CHANGE, ([twos[s, *c.slots], keys[c.key], *_asked(c)] for s, row in changes.items() for c in row)
        ),
        "key_node": _table(_KEY, ([i, key, *nodes[key]] for key, i in keys.items())),
    }


def _nodes(
    slots: Iterable[list[shapes.Slot]], changes: Iterable[list[shapes.Change2]]
) -> dict[str, tuple[int | None, int | None]]:
    """The keys of candidates, and the nodes that differ by them."""
    nodes: dict[str, tuple[int | None, int | None]] = dict.fromkeys(_WHOLE_SCENE, (None, None))
    nodes |= {slot.key: (slot.node, None) for row in slots for slot in row if slot.key}
    return nodes | {change.key: (change.first.node, change.second.node) for row in changes for change in row}


def _other_readings(orders: dict[str, list], ids: dict[str, int]) -> Iterator[list]:
    for shape, order in orders.items():
        for number, (other, places) in enumerate(order):
            if number:
                yield [ids[shape], number, ids[other], _salt_of(other), _from_1(places)]


def _places(shape: str, slots: list[shapes.Slot], keys: dict[str, int]) -> Iterator[list]:
    """Of each slot that can be replaced: the number of its key, itself, its salt."""
    for place, slot in enumerate(slots):
        if slot.key:
            yield [keys[slot.key], _from_1([place]), _salt_of(shape, place)]


def _asked(change: shapes.Change2) -> tuple:
    """What a change of two nodes asks, as the columns of its table from ``slot2`` on."""
    shape, places = change.without
    lists = (places, change.relations, change.leaves, change.seen)
    return change.slots[1] + 1, _salt_of(shape), *map(_from_1, lists)


def _last_noun(slots: list[shapes.Slot]) -> int:
    return 1 + max(place for place, slot in enumerate(slots) if slot.kind == "noun")


def _from_1(places: Iterable[int]) -> list[int]:
    return [place + 1 for place in places]


def _salt_of(shape: str, *masked: int) -> int:
    return text_key(f"shape {shape} {masked}")


def _numbers(items: Iterable) -> dict:
    return {item: number for number, item in enumerate(items)}


def _table(schema: pa.Schema, rows: Iterable[Sequence]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)
