"""Properties of CLEVR's questions, from which compositional splits are made, by program, answer and scene.

A property has a name such as ``HAS-relate`` or ``MENTIONS-cyan+cylinder``; :data:`PROPERTIES` lists every kind with its
meaning. A description is an unbroken chain of filters, as of "the big cyan cylinder".

Some properties look at the question's scene, which splits read and scores don't (scores have facets for this), so they
are not among the :data:`LISTED`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import pyarrow as pa

from compvqa.clevr import analysis
from compvqa.clevr.effective import effective
from compvqa.clevr.executor import ILL_POSED, Value, values
from compvqa.clevr.language import OPERATORS
from compvqa.clevr.scene import Scene, of_graph
from compvqa.errors import InputError
from compvqa.programs import properties
from compvqa.programs.properties import AttributeGroups, Predicate, Property, SceneGraphs
from compvqa.programs.rows import Program, from_json

PROGRAMS = 10_000  # that are kept in memory: many questions have the same


@lru_cache(maxsize=PROGRAMS)
def _program(text: str) -> Program:
    return tuple(from_json(text))


@lru_cache(maxsize=PROGRAMS)
def _descriptions(text: str, through: tuple[str, ...] = ()) -> Sequence[frozenset[str]]:
    return tuple(analysis.descriptions(_program(text), through))


@dataclass(frozen=True)
class Question:
    """What properties and facets look at; the program is read from its JSON, and the scene found, when first asked for.

    ``scene_of`` gives the scene of an id; None in a stage that reads no scenes. ``given``: the properties that a
    released file says the question has; None where no file does.
    """

    template: str
    answer: str
    program_json: str
    given: Sequence[str] | None = None
    scene_ids: Sequence[str] = ()
    scene_of: Callable[[str], Scene] | None = None

    @property
    def program(self) -> Program:
        return _program(self.program_json)

    @cached_property
    def scene(self) -> Scene:
        """The question's one scene; :class:`InputError` in a stage that reads none."""
        if self.scene_of is None:
            raise InputError("a property looks at the scenes of questions, and this stage reads none: ask another.")
        (scene_id,) = self.scene_ids
        return self.scene_of(scene_id)

    @cached_property
    def values(self) -> list[Value]:
        """What each row gives in the scene; the list ends at the first that is ill-posed, which is None."""
        return values(self.program, self.scene)

    @cached_property
    def effective_size(self) -> int | None:
        """The number of functions in the smallest pruned program; None of an ill-posed question."""
        found = self.values[-1]
        return None if found is ILL_POSED else len(effective(self.program, self.scene, found))

    @property
    def descriptions(self) -> Sequence[frozenset[str]]:
        """The attributes of each description in the program."""
        return _descriptions(self.program_json)

    @property
    def joined_descriptions(self) -> Sequence[frozenset[str]]:
        """The same, where a filter of what ``union`` gives goes on with those on its sides: "small things that are red
        or …"."""
        return _descriptions(self.program_json, ("union",))

    def names(self) -> set[str]:
        """The attributes and relations in the program, and a queried attribute."""
        names = {name for row in self.program for name in row.arguments}
        return names | {self.answer} if analysis.kind(self.program) == "query" else names


COLUMNS = ("template", "answer", "program", "properties")  # of the data set, from which questions are made
# Further columns that are published: the dataset's column, and what it holds
PUBLISHED: dict[str, tuple[str, str]] = {}
ABOUT = (
    "Questions about pictures of solids, with functional programs, answers and splits that hold compositions out of "
    "train: a test-bed for compositional generalization in visual question answering, after CLEVR."
)
DOUBT = "Answers come from scene graphs that tell of every object of a picture."
CITATION = """\
@inproceedings{johnson-etal-2017-clevr,
  title = "{CLEVR}: A Diagnostic Dataset for Compositional Language and Elementary Visual Reasoning",
  author = "Johnson, Justin and Hariharan, Bharath and van der Maaten, Laurens and Fei-Fei, Li and Zitnick, C. Lawrence
    and Girshick, Ross",
  booktitle = "Proceedings of the IEEE Conference on Computer Vision and Pattern Recognition",
  year = "2017",
  doi = "10.1109/CVPR.2017.215",
}"""


def questions(
    batch: pa.RecordBatch, lexicon: AttributeGroups | None = None, graphs: SceneGraphs | None = None
) -> Iterator[Question]:
    """The questions of a batch of the data set's rows that has :data:`COLUMNS`, and scene_ids if ``graphs`` tells of
    the scenes. The groups of attributes are in the programs: no ``lexicon`` is asked."""

    @lru_cache(maxsize=1000)
    def scene_of(scene_id: str) -> Scene:
        assert graphs is not None
        (graph,) = graphs.graphs([scene_id])
        return of_graph(graph)

    shown = batch["scene_ids"].to_pylist() if "scene_ids" in batch.schema.names else [()] * batch.num_rows
    columns = (batch[column].to_pylist() for column in COLUMNS)
    for template, answer, program, given, scene_ids in zip(*columns, shown, strict=True):
        yield Question(template, answer, program, given, scene_ids, scene_of if graphs else None)


def _same(value: str | None, name: str | None) -> bool:
    return name is not None and value is not None and value.casefold() == name.casefold()


def _has(question: Question, value: str | None) -> bool:
    return any(row.operation == value or row.operation.startswith(f"{value}_") for row in question.program)


def _template(question: Question, value: str | None) -> bool:
    return value in (question.template, question.template.rpartition("_")[0])


def _type(question: Question, value: str | None) -> bool:
    return value in (question.program[-1].operation, analysis.kind(question.program))


def _answer(question: Question, value: str | None) -> bool:
    if value == "NUM":
        return question.answer.isdecimal()
    if value == "BOOL":
        return question.answer in ("yes", "no")
    return _same(value, question.answer)


def _mentions(question: Question, value: str) -> bool:
    return any(_attributes(value) <= description for description in question.descriptions)


def _mentions_joined(question: Question, value: str) -> bool:
    return any(_attributes(value) <= description for description in question.joined_descriptions)


def _scene(question: Question, value: str) -> bool:
    return any(_attributes(value) <= {*attributes} for attributes in question.scene.objects)


def _attributes(value: str) -> set[str]:
    return {*value.split("+")}


def _degenerate(question: Question, value: str | None) -> bool:
    found = question.values[-1]
    return found is not ILL_POSED and analysis.is_degenerate(question.program, question.scene, found)


def _absolute(question: Question, value: str | None) -> bool:
    found = question.values[-1]
    return found is not ILL_POSED and bool(analysis.is_absolute(question.program, question.scene, found))


_VERBS = ("filter", "same", "query", "equal")
_NUMBER, _TOGETHER = "a number", "attributes joined by +"
PROPERTIES = (
    Property(
        "HAS",
        "the program has this function, or one of this sort",
        _has,
        (*(name for name in OPERATORS if name != "scene"), *_VERBS),
        bare=False,
    ),
    Property(
        "TYPE",
        "the last function is this one, or makes it a question of this kind",
        _type,
        tuple(dict.fromkeys((*analysis.TYPES, *analysis.KINDS))),
        bare=False,
    ),
    Property("CHAIN", "no function takes two inputs", lambda question, _: analysis.is_chain(question.program)),
    Property(
        "SIZE",
        "the program has so many functions",
        lambda question, value: len(question.program) == int(value),
        _NUMBER,
        bare=False,
    ),
    Property(
        "LONGER",
        "the program has more functions than this",
        lambda question, value: len(question.program) > int(value),
        _NUMBER,
        bare=False,
    ),
    Property(
        "RELATES",
        "the program has so many spatial relations",
        lambda question, value: analysis.relates(question.program) == int(value),
        _NUMBER,
        bare=False,
    ),
    Property("TPL", "the question's template is this one, or one of this file", _template, "template", bare=False),
    Property("ANS", "the answer is a number (NUM), yes or no (BOOL), or exactly this", _answer, "answer", bare=False),
    Property(
        "LEXICAL",
        "this attribute or relation is in the program or is the attribute it asks for",
        lambda question, value: value in question.names(),
        "name",
        bare=False,
    ),
    Property(
        "MENTIONS/JOINED",
        "the same, where a description of what a union gives goes on with those on its sides",
        _mentions_joined,
        _TOGETHER,
        bare=False,
    ),
    Property("MENTIONS", "one description in the program has all these attributes", _mentions, _TOGETHER, bare=False),
    Property("SCENE", "an object of the scene has all these attributes", _scene, _TOGETHER, bare=False),
    Property(
        "EFFECTIVE",
        "the smallest pruned program that gives the answer in the scene has so many functions",
        lambda question, value: question.effective_size == int(value),
        _NUMBER,
        bare=False,
    ),
    Property("DEGENERATE", "some spatial relation does not matter to the answer in the scene", _degenerate),
    Property("ABSOLUTE", "the answer can be told by where in the picture things are, without relations", _absolute),
)
_LOOKING = ("SCENE", "EFFECTIVE", "DEGENERATE", "ABSOLUTE")  # at scenes

# The names that depend neither on the questions nor on their scenes
LISTED = (
    *(kind.name for kind in PROPERTIES if kind.bare and kind.name not in _LOOKING),
    *(f"{kind.name}-{value}" for kind in PROPERTIES if isinstance(kind.values, tuple) for value in kind.values),
    *("ANS-NUM", "ANS-BOOL"),
)


def named(name: str) -> Predicate:
    """The predicate of one property's name; raises :class:`InputError` for a name that there is not."""
    return properties.named(name, PROPERTIES)


def held(question: Question) -> list[str]:
    """The names of the question's properties, sorted: those of :data:`LISTED`, its size and its relations.

    Names of templates, attributes and other words are left out, and what only the scene tells.
    """
    counted = (f"SIZE-{len(question.program)}", f"RELATES-{analysis.relates(question.program)}")
    return sorted([*(name for name in LISTED if _known(name)(question)), *counted])


@cache
def _known(name: str) -> Predicate:
    return named(name)
