"""Each of the paper's templates by example: its text as in Table 1, its answers, and why it makes no question."""

import pytest

from compvqa.covr.questions.templates import load
from compvqa.covr.subgraphs.subgraph import make
from compvqa.programs.printed import listing
from fixtures.table10 import QUESTION, ROWS
from unit.covr.questions.seed_worlds import World, every, g, rel


@pytest.fixture(scope="module")
def templates(root):
    return {template.name: template for template in load(root / "config" / "templates" / "covr")}


SINK = g("sink", rel("below", "towel"), attribute="white")
MAN = g("man", rel("wearing", "jersey"), attribute="running")
CARRYING = g("woman", rel("carrying", "bottle"), rel("wearing", "dress"))
HOLDING = g("man", rel("holding", "hat"), attribute="sitting")


def changed_attribute(own, other, extra):
    """Scenes in which the root has another attribute, and some in which another noun differs too."""
    second = make(own.name, other, own.edges)
    far = make(extra, other, own.edges)
    return (
        World(own)
        .add("0_attr", second, nodes=[0], names=[other])
        .add("0_name_neg_attr_root", far, nodes=[0, 0], names=[extra, other], times=3)
    )


@pytest.mark.parametrize(
    ("name", "world", "expected"),
    [
        (
            "VERIFYATTR",
            changed_attribute(SINK, "black", "bath"),
            {"Is the sink that is below a towel white?": "true false"},
        ),
        (
            "CHOOSEATTR",
            changed_attribute(MAN, "looking up", "boy"),
            {
                "Is the man that is wearing a jersey running or looking up?": "running, looking up",
                "Is the man that is wearing a jersey looking up or running?": "running, looking up",
            },
        ),
        (
            "QUERYATTR",
            changed_attribute(SINK, "black", "bath"),
            {"What is the color of the sink that is below a towel?": "white black"},
        ),
        (
            "VERIFYQUANTATTR",
            changed_attribute(g("dog", rel("on", "bed"), attribute="white"), "black", "cat"),
            {"Do all dogs that are on a bed have the same color?": "true false"},
        ),
        (
            "CHOOSEOBJECT",
            World(CARRYING)
            .add(
                "0_name_neg_object_2",
                g("girl", rel("carrying", "purse"), rel("wearing", "dress")),
                nodes=[0, 2],
                names=["girl", "purse"],
            )
            .add("2_name", g("woman", rel("carrying", "purse"), rel("wearing", "dress")), nodes=[2], names=["purse"]),
            {
                "The woman that is wearing a dress is carrying a bottle or a purse?": "bottle purse",
                "The woman that is wearing a dress is carrying a purse or a bottle?": "bottle purse",
            },
        ),
        (
            "QUERYOBJECT",
            World(g("woman", rel("holding", "cup"), rel("wearing", "glasses")))
            .add(
                "0_name", g("man", rel("holding", "cup"), rel("wearing", "glasses")), nodes=[0], names=["man"], times=2
            )
            .add("2_name", g("woman", rel("holding", "pen"), rel("wearing", "glasses")), nodes=[2], names=["pen"]),
            {"What is the woman that is wearing glasses holding?": "cup pen"},
        ),
        (
            "QUERYOBJECT",
            World(g("man", rel("pouring", "tea", ("into", "glass")))).add(
                "0_name", g("cook", rel("pouring", "tea", ("into", "glass"))), nodes=[0], names=["cook"]
            ),
            {
                "What is the man pouring into a glass?": "tea",
                "What is the man that is pouring tea pouring it into?": "glass",
            },
        ),
        (
            "QUERYOBJECT",
            World(g("tree", rel("behind", g("boy", rel("holding", "cup"))), attribute="large"))
            .add(
                "4_name",
                g("tree", rel("behind", g("boy", rel("holding", "pen"))), attribute="large"),
                nodes=[4],
                names=["pen"],
            )
            .add("2_name", g("tree", rel("behind", g("girl", rel("holding", "cup")))), nodes=[2], names=["girl"]),
            {"What is the boy with a large tree behind him holding?": "cup pen"},
        ),
        (
            "CHOOSEOBJECT",
            World(g("woman", rel("lighting", "cigar", ("using", "candle"), ("in", "hand"))))
            .add(
                "6_name",
                g("woman", rel("lighting", "cigar", ("using", "lighter"), ("in", "hand"))),
                nodes=[6],
                names=["lighter"],
            )
            .add(
                "0_name_neg_object_6",
                g("man", rel("lighting", "cigar", ("using", "lighter"), ("in", "hand"))),
                nodes=[0, 6],
                names=["man", "lighter"],
            ),
            {
                f"The woman that is lighting a cigar in a hand is lighting it using {choice}?": "candle lighter"
                for choice in ("a candle or a lighter", "a lighter or a candle")
            },
        ),
        (
            "CHOOSEOBJECT",
            World(g("tree", rel("behind", g("boy", rel("wearing", "jeans")))))
            .add("4_name", g("tree", rel("behind", g("boy", rel("wearing", "skirt")))), nodes=[4], names=["skirt"])
            .add(
                "0_name_neg_object_4",
                g("dog", rel("behind", g("boy", rel("wearing", "skirt")))),
                nodes=[0, 4],
                names=["dog", "skirt"],
            ),
            {
                f"The boy with a tree behind him is wearing {choice}?": "jeans skirt"
                for choice in ("jeans or a skirt", "a skirt or jeans")
            },
        ),
        (
            "CHOOSEREL",
            World(g("tree", rel("behind", g("boy", rel("wearing", "hat")))))
            .add("3_relation", g("tree", rel("behind", g("boy", rel("holding", "hat")))), nodes=[3], names=["holding"])
            .add(
                "2_name_neg_relation_3",
                g("tree", rel("behind", g("girl", rel("holding", "hat")))),
                nodes=[2, 3],
                names=["girl", "holding"],
            ),
            {
                f"Is the boy with a tree behind him {choice}?": "holding wearing"
                for choice in ("wearing a hat or holding it", "holding a hat or wearing it")
            },
        ),
        (
            "QUERYOBJECT",
            World(g("woman", rel("has", "umbrella"))).add(
                "0_name", g("man", rel("has", "umbrella")), nodes=[0], names=["man"]
            ),
            {"What does the woman have?": "umbrella"},
        ),
        (
            "CHOOSEREL",
            World(HOLDING)
            .add(
                "0_attr_neg_relation_1",
                g("man", rel("wearing", "hat"), attribute="standing"),
                nodes=[0, 1],
                names=["standing", "wearing"],
            )
            .add("1_relation", g("man", rel("wearing", "hat"), attribute="sitting"), nodes=[1], names=["wearing"]),
            {
                "Is the sitting man holding a hat or wearing it?": "holding wearing",
                "Is the sitting man wearing a hat or holding it?": "holding wearing",
            },
        ),
        (
            "CHOOSEREL",
            World(g("man", rel("cutting", "bread", ("with", "knife"))))
            .add(
                "0_name_neg_relation_1",
                g("cook", rel("buttering", "bread", ("with", "knife"))),
                nodes=[0, 1],
                names=["cook", "buttering"],
            )
            .add("1_relation", g("man", rel("buttering", "bread", ("with", "knife"))), nodes=[1], names=["buttering"]),
            {
                "Is the man cutting or buttering bread with a knife?": "cutting buttering",
                "Is the man buttering or cutting bread with a knife?": "cutting buttering",
            },
        ),
        (
            "VERIFYLOGIC",
            World(g("person", rel("packing", "tea")))
            .add("2_name", g("person", rel("packing", "salt")), nodes=[2], names=["salt"])
            .add("0_name", g("water", rel("packing", "tea")), nodes=[0], names=["water"], times=3),
            {
                f"Is there {both} a person that is packing {one} {joint} a person that is packing {two}?": "true false"
                for both, joint in [("both", "and"), ("either", "or")]
                for one, two in [("tea", "salt"), ("salt", "tea")]
            },
        ),
        (
            "VERIFYSAMEATTR",
            World(g("pillow", rel("on", "bed"), attribute="white"))
            .add("2_name", g("pillow", rel("on", "couch"), attribute="white"), nodes=[2], names=["couch"])
            .add(
                "2_name_neg_attr_root",
                g("pillow", rel("on", "couch"), attribute="black"),
                nodes=[2, 0],
                names=["couch", "black"],
            ),
            {
                "Do the pillow that is on a bed and the pillow that is on a couch have the same color?": "true false",
                "Do the pillow that is on a couch and the pillow that is on a bed have the same color?": "true false",
            },
        ),
        (
            "VERIFYSAMEATTR",
            World(g("shoes", rel("on", "bed"), attribute="white")).add(
                "0_name_neg_attr_root",
                g("jeans", rel("on", "bed"), attribute="black"),
                nodes=[0, 0],
                names=["jeans", "black"],
            ),
            {
                "Do the shoes that are on a bed and the jeans that are on a bed have the same color?": "false",
                "Do the jeans that are on a bed and the shoes that are on a bed have the same color?": "false",
            },
        ),
    ],
)
def test_the_examples_of_table_1(templates, name, world, expected):
    made = every(world, templates[name])
    answers = {text: set(drafts) for text, drafts in made.items()}
    assert answers == {
        text: set(wanted.split(", ") if "," in wanted else wanted.split(" ")) for text, wanted in expected.items()
    }


def men_in_water(instances=2):
    man = g("man", rel("in", "water"))
    world = (
        World(man, instances)
        .add("no_mult", man, times=2)
        .add("0_name", g("dog", rel("in", "water")), nodes=[0], names=["dog"], times=2)
    )
    return world.add("mult", man, man).add("mult", man, man, man)


def test_groups_by_image(templates):
    asked = every(men_in_water(), templates["COUNTGROUPBY"])
    assert "How many images contain exactly 2 men that are in water?" in asked
    assert "How many images contain at least 1 man that is in water?" in asked
    assert {f"How many images contain at most {n} men that are in water?" for n in (2, 3, 4, 5)} & set(asked)
    sizes = {int(word) for text in asked if "at least" in text for word in text.split() if word.isdecimal()}
    assert sizes <= {1, 2}
    stated = every(men_in_water(), templates["VERIFYCOUNTGROUPBY"])
    assert "There is at least 1 image that contains exactly 2 men that are in water" in stated
    assert "There are 2 images that contain exactly 2 men that are in water" in stated
    assert all(set(answers) == {"true", "false"} for answers in stated.values())


def test_the_program_of_table_10_is_that_of_its_question(templates):
    book = g("book", rel("on", g("table", attribute="wood")))
    world = World(book, 2).add(
        "0_name", g("cup", rel("on", g("table", attribute="wood"))), nodes=[0], names=["cup"], times=4
    )
    made = every(world, templates["COUNTGROUPBY"])
    (draft, *_) = made[QUESTION].values()
    assert list(listing(draft.wording.program)) == ROWS


def test_images_with_one_instance_are_negatives_of_groups_and_no_second_reference(templates):
    man = g("man", rel("in", "water"))
    world = World(man, 2).add("no_mult", man, times=3)
    for answers in every(world, templates["COUNTGROUPBY"]).values():
        assert set(answers) <= {"0", "1", "2", "3", "4"}
    for name in ("COMPARECOUNT", "VERIFYLOGIC"):
        made, dropped = world.ask(templates[name])
        assert not made and set(dropped) == {"no second reference"}


def test_distractors_of_distance_2_come_first(templates):
    """Of many distractors without the sink, those that differ in the attribute too are shown."""
    world = changed_attribute(SINK, "black", "bath").add("2_name", g("sink"), nodes=[2], names=["cup"])
    for number in range(8):
        world.add(
            "0_name",
            g(f"thing {number}", rel("below", "towel"), attribute="white"),
            nodes=[0],
            names=[f"thing {number}"],
        )
    drafts = [
        draft for draft in world.ask(templates["VERIFYATTR"])[0]["Is the sink that is below a towel white?"].values()
    ]
    for draft in drafts:
        assert any("neg_attr_root" in scene_id for scene_id in draft.scenes)


def test_colors_of_what_has_no_color_of_its_own_are_not_compared(templates):
    """The second reference is held to the exclusions as well; the first is by the generator."""
    world = World(g("pillow", rel("on", "bed"), attribute="white")).add(
        "0_name", g("flag", rel("on", "bed"), attribute="white"), nodes=[0], names=["flag"]
    )
    assert templates["VERIFYSAMEATTR"].excludes("flags", "color") and not templates["VERIFYSAMEATTR"].excludes(
        "flag", "size"
    )
    assert world.ask(templates["VERIFYSAMEATTR"]) == ({}, ["no second reference"])
