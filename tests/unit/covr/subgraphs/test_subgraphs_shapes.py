"""Slots of shapes, and the orders in which a shape can be read."""

from compvqa.covr.subgraphs import shapes
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make

UNCORKING = make(
    "man",
    "standing",
    (Edge("uncorking", make("bottle"), (Modifier("with", "corkscrew"), Modifier("at", "table"))),),
)


def test_slots_name_the_nodes_as_the_paper_numbers_them():
    shape, names = shapes.shape_of(UNCORKING.json())
    keys = [(slot.key, slot.kind, slot.node) for slot in shapes.slots(shape)]
    assert dict(zip(names, keys, strict=True)) == {
        '"man"': ("0_name", "noun", 0),
        '"standing"': ("0_attr", "attribute", 0),
        '"uncorking"': ("1_relation", "relation", 1),
        '"bottle"': ("2_name", "noun", 2),
        '"at"': (None, "modifier", 3),
        '"table"': ("4_name", "noun", 4),
        '"with"': (None, "modifier", 5),
        '"corkscrew"': ("6_name", "noun", 6),
    }


def test_a_v_with_two_modifiers_is_read_in_four_ways_itself_first():
    edges = (*UNCORKING.edges, Edge("wearing", make("hat", "red")))
    shape, names = shapes.shape_of(make("man", None, edges).json())
    readings = shapes.readings(shape)
    assert len(readings) == len(set(readings)) == 4
    assert readings[0] == (shape, tuple(range(len(names))))


def test_quotes_brackets_and_the_letter_s_in_names_are_no_structure():
    tree = make('s "x" \\', "[s]", (Edge("s", make("null")),)).json()
    shape, names = shapes.shape_of(tree)
    assert shape == "[s,s,[[s,[s,null,[]],[]]]]"
    assert names == ('"s \\"x\\" \\\\"', '"[s]"', '"s"', '"null"')
