"""Properties of questions, from which compositional splits are made (COVR, section 4 and Table 5).

A property is a predicate over a question's program, template, answer and subgraph. It has a name such as
``HAS-QUANT-ALL`` or ``TPL-VERIFYATTR``; :data:`PROPERTIES` lists every kind with its meaning. What a name says of
operators is about the rows of the question's own program, not about the conditions inside quantifiers. What it says of
the subgraph is, where that is not known (of questions that were read from released files), about the references in the
program, conditions included.

A property may look at the question's scenes (:attr:`Question.scenes`) where splits are made. Scores read no scenes and
ask all names that are bare or have listed values, so such a property is not bare, and a phrase says its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import pyarrow as pa

from compvqa.covr import structures
from compvqa.covr.descriptions import descriptions
from compvqa.covr.language import COMPARISONS
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.errors import InputError
from compvqa.programs import properties
from compvqa.programs.properties import AttributeGroups, Predicate, Property, SceneGraphs
from compvqa.programs.rows import Program, from_json, walk
from compvqa.scenes.graph import SceneGraph
from compvqa.splits import expressions


@dataclass(frozen=True)
class Question:
    """What properties look at; program and subgraph are read from their JSON when first asked for.

    ``tree_json`` is None where the subgraph is not known. ``given``: the properties that a released file says the
    question has, by the file's names; None where no file does.
    """

    template: str
    answer: str
    program_json: str
    tree_json: str | None
    lexicon: AttributeGroups | None = None
    given: Sequence[str] | None = None
    scene_ids: Sequence[str] = ()
    graphs: SceneGraphs | None = None

    @cached_property
    def scenes(self) -> list[SceneGraph]:
        """The graphs of the question's scenes; :class:`InputError` in a stage that reads none."""
        if self.graphs is None:
            raise InputError("a property looks at the scenes of questions, and this stage reads none: ask another.")
        return list(self.graphs.graphs(self.scene_ids))

    @cached_property
    def program(self) -> Program:
        return from_json(self.program_json)

    @cached_property
    def subgraph(self) -> Subgraph:
        return parse(self.tree_json or "")

    def descriptions(self) -> set[frozenset[str]]:
        """The nouns and attributes that the program says of one object, for each that it describes."""
        return descriptions(self.program, self.answer)

    def names(self) -> set[str]:
        """The nouns, attributes and relations in the program, its conditions included, and a queried name."""
        names = {a for row in walk(self.program) if row.operation in _NAMING for a in row.arguments}
        if self.program[-1].operation.startswith("Query"):
            names.add(self.answer)
        return names


COLUMNS = ("template", "answer", "program", "tree", "properties")  # of the data set, from which questions are made


def questions(
    batch: pa.RecordBatch, lexicon: AttributeGroups | None = None, graphs: SceneGraphs | None = None
) -> Iterator[Question]:
    """The questions of a batch of the data set's rows that has :data:`COLUMNS`, and scene_ids, if properties or facets
    are to know them; ``graphs`` tells of the scenes."""
    shown = batch["scene_ids"].to_pylist() if "scene_ids" in batch.schema.names else [()] * batch.num_rows
    rows = zip(*(batch[column].to_pylist() for column in COLUMNS), shown, strict=True)
    for template, answer, program, tree, given, scene_ids in rows:
        yield Question(template, answer, program, tree, lexicon, given, scene_ids, graphs)


_QUANTIFIERS = {"All": "ALL", "AllSame": "ALL", "Some": "SOME", "None": "NONE"}
_COMPARISONS = {"MORE": {"gt"}, "LESS": {"lt"}, "SAME": {"eq"}}
_SCOPE = {"Filter", "WithRelation", "WithRelationObject"}
_NAMING = {"Find", "Filter", "WithRelation", "WithRelationObject", "RelationBetween", "VerifyAttribute"} | {
    f"Choose{kind}" for kind in ("Name", "Attribute", "Relation")
}
_ANSWERS = {"ATTR": {"QueryAttribute", "ChooseAttribute"}, "NOUN": {"QueryName", "ChooseName"}}


def _has_quantifier(question: Question, value: str | None) -> bool:
    rows = [row for row in question.program if row.operation in _QUANTIFIERS]
    if value == "COMPSCOPE":
        return any(_SCOPE & _above(question.program, row.dependencies[0]) for row in rows)
    return any(value in (None, _QUANTIFIERS[row.operation]) for row in rows)


def _above(program: Program, index: int) -> set[str]:
    """The operators of row ``index`` and of all rows it is computed from."""
    return {program[index].operation}.union(*(_above(program, i) for i in program[index].dependencies))


def _has_comparative(question: Question, value: str | None) -> bool:
    allowed = COMPARISONS if value is None else _COMPARISONS[value]
    return any(
        row.operation in allowed
        and len(row.dependencies) == 2
        and all(question.program[i].operation == "Count" for i in row.dependencies)
        for row in question.program
    )


def _has_operator(*operators: str) -> Callable[[Question, str | None], bool]:
    return lambda question, value: any(row.operation in operators for row in question.program)


def _has_logic(question: Question, value: str | None) -> bool:
    allowed = ("AND", "OR") if value is None else (value,)
    return any(row.operation.upper() in allowed for row in question.program)


def _has_number(question: Question, value: str | None) -> bool:
    numbers = [a for row in question.program for a in row.arguments if type(a) is int]
    return bool(numbers) if value is None else int(value) in numbers


def _has_attribute(question: Question, value: str | None) -> bool:
    attributes = [row.arguments[0] for row in question.program if row.operation == "Filter"]
    if value is None:
        return bool(attributes)
    groups = [question.lexicon.group(a) for a in attributes] if question.lexicon else []
    return any(_same(value, name) for name in [*attributes, *groups])


def _same(value: str | None, name: str | None) -> bool:
    return name is not None and value is not None and value.casefold() == name.casefold()


def _has_same_attribute(question: Question, value: str | None) -> bool:
    program = question.program
    groups = [row.arguments[0] for row in program if row.operation == "AllSame"]
    for row in program:
        asked = [program[i] for i in row.dependencies]
        if row.operation == "eq" and asked and all(r.operation == "QueryAttribute" for r in asked):
            groups += [r.arguments[0] for r in asked]
    return bool(groups) if value is None else any(_same(value, group) for group in groups)


def _structure(*parts: str) -> Callable[[Question, str | None], bool]:
    return lambda question, value: structures.has(
        question.program, question.subgraph if question.tree_json else None, parts
    )


def _answer(question: Question, value: str | None) -> bool:
    if value == "NUM":
        return question.answer.isdecimal()
    if value in _ANSWERS:
        return question.program[-1].operation in _ANSWERS[value]
    return _same(value, question.answer)


PROPERTIES = (
    Property(
        "HAS-QUANT",
        "the program has a quantifier (all, some, none; 'the same GROUP' is a form of all), or this one; "
        "COMPSCOPE: a quantifier's scope has an attribute or a relation",
        _has_quantifier,
        ("ALL", "SOME", "NONE", "COMPSCOPE"),
    ),
    Property(
        "HAS-COMPAR",
        "the program compares two counts, or in this way",
        _has_comparative,
        ("MORE", "LESS", "SAME"),
    ),
    Property("HAS-GROUPBY", "the program groups objects by image", _has_operator("GroupByImages")),
    Property("HAS-LOGIC", "the program joins two truths by and / or, or by this one", _has_logic, ("AND", "OR")),
    Property("HAS-NUM", "the program has a number in it, or this number", _has_number, "a number"),
    Property("HAS-COUNT", "the program counts", _has_operator("Count")),
    Property(
        "HAS-ATTR",
        "the program filters by an attribute, or by this one, or by one of this group of the lexicon",
        _has_attribute,
        "attribute or group",
    ),
    Property(
        "HAS-SAMEATTR",
        "the program asks whether objects have the same attribute of a group, or of this group",
        _has_same_attribute,
        "group",
    ),
    Property(
        "RM/V/C",
        "the subgraph has a relation modifier, an object with two relations (V) or a chain of relations (C)",
        _structure("modifier", "two relations", "chain"),
    ),
    Property("RM", "the subgraph has a relation modifier", _structure("modifier")),
    Property("V", "the subgraph has an object with two relations", _structure("two relations")),
    Property("C", "the subgraph has a chain of relations", _structure("chain")),
    Property(
        "TPL",
        "the question comes from this template",
        lambda q, value: _same(value, q.template),
        "template",
        bare=False,
    ),
    Property(
        "ANS",
        "the answer is a number (NUM), an attribute (ATTR), an object's name (NOUN), or exactly this",
        _answer,
        "NUM, ATTR, NOUN or answer",
        bare=False,
    ),
    Property(
        "LEXICAL",
        "this noun, attribute or relation is in the question's program or is the name it asks for",
        lambda q, value: value in q.names(),
        "name",
        bare=False,
    ),
)


# The names that do not depend on the questions
LISTED = (
    *(kind.name for kind in PROPERTIES if kind.bare),
    *(f"{kind.name}-{value}" for kind in PROPERTIES if isinstance(kind.values, tuple) for value in kind.values),
    *("ANS-NUM", "ANS-ATTR", "ANS-NOUN"),
)
_GROUPS = ("AllSame", "QueryAttribute")  # their argument is a group of attributes
# Further columns that are published: the dataset's column, and what it holds
PUBLISHED = {"subgraph": ("tree", "the subgraph that it was made from, as JSON; null where it was read, not made")}
ABOUT = (
    "Questions over sets of two to five images, with programs, answers and splits that hold compositions out of train: "
    "a test-bed for compositional generalization in visual question answering, after COVR."
)
DOUBT = "Answers come from scene graphs, which are incomplete: some questions are wrong about their images."
CITATION = """\
@inproceedings{bogin-etal-2021-covr,
  title = "{COVR}: A Test-Bed for Visually Grounded Compositional Generalization with Real Images",
  author = "Bogin, Ben and Gupta, Shivanshu and Gardner, Matt and Berant, Jonathan",
  booktitle = "Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing",
  year = "2021",
  url = "https://aclanthology.org/2021.emnlp-main.774",
}"""


def named(name: str) -> Predicate:
    """The predicate of one property's name; raises :class:`InputError` for a name that there is not."""
    return properties.named(name, PROPERTIES)


def predicate(expression: str) -> Predicate:
    """The predicate of an expression of properties (:mod:`compvqa.splits.expressions`)."""
    return expressions.predicate(expression, named)


def held(question: Question) -> list[str]:
    """The names of the question's properties, sorted: kinds, and with them values.

    Those of :data:`LISTED`, the numbers in the program, and the groups of attributes that are compared; names of
    templates, attributes and other words are left out.
    """
    return sorted(name for name in _possible(question) if _known(name)(question))


@cache
def _known(name: str) -> Predicate:
    return named(name)


def _possible(question: Question) -> set[str]:
    numbers = {f"HAS-NUM-{a}" for row in question.program for a in row.arguments if type(a) is int}
    groups = {f"HAS-SAMEATTR-{row.arguments[0]}" for row in question.program if row.operation in _GROUPS}
    return {*LISTED, *numbers, *groups}
