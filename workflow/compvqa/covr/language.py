"""COVR's language: the operators of its Table 11, and the types of what they take and give."""

from __future__ import annotations

from collections.abc import Iterator

from compvqa.programs.language import PROGRAM, SIZE, TRUTH, Language, Operator

# what a row may give
OBJECTS, OBJECT, IMAGES, GROUPS, RELATIONS = "objects", "object", "images", "groups", "relations"
NUMBER, NAME = "number", "name"
VALUES = (OBJECTS, OBJECT, IMAGES, GROUPS, RELATIONS, NUMBER, TRUTH, NAME)
# what an argument may be, besides a size and a sub-program
NOUN, ATTRIBUTE, GROUP, RELATION, MODIFIER = "noun", "attribute", "attribute group", "relation", "relation modifier"
COMPARISONS = frozenset({"eq", "gt", "lt", "geq", "leq"})
QUANTIFIERS = frozenset({"All", "Some", "None"})
_WRITTEN = (SIZE, NUMBER)  # the second number may be written down instead of computed

_KEEP = {"Eq": "exactly", "Gt": "more than", "Lt": "fewer than", "Geq": "at least", "Leq": "at most"}
_COMPARE = {"gt": "greater than", "lt": "less than", "geq": "at least", "leq": "at most"}


def _operators() -> Iterator[Operator]:
    objects, single, many = (OBJECTS,), (OBJECT,), (OBJECTS, IMAGES, GROUPS)
    yield Operator("Scene", (), (), OBJECTS, "every object of all scenes; in a sub-program the one under test")
    yield Operator("Find", (), (NOUN,), OBJECTS, "the objects that have this name")
    yield Operator("Filter", (objects,), (ATTRIBUTE,), OBJECTS, "those objects that have the attribute")
    for name, whose in (("WithRelation", "first"), ("WithRelationObject", "second")):
        # A modifier's name after its relation's ("cutting with") is the relation to what the modifier leads to
        meaning = f"the {whose} objects of pairs in one scene that stand in the relation, with all its modifiers"
        yield Operator(name, (objects, objects), (RELATION,), OBJECTS, meaning, rest=OBJECTS, rest_argument=MODIFIER)
    yield Operator("Unique", (objects,), (), OBJECT, "the one object; no answer if there are none or several")
    yield Operator("AssertUnique", (objects,), (), OBJECTS, "the objects as they are; no answer if they are not one")
    meaning = "the relations from the object to the others, with all these modifiers"
    yield Operator("RelationBetween", (single, objects), (), RELATIONS, meaning, rest=OBJECTS, rest_argument=MODIFIER)
    yield Operator("UniqueImages", (objects,), (), IMAGES, "the images that hold any of the objects, each once")
    yield Operator("GroupByImages", (objects,), (), GROUPS, "the objects in one group for each image that holds any")
    for name, size in _KEEP.items():
        meaning = f"the groups of {size} so many objects"
        yield Operator(f"KeepIfValuesCount{name}", ((GROUPS,),), (SIZE,), GROUPS, meaning)
    yield Operator("Count", (many,), (), NUMBER, "how many objects, images or groups there are")
    yield Operator("Exists", (many,), (), TRUTH, "whether there is at least one object, image or group")
    for name, how in (("And", "both are"), ("Or", "one or both are")):
        yield Operator(name, ((TRUTH,), (TRUTH,)), (), TRUTH, f"whether {how} true")
    for name, how in _COMPARE.items():
        meaning = f"whether the first number is {how} the second"
        yield Operator(name, ((NUMBER,), (NUMBER,)), (), TRUTH, meaning, written=_WRITTEN)
    both, meaning = (NUMBER, NAME), "whether two numbers, or two names, are the same"
    yield Operator("eq", (both, both), (), TRUTH, meaning, alike=True, written=_WRITTEN)
    for name, how in (("All", "every"), ("Some", "any"), ("None", "none")):
        yield Operator(name, (objects,), (PROGRAM,), TRUTH, f"whether the sub-program is true of {how} of the objects")
    yield Operator("AllSame", (objects,), (GROUP,), TRUTH, "whether all objects have the same attribute of the group")
    yield Operator("QueryName", (single,), (), NAME, "what the object is called")
    yield Operator("QueryAttribute", (single,), (GROUP,), NAME, "the object's attribute of the group")
    yield Operator("VerifyAttribute", (single,), (ATTRIBUTE,), TRUTH, "whether the object has the attribute")
    yield Operator("ChooseName", (single,), (NOUN, NOUN), NAME, "which of two names the object has")
    yield Operator("ChooseAttribute", (single,), (ATTRIBUTE, ATTRIBUTE), NAME, "which of two attributes the object has")
    yield Operator("ChooseRelation", ((RELATIONS,),), (RELATION, RELATION), NAME, "which of two relations is there")


LANGUAGE = Language("covr", tuple(_operators()))
OPERATORS = LANGUAGE.operators
