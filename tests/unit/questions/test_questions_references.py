"""Taking subgraphs apart: replaced nodes, the forms of quantifiers, preconditions of templates."""

from collections import Counter

import pytest

from compvqa.graphs.subgraph import Edge, Modifier, make
from compvqa.programs.executor import execute
from compvqa.programs.operators import Row, check
from compvqa.questions.covr import comparing, templates
from compvqa.questions.covr.quantifiers import forms
from compvqa.questions.covr.references import alike_branches, condition_rows, repeats_attribute, substitute
from compvqa.questions.covr.seed import Negative
from compvqa.scenes.graph import Object, Relation, SceneGraph

# standing man (0) uncorking (1) a dark bottle (2) with (3) a corkscrew (4)
UNCORKING = make("man", "standing", (Edge("uncorking", make("bottle", "dark"), (Modifier("with", "corkscrew"),)),))
# girl (0) holding (1) a bouquet (2) and wearing (3) a red dress (4)
GIRL = make("girl", None, (Edge("wearing", make("dress", "red")), Edge("holding", make("bouquet"))))
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
    assert substitute(UNCORKING, node, name, attribute).json() == changed


def test_nodes_of_chains_and_second_branches():
    assert substitute(CUP, 4, "hat").edges[0].target.edges[0].target.name == "hat"
    assert substitute(CUP, 3, "holding").edges[0].target.edges[0].name == "holding"
    assert {e.target.name for e in substitute(GIRL, 4, "shirt").edges} == {"bouquet", "shirt"}
    assert substitute(GIRL, 3, "near") == make(
        "girl", None, (Edge("holding", make("bouquet")), Edge("near", make("dress", "red")))
    )


def test_the_reference_of_a_distractor():
    one = comparing.replaced(UNCORKING, "0_attr", Negative("s", (0,), ("sitting",)))
    assert (one.name, one.attribute) == ("man", "sitting")
    two = comparing.replaced(UNCORKING, "0_neg_attr_root", Negative("s", (0, 2), ("sitting", "can")))
    assert (two.attribute, two.edges[0].target.name, two.edges[0].target.attribute) == (
        "sitting",
        "can",
        "dark",
    )


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
    assert check(program) == "truth value"
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
    slots = {
        "compare": "eq",
        "number": 2,
        "operator": "All",
        "attribute": "old",
        "group": "color",
        "group_name": "color",
    }
    slots |= {"test": condition_rows("old", ()), "quantifier": "All", "more": "more", "than": "than"}
    slots |= {"is": "is", "quantity": "1", "images": "image", "form": "singular"}
    references = {"ref": GIRL, "ref2": CUP, "scope": GIRL, "condition": GIRL}
    outputs = Counter()
    for template in templates.load(root / "config" / "templates" / "covr"):
        for variant in template.variants.values():
            outputs[check(templates.word(variant, references, slots).program)] += 1
    assert set(outputs) <= {"truth value", "number", "name"} and sum(outputs.values()) >= 11
