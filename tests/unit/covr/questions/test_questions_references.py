"""Taking subgraphs apart: replaced nodes, the forms of quantifiers, preconditions of templates."""

from collections import Counter

import pytest

from compvqa.covr.executor import execute, trace
from compvqa.covr.language import LANGUAGE
from compvqa.covr.questions import templates
from compvqa.covr.questions.kinds.quantifiers import forms
from compvqa.covr.questions.references import (
    alike_branches,
    condition_rows,
    in_distractor,
    object_rows,
    repeats_attribute,
    rows,
    substitute,
    targets,
)
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from compvqa.programs.rows import Row
from compvqa.scenes.graph import Object, Relation, SceneGraph

# standing man (0) uncorking (1) a dark bottle (2) with (3) a corkscrew (4)
UNCORKING = make("man", "standing", (Edge("uncorking", make("bottle", "dark"), (Modifier("with", "corkscrew"),)),))
# girl (0) holding (1) a bouquet (2) and wearing (3) a red dress (4)
GIRL = make("girl", None, (Edge("wearing", make("dress", "red")), Edge("holding", make("bouquet"))))
SLOTS = (
    *(
        "first",
        "second",
        "attribute",
        "first_said",
        "second_said",
        "attribute_said",
        "modified",
        "group",
        "group_name",
        "quantifier",
        "more",
        "than",
        "is",
        "images",
        "contain",
    ),
    *("quantity", "size_phrase", "both", "joint", "asked", "what", "verb"),
)
# cup (0) behind (1) a man (2) wearing (3) a jacket (4)
CUP = make("cup", None, (Edge("behind", make("man", None, (Edge("wearing", make("jacket")),))),))


@pytest.mark.parametrize(
    ("node", "name", "attribute", "changed"),
    [
        (0, "boy", False, '["boy","standing",[["uncorking",["bottle","dark",[]],[["with","corkscrew"]]]]]'),
        (0, "sitting", True, '["man","sitting",[["uncorking",["bottle","dark",[]],[["with","corkscrew"]]]]]'),
        (1, "filling", False, '["man","standing",[["filling",["bottle","dark",[]],[["with","corkscrew"]]]]]'),
        (2, "can", False, '["man","standing",[["uncorking",["can","dark",[]],[["with","corkscrew"]]]]]'),
        (2, "clear", True, '["man","standing",[["uncorking",["bottle","clear",[]],[["with","corkscrew"]]]]]'),
        (3, "by", False, '["man","standing",[["uncorking",["bottle","dark",[]],[["by","corkscrew"]]]]]'),
        (4, "knife", False, '["man","standing",[["uncorking",["bottle","dark",[]],[["with","knife"]]]]]'),
    ],
)
def test_any_node_can_be_replaced(node, name, attribute, changed):
    assert substitute(UNCORKING, {(node, attribute): name}).json() == changed


def test_nodes_of_chains_and_second_branches():
    assert substitute(CUP, {(4, False): "hat"}).edges[0].target.edges[0].target.name == "hat"
    assert substitute(CUP, {(3, False): "holding"}).edges[0].target.edges[0].name == "holding"
    assert {e.target.name for e in substitute(GIRL, {(4, False): "shirt"}).edges} == {"bouquet", "shirt"}
    assert substitute(GIRL, {(3, False): "near"}) == make(
        "girl", None, (Edge("holding", make("bouquet")), Edge("near", make("dress", "red")))
    )


@pytest.mark.parametrize(
    ("g", "key", "nodes", "names", "expected"),
    [
        (UNCORKING, "no_mult", [], [], UNCORKING),
        (UNCORKING, "0_attr", [0], ["sitting"], make("man", "sitting", UNCORKING.edges)),
        (
            UNCORKING,
            "1_relation_neg_attr_root",
            [1, 0],
            ["filling", "sitting"],
            make("man", "sitting", (Edge("filling", make("bottle", "dark"), (Modifier("with", "corkscrew"),)),)),
        ),
        (
            UNCORKING,
            "2_attr_neg_attr_root",
            [2, 0],
            ["clear", "sitting"],
            make("man", "sitting", (Edge("uncorking", make("bottle", "clear"), (Modifier("with", "corkscrew"),)),)),
        ),
        (
            GIRL,
            "4_name_neg_object_2",
            [4, 2],
            ["shirt", "ball"],
            make("girl", None, (Edge("wearing", make("shirt", "red")), Edge("holding", make("ball")))),
        ),
        (
            GIRL,
            "0_name_neg_relation_1",
            [0, 1],
            ["boy", "wrapping"],
            make("boy", None, (Edge("wearing", make("dress", "red")), Edge("wrapping", make("bouquet")))),
        ),
    ],
)
def test_the_subgraph_of_a_distractor(g, key, nodes, names, expected):
    assert in_distractor(g, key, nodes, names) == expected


def test_two_nodes_are_replaced_at_once_though_the_branches_change_places():
    """Renamed first, "holding" would come after "wearing", and node 3 would be the other relation."""
    changed = substitute(GIRL, {(1, False): "with", (3, False): "near"})
    assert changed == make("girl", None, (Edge("with", make("bouquet")), Edge("near", make("dress", "red"))))


def test_all_that_the_subjects_have_a_relation_to():
    things = {str(i): Object(str(i), name) for i, name in enumerate(["man", "tea", "glass", "jar", "water"])}
    pouring = (
        Relation("pouring", "0", "1", (("into", "2"),)),
        Relation("pouring", "0", "4", (("into", "3"),)),
        Relation("holding", "0", "3"),
    )
    scene = SceneGraph("s", things, pouring)
    into_glass = Edge("pouring", make("water"), (Modifier("into", "glass"),))
    assert targets(scene, ["0"], into_glass) == ["1"]
    assert targets(scene, ["0"], Edge("pouring", make("water"))) == ["1", "4"]
    assert targets(scene, ["1"], into_glass) == []
    program = [*rows(make("man")), *object_rows(into_glass, 0, 1)]
    assert [row.operation for row in program] == ["Find", "Scene", "Find", "WithRelationObject"]
    assert LANGUAGE.check(program) == "objects" and trace(program, [scene])[-1] == [["1"]]


def test_quantifiers_cut_an_attribute_a_leaf_or_both_branches():
    (attribute,) = forms(UNCORKING, "attribute")
    assert (attribute.attribute, attribute.keys, attribute.scope.attribute) == ("standing", ("0_attr",), None)
    (leaf,) = forms(UNCORKING, "relation")
    assert leaf.keys == ("1_relation", "2_attr", "2_name", "4_name")
    assert leaf.scope == make("man", "standing")
    one, other = forms(GIRL, "relation")
    assert one.scope.edges == other.edges and other.scope.edges == one.edges
    assert other.keys == ("3_relation", "4_attr", "4_name")
    (both,) = forms(GIRL, "both")
    assert both.scope == make("girl") and set(both.keys) == set(one.keys) | set(other.keys)
    assert not [
        *forms(CUP, "relation"),
        *forms(CUP, "both"),
        *forms(UNCORKING, "both"),
        *forms(CUP, "attribute"),
    ]


def test_a_condition_with_two_branches_runs():
    things = {n: Object(n, n) for n in ("girl", "bouquet")} | {"dress": Object("dress", "dress", {"red": "color"})}
    scene = SceneGraph("s", things, (Relation("wearing", "girl", "dress"), Relation("holding", "girl", "bouquet")))
    program = [Row("Find", ("girl",)), Row("All", (condition_rows(None, GIRL.edges),), (0,))]
    assert LANGUAGE.check(program) == "truth value"
    assert execute(program, [scene]) is True
    assert execute(program, [SceneGraph("s", things, scene.relations[:1])]) is False


def test_branches_that_a_program_cannot_tell_apart():
    old, new = make("book", "old"), make("book", "new")
    assert alike_branches(make("cat", None, (Edge("on", old), Edge("on", new))))
    assert not alike_branches(make("cat", None, (Edge("on", old), Edge("near", new))))


def test_an_attribute_that_a_relation_says_again():
    sofa = make("sofa", "blue")
    assert repeats_attribute(make("man", "sitting", (Edge("sitting on", sofa),)))
    assert repeats_attribute(make("dog", None, (Edge("near", make("man", "lying", (Edge("lying on", sofa),))),)))
    assert not repeats_attribute(make("man", None, (Edge("sitting on", sofa),)))


def test_the_shipped_templates_are_well_typed(root):
    """Each variant's program, with a reference in each slot, gives a truth value, a number or a name."""
    slots = dict.fromkeys(SLOTS, "word")
    slots |= {"compare": "eq", "keep": "KeepIfValuesCountEq", "operator": "And", "number": 2, "size": 2}
    slots |= {"form": "singular", "test": condition_rows("old", ()), "edge": UNCORKING.edges[0]}
    references = {"ref": GIRL, "ref2": CUP, "scope": GIRL, "condition": GIRL, "object": make("dress")}
    outputs = Counter()
    for template in templates.load(root / "config" / "templates" / "covr"):
        for variant in template.variants.values():
            slots["operator"] = "All" if template.kind == "quantifiers" else "And"
            outputs[LANGUAGE.check(templates.word(variant, references, slots).program)] += 1
    assert set(outputs) <= {"truth value", "number", "name"} and sum(outputs.values()) >= 20
