"""CLEVR's templates: the official ones are read, ours are the same programs in other words, broken ones are told."""

import copy
import json

import pytest

from compvqa.clevr.language import LANGUAGE
from compvqa.clevr.templates import read_file, read_templates
from compvqa.errors import InputError
from compvqa.programs.rows import Row

ONE_HOP = {
    "text": ["Which color does the <Z2> <C2> <M2> <S2> [that is] <R> the <Z> <C> <M> <S> have?"],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<Z>", "<C>", "<M>", "<S>"]},
        {"type": "relate_filter_unique", "inputs": [1], "side_inputs": ["<R>", "<Z2>", "<C2>", "<M2>", "<S2>"]},
        {"type": "query_color", "inputs": [2]},
    ],
    "params": [
        {"name": f"<{letter}{number}>", "type": kind}
        for number in ("", "2")
        for letter, kind in zip("ZCMS", ("Size", "Color", "Material", "Shape"), strict=True)
    ]
    + [{"name": "<R>", "type": "Relation"}],
    "constraints": [{"type": "NULL", "params": ["<C2>"]}],
}


def write(tmp_path, *entries):
    path = tmp_path / "one_hop.json"
    path.write_text(json.dumps(list(entries)))
    return path


@pytest.fixture(scope="module")
def ours(root):
    return {template.name: template for template in read_templates(root / "config/templates/clevr")}


def test_a_composite_stands_for_the_functions_that_its_filled_slots_need(tmp_path):
    [template] = read_file(write(tmp_path, ONE_HOP))
    assert (template.name, template.last, template.empty) == ("one_hop_0", "query_color", {"<C2>"})
    nothing = ((), (None, "red", None, "cube"), ("left", "small", None, None, None), ())
    assert template.program(nothing) == [
        Row("scene"),
        Row("filter_color", ("red",), (0,)),
        Row("filter_shape", ("cube",), (1,)),
        Row("unique", (), (2,)),
        Row("relate", ("left",), (3,)),
        Row("filter_size", ("small",), (4,)),
        Row("unique", (), (5,)),
        Row("query_color", (), (6,)),
    ]


def test_the_official_files_are_read_as_they_are(clevr):
    found = read_templates(clevr / "CLEVR_1.0_templates")
    assert len(found) == 90
    assert sum(len(template.texts) for template in found) == 425
    assert sum(len(template.empty) for template in found) == 120
    assert sum(len(template.different) for template in found) == 31


def test_ours_are_the_official_programs_in_words_of_our_own(clevr, ours):
    official = {template.name: template for template in read_templates(clevr / "CLEVR_1.0_templates")}
    assert ours.keys() == official.keys()
    for name, template in ours.items():
        theirs = official[name]
        assert (template.nodes, template.slots, template.empty) == (theirs.nodes, theirs.slots, theirs.empty)
        assert sorted(template.different) == sorted(theirs.different)
        assert not set(template.texts) & set(theirs.texts)


def test_ours_are_ninety_each_text_once_with_every_slot_that_is_not_empty(ours):
    assert len(ours) == 90
    texts = [text for template in ours.values() for text in template.texts]
    assert len(texts) == len(set(texts))
    for template in ours.values():
        for text in template.texts:
            assert set(template.slots) == {slot for slot in template.slots if slot in text}, (template.name, text)
        program = template.program([tuple("word" for _ in node.slots) for node in template.nodes])
        assert LANGUAGE.check(program)


def changed(**changes):
    return {**copy.deepcopy(ONE_HOP), **changes}


def with_node(number, **changes):
    nodes = copy.deepcopy(ONE_HOP["nodes"])
    nodes[number] |= changes
    return changed(nodes=nodes)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"text": []}, "lacks 'params'"),
        ("text", "it is no table"),
        (changed(text=[]), "it has no text"),
        (changed(text=["Which <X>?"]), "has the unknown slot <X>"),
        (changed(text=["Which [of <Z>?"]), "has brackets that do not pair"),
        (with_node(3, type="query_colour"), "node 3 is of no known function 'query_colour'"),
        (with_node(3, type="count"), "count's dependency 1 is object, not objects"),
        (with_node(3, inputs=[3]), r"node 3, query_color, takes the nodes \[3\], not all above it"),
        (with_node(3, inputs=[1]), "no node takes what node 2 gives"),
        (with_node(1, side_inputs=["<Z>"]), "node 1, filter_unique, takes slots of"),
        (changed(nodes=ONE_HOP["nodes"][:-1]), "ends in unique, which gives object and no answer"),
        (changed(params=[*ONE_HOP["params"], {"name": "<Q>", "type": "Size"}]), "its params are not the slots"),
        (changed(params=[{"name": "<Q>", "type": "Weight"}]), "there is no type of slots 'Weight'"),
        (changed(constraints=[{"type": "NEQ", "params": ["<C>", "<C2>"]}]), "there is no constraint NEQ"),
        (changed(constraints=[{"type": "NULL", "params": ["<R>"]}]), "there is no constraint NULL of"),
        (changed(constraints=[{"type": "OUT_NEQ", "params": [1, 9]}]), "there is no constraint OUT_NEQ of"),
    ],
)
def test_a_broken_template_is_told_with_file_family_and_fault(tmp_path, entry, words):
    with pytest.raises(InputError, match=rf"one_hop.json, template 1 \(counted from 0\), .*{words}.*correct it\.$"):
        read_file(write(tmp_path, ONE_HOP, entry))


def test_files_that_are_no_templates_are_told(tmp_path):
    with pytest.raises(InputError, match="holds no templates"):
        read_templates(tmp_path)
    path = tmp_path / "a.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="is no list of templates"):
        read_templates(tmp_path)
    path.write_text('[{"text": ')
    with pytest.raises(InputError, match="is not valid JSON"):
        read_templates(tmp_path)
